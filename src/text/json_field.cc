#include "text/json_field.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/listed.h"
#include "core/nearest_word.h"
#include "files/file_kind.h"
#include "files/json_text.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "text/characters.h"

namespace qkv::text {

std::optional<std::string_view> JsonValue::text() const {
  if (!value_->is_string()) return std::nullopt;
  return value_->get_ref<const std::string&>();
}

std::optional<std::uint64_t> JsonValue::natural() const {
  return value_->is_number_unsigned() ? std::optional(value_->get<std::uint64_t>()) : std::nullopt;
}

std::optional<double> JsonValue::number() const {
  return value_->is_number() ? std::optional(value_->get<double>()) : std::nullopt;
}

bool JsonValue::is_list() const { return value_->is_array(); }
std::size_t JsonValue::size() const { return value_->size(); }
JsonValue JsonValue::operator[](std::size_t n) const { return JsonValue((*value_)[n]); }
std::string JsonValue::shown() const { return text::shown(*value_); }

bool JsonField::is_null() const { return value_->is_null(); }
bool JsonField::is_object() const { return value_->is_object(); }

void JsonField::each_member(const std::function<void(const std::string& key, const JsonValue& value)>& see) const {
  for (const auto& [key, value] : value_->items()) see(key, JsonValue(value));
}

JsonField JsonField::below(const Json& value, const std::string& step) const {
  JsonField field(value, place_ + step);
  return field;
}

void JsonField::fail(const std::string& expected, const std::string& got) const {
  throw FileError(place_, "expected " + expected + ", got " + got);
}

void JsonField::fail(const std::string& expected) const { fail(expected, shown(*value_)); }

JsonField JsonField::at(const std::string& key) const {
  if (!value_->is_object()) fail("an object");
  const auto found = value_->find(key);
  if (found == value_->end()) fail("an object with \"" + key + "\"");
  return below(*found, ": " + key);
}

std::optional<JsonField> JsonField::find(const std::string& key) const {
  if (!value_->is_object()) fail("an object");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return below(*found, ": " + key);
}

std::vector<JsonField> JsonField::elements() const {
  if (!value_->is_array()) fail("a list");
  std::vector<JsonField> all;
  all.reserve(value_->size());
  for (std::size_t n = 0; n < value_->size(); ++n) all.push_back(below((*value_)[n], "[" + std::to_string(n) + "]"));
  return all;
}

std::string JsonField::string() const {
  if (!value_->is_string()) fail("a text");
  return value_->get<std::string>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

std::int64_t JsonField::whole(std::int64_t least, std::int64_t most) const {
  const auto sound = [&] {
    if (value_->is_number_unsigned()) return value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
    return value_->is_number_integer() && value_->get<std::int64_t>() <= most;
  };
  if (!sound() || value_->get<std::int64_t>() < least) {
    fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value_->get<std::int64_t>();
}

double JsonField::number() const {
  if (!value_->is_number()) fail("a number");
  return value_->get<double>();
}

char32_t JsonField::character() const {
  const std::string text = value_->is_string() ? value_->get<std::string>() : "";
  if (text.empty() || count_characters(text) != 1) fail("a text of one character");
  return character_at(text, 0);
}

void JsonField::require_only(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) fail("an object");
  for (const auto& [key, value] : value_->items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    fail("no other options than " + core::joined(keys), "\"" + key + "\"");
  }
}

namespace {

// What is read from it is walked by functions that call themselves, with the path so far as the name of each place.
void require_shallow(std::string_view text, const std::string& source) {
  constexpr int kDeepest = 128;
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\') ++at;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) {
      throw FileError(source, "expected values at most " + std::to_string(kDeepest) +
                                  " deep, got deeper ones at byte " + std::to_string(at));
    }
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& source) {
  files::refuse_other_kind(text, source, "a JSON file");
  const std::string_view utf8 = require_utf8(text, source);
  require_shallow(utf8, source);
  return files::parse_json(utf8, source);
}

std::string shown_text(std::string_view text) { return shown(Json(text)); }

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  if (value.is_object() && value.contains("type") && value["type"].is_string()) {
    return "a \"" + value["type"].get<std::string>() + "\"";
  }
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongest) {
    text.resize(begin_of_last(text, kLongest));
    text += "…";
  }
  return text;
}

}  // namespace qkv::text
