#include "api/fields/refuse.h"

#include <algorithm>
#include <array>
#include <utility>

#include "qkv/api/mask.h"
#include "qkv/bias.h"
#include "qkv/files.h"

namespace qkv::api_detail {

void refuse(std::string_view field, std::string_view expected, std::string_view got) {
  throw InvalidArgument(kRequest, field, expected, got);
}

std::string field_of(const InvalidArgument& error) {
  const std::optional<LanguageWord> word = language_word(error.function());
  return word ? std::string(word->field) : error.argument();
}

Tensor read_field(std::string_view field, const std::string& path) {
  return of_field(field, [&] { return read_tensor(path); });
}

}  // namespace qkv::api_detail

namespace qkv {

std::optional<LanguageWord> language_word(std::string_view function) {
  constexpr std::array<std::pair<std::string_view, LanguageWord>, 7> kOtherwiseNamed = {
      {{"key_lengths", {"keys", "mask"}},
       {"block_sparse", {"blocks", "mask"}},
       {"global_tokens", {"global", "mask"}},
       {"global_tokens_at", {"global", "mask"}},
       {"causal_offsets", {"causal", "mask"}},
       {"t5_bias", {"t5", "bias"}},
       {"dense_bias", {"dense", "bias"}}}};
  for (const auto& [name, word] : kOtherwiseNamed) {
    if (name == function) return word;
  }
  for (const auto& [words, field] : {std::pair(mask_words(), "mask"), {bias_words(), "bias"}}) {
    if (std::ranges::find(words, function, &Word::word) != words.end()) return LanguageWord{function, field};
  }
  return std::nullopt;
}

}  // namespace qkv
