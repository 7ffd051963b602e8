// Metadata of a GGUF file by its keys.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/gguf.h"

namespace qkv::files {

/// Every function throws Error "<source>: <key>: expected …, got …" for a value of another kind; without a value to
/// fall back on, for a key that is not there, too. It keeps which keys were asked about, for unasked(): one thread
/// asks.
class GgufKeys {
 public:
  /// The file is borrowed.
  explicit GgufKeys(const Gguf& file) : file_(&file) {}

  [[nodiscard]] const Gguf& file() const noexcept { return *file_; }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  /// From 0 to 2^31.
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  /// As decimals say it: 1e-5, which an f32 is not.
  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key, double otherwise) const;
  [[nodiscard]] bool flag(std::string_view key, bool otherwise) const;
  [[nodiscard]] const std::string& text(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise) const;
  [[nodiscard]] const std::vector<std::string>& texts(std::string_view key) const;
  /// Whole numbers; none where the key is not there.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key) const;
  /// Likewise any numbers.
  [[nodiscard]] std::vector<double> numbers(std::string_view key) const;

  /// Keys of the file that begin so and that nobody asked about.
  [[nodiscard]] std::vector<std::string> unasked(std::string_view begin) const;

  [[noreturn]] void refuse(std::string_view key, const std::string& expected) const;

 private:
  [[nodiscard]] const GgufValue* find(std::string_view key) const;
  template <class Type>
  [[nodiscard]] const Type& get(std::string_view key, const std::string& expected) const;

  const Gguf* file_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// The shortest decimals that are this f32, as f64: 0.1, which an f32 is not.
[[nodiscard]] double decimals_of_f32(double value);

/// A value on one line for people: a text in quotes, a list by its first values and how many there are, all cut where
/// they are long.
[[nodiscard]] std::string gguf_value_text(const GgufValue& value);

}  // namespace qkv::files
