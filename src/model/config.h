// A model's options as words, and back.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/model/token_input.h"

namespace qkv {

inline constexpr std::array kOrders = {NormOrder::pre, NormOrder::post};
inline constexpr std::array kEmbeddingScales = {EmbeddingScale::small, EmbeddingScale::root_width,
                                                EmbeddingScale::normed};
inline constexpr std::array kActivations = {Activation::gelu, Activation::gelu_tanh, Activation::relu};

using ModelConfig = std::map<std::string, std::string>;

/// Reads options; each call throws InvalidArgument(function, word, …) where the word is missing or has no meaning.
class ConfigReader {
 public:
  ConfigReader(const char* function, const ModelConfig& config) : function_(function), config_(config) {}

  [[nodiscard]] const std::string& text(const std::string& word) const;
  [[nodiscard]] std::int64_t number(const std::string& word) const;
  [[nodiscard]] std::optional<std::int64_t> number_if_there(const std::string& word) const;
  /// "yes" or "no".
  [[nodiscard]] bool truth(const std::string& word) const;
  [[nodiscard]] bool has(const std::string& word) const { return config_.contains(word); }
  void require(const std::string& word, const std::string& value) const;
  /// The one of `values` whose name_of() stands under `word`.
  template <class Enum, std::size_t N>
  [[nodiscard]] Enum one_of(const std::string& word, const std::array<Enum, N>& values) const {
    std::string names;
    for (const Enum value : values) {
      if (text(word) == name_of(value)) return value;
      names += (names.empty() ? "" : ", ") + std::string(name_of(value));
    }
    throw InvalidArgument(function_, word, "one of " + names, "\"" + text(word) + "\"");
  }

 private:
  const char* function_;
  const ModelConfig& config_;
};

[[nodiscard]] inline std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

}  // namespace qkv
