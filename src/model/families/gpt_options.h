// What the families with GPT-2's words have in common.
#pragma once

#include "model/families/config_file.h"
#include "qkv/model/decoder.h"

namespace qkv::families {

/// `n_positions`, `n_layer`, `n_embd` and `n_head`, also where a config has the words that other families have for
/// them.
[[nodiscard]] ConfigFile in_words_of_gpt2(const ConfigFile& file);

/// Sizes and epsilon of such a config.
[[nodiscard]] DecoderOptions gpt_options(const ConfigFile& config, Positions positions);

}  // namespace qkv::families
