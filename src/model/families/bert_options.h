// What configs of BERT and of its relatives say alike.
#pragma once

#include "model/families/config_file.h"
#include "qkv/model/encoder.h"

namespace qkv::families {

/// Sizes, ties and the head by the words of most encoders, which norm the sum of their embeddings.
[[nodiscard]] EncoderOptions encoder_sizes(const ConfigFile& config);

/// The options of a BERT by its words: sizes, activation, epsilon, causal or not, tied or not, and the
/// head. Without token types.
[[nodiscard]] EncoderOptions bert_options(const ConfigFile& config);

/// Positions from the padding's number on: that one is the padding's own, wherever it stands. Throws Error as
/// ConfigFile::refuse().
void count_from_padding(const ConfigFile& config, std::int64_t padding, EncoderOptions& options);

}  // namespace qkv::families
