// A value of a JSON file together with its place, so that errors name it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text {

using Json = nlohmann::json;

/// A value without its place, for lists of a hundred thousand; borrowed. Files that read it need no nlohmann-json.
class JsonValue {
 public:
  explicit JsonValue(const Json& value) : value_(&value) {}

  /// The value, if it is of this kind.
  [[nodiscard]] std::optional<std::string_view> text() const;
  [[nodiscard]] std::optional<std::uint64_t> natural() const;
  [[nodiscard]] std::optional<double> number() const;
  [[nodiscard]] bool is_list() const;
  /// Of a list or an object.
  [[nodiscard]] std::size_t size() const;
  /// Of a list.
  [[nodiscard]] JsonValue operator[](std::size_t n) const;
  /// On one line, cut where it is long.
  [[nodiscard]] std::string shown() const;

 private:
  const Json* value_;
};

/// Every function throws FileError "<source>: <place>: expected …, got …" for a value of another kind.
class JsonField {
 public:
  /// `source` is the file; the value is borrowed.
  JsonField(const Json& value, std::string source) : value_(&value), place_(std::move(source)) {}

  [[nodiscard]] const Json& value() const noexcept { return *value_; }
  [[nodiscard]] const std::string& place() const noexcept { return place_; }
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_list() const { return JsonValue(*value_).is_list(); }
  [[nodiscard]] bool is_object() const;
  /// Of a list or an object.
  [[nodiscard]] std::size_t size() const { return JsonValue(*value_).size(); }

  /// A member of an object, which must be there.
  [[nodiscard]] JsonField at(const std::string& key) const;
  /// A member, unless it is not there or null.
  [[nodiscard]] std::optional<JsonField> find(const std::string& key) const;
  [[nodiscard]] std::vector<JsonField> elements() const;
  /// The same without their places, for many of them.
  [[nodiscard]] JsonValue element(std::size_t n) const { return JsonValue(*value_)[n]; }
  /// Those of an object.
  void each_member(const std::function<void(const std::string& key, const JsonValue& value)>& see) const;

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
[[nodiscard]] std::string shown_text(std::string_view text);

}  // namespace qkv::text
