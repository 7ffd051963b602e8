// What configs and files of models with experts say alike.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "model/families/config_file.h"
#include "model/families/family.h"
#include "qkv/model/decoder.h"

namespace qkv::families {

/// Names of experts' weights where those of all are in one: `experts.gate_up_proj` and `experts.down_proj`.
[[nodiscard]] std::span<const WeightName> experts_in_one();
/// Those of Llama, and more.
[[nodiscard]] std::vector<WeightName> llama_names_with(std::initializer_list<std::span<const WeightName>> more);

/// The word for the number of experts, and the name that `transformers` takes for the same.
struct CountWords {
  std::string_view own;
  std::string_view other = {};
};

/// How many experts there are and how many a token has; `usual` where the config does not say. Throws Error naming the
/// word.
void read_experts(const ConfigFile& config, DecoderOptions& options, const CountWords& words,
                  const ExpertOptions& usual);

}  // namespace qkv::families
