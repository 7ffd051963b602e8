// A config.json as others write it, read word by word.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::families {

/// Every function throws Error "<path>: <word>: expected …, got …".
class ConfigFile {
 public:
  /// Throws Error naming the file if it cannot be read or is no JSON object.
  explicit ConfigFile(const std::string& path);
  /// An object inside of another; `path` names both.
  ConfigFile(nlohmann::json json, std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// False for null too.
  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] std::int64_t integer(std::string_view word) const;
  [[nodiscard]] std::int64_t integer(std::string_view word, std::int64_t otherwise) const;
  /// How many blocks there are, 1 to 16384: a wrong number must not cost minutes and gigabytes.
  [[nodiscard]] std::int64_t layers(std::string_view word) const;
  [[nodiscard]] std::int64_t layers(std::string_view word, std::int64_t otherwise) const;
  /// One, or a list of them; none where the word is not there.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view word) const;
  [[nodiscard]] double number(std::string_view word) const;
  [[nodiscard]] double number(std::string_view word, double otherwise) const;
  /// Nothing where the file says null; `otherwise` where it has no such word.
  [[nodiscard]] std::optional<double> number_or_null(std::string_view word, std::optional<double> otherwise) const;
  [[nodiscard]] bool flag(std::string_view word, bool otherwise) const;
  [[nodiscard]] std::string text(std::string_view word) const;
  [[nodiscard]] std::string text(std::string_view word, std::string_view otherwise) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view word) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view word) const;
  /// All words that it has.
  [[nodiscard]] std::vector<std::string> words() const;
  [[nodiscard]] ConfigFile object(std::string_view word) const;
  [[nodiscard]] bool has_object(std::string_view word) const;
  /// With the words of the other in place of its own.
  [[nodiscard]] ConfigFile updated(const ConfigFile& other) const;

  /// A word that must have this value, or not be there: another would change the computation.
  void require(std::string_view word, const nlohmann::json& only) const;
  [[noreturn]] void refuse(std::string_view word, std::string_view expected) const;

 private:
  [[nodiscard]] const nlohmann::json& value(std::string_view word, std::string_view expected) const;

  nlohmann::json json_;
  std::string path_;
};

}  // namespace qkv::families
