#include "api/fields/refuse.h"

#include <algorithm>
#include <array>

#include "qkv/bias.h"
#include "qkv/files.h"

namespace qkv::api_detail {

void refuse(std::string_view field, std::string_view expected, std::string_view got) {
  throw InvalidArgument(kRequest, field, expected, got);
}

std::string field_of(const InvalidArgument& error) {
  constexpr std::array<std::string_view, 5> kOfMasks = {"key_lengths", "block_sparse", "global_tokens",
                                                        "global_tokens_at", "causal_offsets"};
  constexpr std::array<std::string_view, 2> kOfBiases = {"t5_bias", "dense_bias"};
  const auto has = [&](const auto& names) { return std::ranges::find(names, error.function()) != names.end(); };
  const auto is_word = [&](const auto& words) {
    return std::ranges::find(words, error.function(), &Word::word) != words.end();
  };
  if (has(kOfBiases)) return "bias";
  if (has(kOfMasks) || is_word(mask_words())) return "mask";
  return is_word(bias_words()) ? "bias" : error.argument();
}

Tensor read_field(std::string_view field, const std::string& path) {
  return of_field(field, [&] { return read_tensor(path); });
}

}  // namespace qkv::api_detail
