#include "qkv/view/field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/number_range.h"
#include "files/json_keys.h"
#include "files/json_text.h"
#include "qkv/error.h"
#include "qkv/nearest_word.h"
#include "qkv/number_text.h"
#include "view/reply_types.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

std::string listed(std::span<const std::string> words) {
  if (!words.empty() && words.front().empty()) words = words.subspan(1);  // what is left out
  std::string text;
  for (std::size_t n = 0; n < words.size(); ++n) {
    text += (n == 0 ? "" : n + 1 == words.size() ? " or " : ", ") + words[n];
  }
  return text;
}

std::string nearest_of(std::string_view word, std::span<const std::string> words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const auto nearest = nearest_word(word, views);
  return nearest ? "; did you mean " + std::string(*nearest) + "?" : "";
}

[[noreturn]] void refuse(const FieldInfo& field, const std::string& expected, std::string_view got) {
  throw InvalidArgument("request", field.name, expected, got);
}

// What stands in a message for a field of this type.
std::string expected_of(const FieldInfo& field) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      return "true or false";
    case FieldType::number:
      if (field.least == kLow && field.most == kHigh) return "a number";
      return fmt::format("a number from {} to {}", field.least, field.most);
    case FieldType::text:
      return field.words.empty() ? "a text" : listed(field.words);
    case FieldType::seed:
      return "a whole number from 0 to 18446744073709551615";
    case FieldType::whole:
      if (field.least == kLow && field.most == kHigh) return "a whole number";
      if (field.most == kHigh) return fmt::format("a whole number, {} or more", field.least);
      return fmt::format("a whole number from {} to {}", field.least, field.most);
  }
  __builtin_unreachable();
}

template <class Number>
FieldValue number_of(const FieldInfo& field, std::string_view text) {
  if (const auto value = number_from<Number>(text)) return *value;
  refuse(field, expected_of(field), field.type == FieldType::seed ? fmt::format("\"{}\"", text) : text);
}

// No option has a meaning for infinity, or for what is no number.
FieldValue finite_number_of(const FieldInfo& field, std::string_view text) {
  if (core::is_out_of_range<double>(text)) refuse(field, fmt::format("a number {}", core::kRangeOfF64), text);
  const FieldValue value = number_of<double>(field, text);
  if (!std::isfinite(std::get<double>(value))) refuse(field, "a finite number", text);
  return value;
}

// The value, if it lies in the field's bounds and words.
FieldValue checked(const FieldInfo& field, FieldValue value, std::string_view shown) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (*whole < field.least || *whole > field.most) refuse(field, expected_of(field), shown);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    const bool fits = *number >= static_cast<double>(field.least) && *number <= static_cast<double>(field.most);
    if (!fits) refuse(field, expected_of(field), shown);
  }
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && !field.words.empty()) {
    if (std::ranges::find(field.words, *text) == field.words.end()) {
      refuse(field, expected_of(field), fmt::format("\"{}\"{}", *text, nearest_of(*text, field.words)));
    }
  }
  return value;
}

std::optional<FieldValue> typed(FieldType type, const Json& json) {
  switch (type) {
    case FieldType::flag:
    case FieldType::toggle:
      return json.is_boolean() ? std::optional<FieldValue>(json.get<bool>()) : std::nullopt;
    case FieldType::number:
      return json.is_number() ? std::optional<FieldValue>(json.get<double>()) : std::nullopt;
    case FieldType::text:
      return json.is_string() ? std::optional<FieldValue>(json.get<std::string>()) : std::nullopt;
    case FieldType::seed:
      return json.is_number_unsigned() ? std::optional<FieldValue>(json.get<std::uint64_t>()) : std::nullopt;
    case FieldType::whole: {
      const bool fits = json.is_number_integer() &&
                        (!json.is_number_unsigned() || json.get<std::uint64_t>() <= std::uint64_t{1} << 62);
      return fits ? std::optional<FieldValue>(json.get<std::int64_t>()) : std::nullopt;
    }
  }
  __builtin_unreachable();
}

std::size_t index_of(std::span<const FieldInfo> fields, const std::string& name) {
  const auto found = std::ranges::find(fields, name, &FieldInfo::name);
  if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
  std::vector<std::string> names;
  for (const FieldInfo& field : fields) names.push_back(field.name);
  throw InvalidArgument("request", name, "a field of this request", "another" + nearest_of(name, names));
}

Json object_in(std::string_view json) {
  Json object = Json::parse(json, nullptr, false);
  if (object.is_discarded()) throw InvalidArgument("request", "json", "JSON", files::mistake_in_json(json));
  if (!object.is_object()) throw InvalidArgument("request", "json", "an object", fmt::format("\"{}\"", json));
  if (const auto twice = files::key_there_twice(json)) throw InvalidArgument("request", *twice, "it once", "it twice");
  return object;
}

void require_needs(std::span<const FieldInfo> fields, std::span<const std::pair<std::size_t, FieldValue>> values) {
  for (const auto& [n, value] : values) {
    for (const std::string& other : fields[n].needs) {
      const bool there = std::ranges::any_of(values, [&](const auto& one) { return fields[one.first].name == other; });
      if (!there) refuse(fields[n], fmt::format("`{}` beside it", other), "none");
    }
  }
}

}  // namespace

std::string_view name_of(FieldType type) noexcept {
  constexpr std::string_view kNames[] = {"true or false",       "true or false", "whole number",
                                         "whole number from 0", "number",        "text"};
  return kNames[static_cast<std::size_t>(type)];
}

FieldValue field_value(const FieldInfo& field, std::string_view text) {
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      if (text != "true" && text != "false") refuse(field, expected_of(field), text);
      return text == "true";
    case FieldType::number:
      return finite_number_of(field, text);  // of commands, whose options have bounds of their own
    case FieldType::seed:
      return number_of<std::uint64_t>(field, text);
    case FieldType::whole:
      return checked(field, number_of<std::int64_t>(field, text), text);
    case FieldType::text:
      return checked(field, std::string(text), text);
  }
  __builtin_unreachable();
}

std::vector<std::pair<std::size_t, FieldValue>> field_values(std::span<const FieldInfo> fields, std::string_view json) {
  const Json object = object_in(json);
  std::vector<std::pair<std::size_t, FieldValue>> values;
  for (const auto& [name, member] : object.items()) {
    const std::size_t n = index_of(fields, name);
    if (member.is_null()) continue;
    const std::string shown = member.dump(-1, ' ', false, Json::error_handler_t::replace);
    auto value = typed(fields[n].type, member);
    if (!value) refuse(fields[n], expected_of(fields[n]), shown);
    values.emplace_back(n, checked(fields[n], std::move(*value), shown));
  }
  require_needs(fields, values);
  return values;
}

std::string fields_as_markdown(std::span<const FieldInfo> fields) {
  std::string text = "| field | type | default | what |\n|---|---|---|---|\n";
  for (const FieldInfo& field : fields) {
    std::string type(name_of(field.type));
    if (field.type == FieldType::whole || field.type == FieldType::number || !field.words.empty())
      type = expected_of(field);
    if (type.starts_with("a ")) type.erase(0, 2);
    if (!field.form.empty() && field.type == FieldType::text && field.words.empty()) type += " `" + field.form + "`";
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", field.name, view_detail::table_cell(type),
                    field.fallback.empty() ? "" : "`" + field.fallback + "`", view_detail::table_cell(field.meaning));
  }
  return text;
}

}  // namespace qkv
