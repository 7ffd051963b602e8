// A value of a JSON file together with its place, so that errors name it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text {

using Json = nlohmann::json;

/// Every function throws FileError "<source>: <place>: expected …, got …" for a value of another kind.
class JsonField {
 public:
  /// `source` is the file; the value is borrowed.
  JsonField(const Json& value, std::string source) : value_(&value), place_(std::move(source)) {}

  [[nodiscard]] const Json& value() const noexcept { return *value_; }
  [[nodiscard]] const std::string& place() const noexcept { return place_; }
  [[nodiscard]] bool is_null() const noexcept { return value_->is_null(); }

  /// A member of an object, which must be there.
  [[nodiscard]] JsonField at(const std::string& key) const;
  /// A member, unless it is not there or null.
  [[nodiscard]] std::optional<JsonField> find(const std::string& key) const;
  [[nodiscard]] std::vector<JsonField> elements() const;

  [[nodiscard]] std::string string() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] double number() const;
  /// A string of one character.
  [[nodiscard]] char32_t character() const;

  /// Throws unless this is an object with these keys at most.
  void require_only(std::initializer_list<std::string_view> keys) const;
  [[noreturn]] void fail(const std::string& expected) const;
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const;

 private:
  [[nodiscard]] JsonField below(const Json& value, const std::string& step) const;

  const Json* value_;
  std::string place_;
};

/// Of a JSON text, as files::parse_json().
[[nodiscard]] Json parse_json(std::string_view text, const std::string& source);

/// The value on one line, cut where it is long.
[[nodiscard]] std::string shown(const Json& value);

}  // namespace qkv::text
