#include "qkv/api/field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/fields/byte_size.h"
#include "api/fields/field_example.h"
#include "api/fields/named_values.h"
#include "api/fields/refuse.h"
#include "core/ascii.h"
#include "core/listed.h"
#include "core/nearest_word.h"
#include "core/number_range.h"
#include "core/number_text.h"
#include "core/shortened.h"
#include "files/file_kind.h"
#include "files/json_keys.h"
#include "files/json_text.h"
#include "qkv/api/field_forms.h"
#include "qkv/api/refusal.h"
#include "qkv/error.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

std::string words_of(const FieldInfo& field) {
  const std::span<const std::string> words = field.words;
  const bool may_be_left_out = !words.empty() && words.front().empty();
  return core::joined(words.subspan(may_be_left_out ? 1 : 0), std::identity(), " or ");
}

std::string did_you_mean(std::string_view word, std::span<const std::string> words) {
  const auto nearest = nearest_name(word, words);
  return nearest ? "; did you mean " + *nearest + "?" : "";
}

bool is_within(const FieldInfo& field, double number) {
  const bool is_above = field.least.is_open ? number > field.least.at : number >= field.least.at;
  const bool is_below = field.most.is_open ? number < field.most.at : number <= field.most.at;
  return is_above && is_below;
}

// What was typed, as a request in JSON would have it: numbers as they are, all else in quotes.
std::string as_shown(std::string_view typed) {
  const bool is_number = core::number_from<double>(typed) || core::is_out_of_range<double>(typed);
  return is_number ? std::string(typed) : Json(typed).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Number>
FieldValue number_of(const FieldInfo& field, std::string_view text) {
  if (const auto value = core::number_from<Number>(text)) return *value;
  api_detail::refuse(field.name, expected_of(field), as_shown(text));
}

// No option has a meaning for infinity, or for what is no number.
FieldValue finite_number_of(const FieldInfo& field, std::string_view text) {
  if (core::is_out_of_range<double>(text)) {
    api_detail::refuse(field.name, fmt::format("a number {}", core::kRangeOfF64), text);
  }
  const FieldValue value = number_of<double>(field, text);
  if (!std::isfinite(std::get<double>(value))) api_detail::refuse(field.name, "a finite number", text);
  return value;
}

// "1,2,4" by its parts.
template <class Element>
FieldValue list_in(const FieldInfo& field, FieldType type_of_element, std::string_view text) {
  FieldInfo one = field;
  one.type = type_of_element;
  std::vector<Element> values;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    values.push_back(std::get<Element>(field_value(one, rest.substr(0, comma))));
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

// Programs go by a file's ending: a PNG that is called .svg would not be opened.
void require_ending(const FieldInfo& field, std::string_view path) {
  constexpr std::string_view kEndings[] = {".png",  ".svg",  ".pdf", ".jpg", ".jpeg",        ".gif",  ".bmp", ".webp",
                                           ".html", ".json", ".npy", ".npz", ".safetensors", ".gguf", ".csv"};
  const std::string ending = core::small_letters(std::filesystem::path(path).extension().string());
  const bool is_other = ending != field.ending && std::ranges::find(kEndings, ending) != std::end(kEndings);
  if (is_other) api_detail::refuse(field.name, "a name that ends in " + field.ending, fmt::format("\"{}\"", path));
}

// Of words or whole numbers of a list the second of the same does nothing.
void require_each_once(const FieldInfo& field, std::vector<std::string> words) {
  if (field.words.empty()) return;
  std::ranges::sort(words);
  const auto twice = std::ranges::adjacent_find(words);
  if (twice != words.end()) api_detail::refuse(field.name, "each word once", "\"" + *twice + "\" twice");
}
void require_each_once(const FieldInfo& field, std::vector<std::int64_t> wholes) {
  std::ranges::sort(wholes);
  const auto twice = std::ranges::adjacent_find(wholes);
  if (twice != wholes.end()) api_detail::refuse(field.name, "each number once", fmt::format("{} twice", *twice));
}

// A word in other cases is that word: GGUF files and PyTorch write Q8_0 and BF16. No two differ in their case alone.
void take_word(const FieldInfo& field, std::string& text) {
  if (field.words.empty() || std::ranges::find(field.words, text) != field.words.end()) return;
  const auto meant = std::ranges::find(field.words, core::small_letters(text), core::small_letters);
  if (meant != field.words.end()) {
    text = *meant;
    return;
  }
  api_detail::refuse(field.name, words_of(field),
                     fmt::format("\"{}\"{}", text, did_you_mean(core::small_letters(text), field.words)));
}

std::optional<FieldValue> typed(FieldType type, const Json& json);

// One text for a list is what it is on the command line, as is a number, which a parser of JSON may round to 0.
std::optional<FieldValue> typed(const FieldInfo& field, const Json& json, std::string_view written) {
  const bool is_list = field.type == FieldType::texts || field.type == FieldType::wholes;
  if (is_list && json.is_string()) return field_value(field, json.get<std::string>());
  if (field.type == FieldType::number && json.is_number()) return finite_number_of(field, written);
  if (json.is_array() || json.is_number()) {
    if (auto text = text_of_numbers(field, written)) return std::move(*text);
  }
  return typed(field.type, json);
}

template <class Element>
std::optional<FieldValue> list_of(FieldType type_of_element, const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<Element> elements;
  for (const Json& element : json) {
    const std::optional<FieldValue> value = typed(type_of_element, element);
    if (!value) return std::nullopt;
    elements.push_back(std::get<Element>(*value));
  }
  return elements;
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
    case FieldType::texts:
      return list_of<std::string>(FieldType::text, json);
    case FieldType::wholes:
      return list_of<std::int64_t>(FieldType::whole, json);
    case FieldType::size:
      if (json.is_string()) return api_detail::size_from(json.get<std::string>());
      [[fallthrough]];
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

[[noreturn]] void refuse_too_large(const FieldInfo& field, std::string_view number) {
  if (field.type == FieldType::number) static_cast<void>(finite_number_of(field, number));
  api_detail::refuse(field.name, expected_of(field), number);
}

Json object_in(std::string_view json, std::span<const FieldInfo> fields, const files::WrittenObject& written) {
  Json object = Json::parse(json, nullptr, false);
  if (object.is_discarded() && written.too_large && !written.members.empty()) {
    refuse_too_large(fields[api_detail::index_of_field(fields, written.members.back().first)], *written.too_large);
  }
  if (object.is_discarded()) throw Error("the request: expected JSON, got " + files::mistake_in_json(json));
  if (!object.is_object()) {
    throw Error(fmt::format("the request: expected an object of JSON, got {}", core::shortened(json)));
  }
  if (written.twice) throw InvalidArgument("request", *written.twice, "it once", "it twice");
  return object;
}

// Paths alone may have any bytes. Bytes that no JSON and no str has come from a terminal of another encoding.
void require_utf8_in(const FieldInfo& field, const std::string& place, std::string_view text) {
  const bool is_words = field.form.find("TEXT") != std::string::npos || field.form == "TOKEN" ||
                        field.form == "LETTERS" || (field.is_text && field.form != "FILE");
  if (!is_words) return;
  if (const std::string other = files::other_than_utf8(text); !other.empty()) {
    api_detail::refuse(place, "a text in UTF-8", other);
  }
}

}  // namespace

std::string_view name_of(FieldType type) noexcept {
  constexpr std::string_view kNames[] = {"true or false",   "true or false", "whole number",
                                         "whole number",    "number",        "text",
                                         "number of bytes", "list of texts", "list of whole numbers"};
  return kNames[static_cast<std::size_t>(type)];
}

std::optional<std::string> nearest_name(std::string_view typed, std::span<const std::string> names) {
  const auto without_dashes = [](std::string_view name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  std::vector<std::string_view> views;
  for (const std::string& known : names) views.push_back(without_dashes(known));
  const auto nearest = core::nearest_word(without_dashes(typed), views);
  if (!nearest) return std::nullopt;
  return names[static_cast<std::size_t>(std::ranges::find(views, *nearest) - views.begin())];
}

std::string there_is_no(std::string_view kind, std::string_view name, std::span<const std::string> names,
                        std::string_view meant) {
  return fmt::format("there is no {} {}{}", kind, core::shortened(name),
                     meant.empty() ? did_you_mean(name, names) : fmt::format("; did you mean {}?", meant));
}

const FieldInfo* field_called(std::span<const FieldInfo> fields, std::string_view name) {
  std::string word(name.substr(name.starts_with("--") ? 2 : 0));
  std::ranges::replace(word, '-', '_');
  const auto found = std::ranges::find_if(fields, [&](const FieldInfo& field) {
    return field.option == word || std::ranges::find(field.former, word) != field.former.end();
  });
  return found == fields.end() ? nullptr : &*found;
}

bool Bound::is_finite() const noexcept { return std::isfinite(at); }

std::string bounds_of(const FieldInfo& field) {
  constexpr std::string_view kSeeds = "0 to 18446744073709551615";
  if (field.type == FieldType::seed) return std::string(kSeeds);
  if (!field.words.empty()) return words_of(field);
  const auto shown = [&](const Bound& bound) {
    return field.type == FieldType::size ? api_detail::size_as_written(static_cast<std::uint64_t>(bound.at))
                                         : api_detail::number_as_written(bound.at);
  };
  const Bound& most = field.most;
  if (!field.least.is_finite() && !most.is_finite()) return "";
  if (!field.least.is_finite()) return (most.is_open ? "below " : "up to ") + shown(most);
  const std::string least = shown(field.least);
  if (!most.is_finite()) return field.least.is_open ? "above " + least : least + " or more";
  if (most.is_open) return fmt::format("{} {}, below {}", field.least.is_open ? "above" : "from", least, shown(most));
  return field.least.is_open ? fmt::format("above {}, up to {}", least, shown(most))
                             : fmt::format("{} to {}", least, shown(most));
}

namespace {

// "a number from 0 to 1e18", "a whole number, 0 or more".
std::string bounded(const std::string& type, const FieldInfo& field) {
  const std::string bounds = bounds_of(field);
  if (bounds.empty()) return type;
  const bool is_range = field.least.is_finite() && !field.least.is_open && !field.most.is_open;
  return type + (!is_range ? " " : field.most.is_finite() ? " from " : ", ") + bounds;
}

std::string expected_text_of(const FieldInfo& field) {
  switch (numbers_form_of(field)) {
    case NumbersForm::tensor:
      return "numbers in lists, or a text, such as " + field.example;
    case NumbersForm::rows:
      return "rows of numbers, or a text, such as " + field.example;
    case NumbersForm::list:
      return "numbers, or a text, such as " + Json(field.example).dump();
    case NumbersForm::one:
      return "a number, or a text, such as " + Json(field.example).dump();
    case NumbersForm::none:
      return "a text";
  }
  __builtin_unreachable();
}

}  // namespace

std::string expected_of(const FieldInfo& field) {
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      return "true or false";
    case FieldType::number:
      return bounded("a number", field);
    case FieldType::text:
      return field.words.empty() ? expected_text_of(field) : words_of(field);
    case FieldType::texts:
      return "a list of texts";
    case FieldType::wholes:
      return bounded("a list of whole numbers", field);
    case FieldType::size:
      return bounded("a number of bytes", field) + ", such as 4096, 512MiB or 4GiB";
    case FieldType::seed:
      return "a whole number from " + bounds_of(field);
    case FieldType::whole:
      return bounded("a whole number", field);
  }
  __builtin_unreachable();
}

FieldValue checked_value(const FieldInfo& field, FieldValue value, std::string_view shown) {
  const auto is_empty = [](const auto* list) { return list != nullptr && list->empty(); };
  if (!takes_empty_list(field) && (is_empty(std::get_if<std::vector<std::string>>(&value)) ||
                                   is_empty(std::get_if<std::vector<std::int64_t>>(&value)))) {
    api_detail::refuse(field.name, "one or more, or to be left out", shown);
  }
  const auto fits = [&](auto number) { return is_within(field, static_cast<double>(number)); };
  bool is_sound = true;
  if (const auto* wholes = std::get_if<std::vector<std::int64_t>>(&value)) {
    is_sound = std::ranges::all_of(*wholes, fits);
    if (is_sound) require_each_once(field, *wholes);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) is_sound = fits(*whole);
  if (const auto* number = std::get_if<double>(&value)) is_sound = fits(*number);
  if (const auto* bytes = std::get_if<std::uint64_t>(&value)) is_sound = field.type == FieldType::seed || fits(*bytes);
  if (!is_sound) api_detail::refuse(field.name, expected_of(field), shown);
  if (auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (std::size_t n = 0; n < texts->size(); ++n) {
      std::string& text = (*texts)[n];
      const std::string place = texts->size() > 1 ? fmt::format("{}[{}]", field.name, n) : field.name;
      if (text.empty()) api_detail::refuse(place, "a value", "\"\"");
      require_utf8_in(field, place, text);
      take_word(field, text);
    }
    require_each_once(field, *texts);
  }
  if (auto* text = std::get_if<std::string>(&value); text != nullptr && field.alone != *text) {
    // A slip of a shell whose variable is not set, or of a form that was not filled in.
    if (text->empty() && !field.may_be_empty && field.fallback.empty()) {
      api_detail::refuse(field.name, "a value", "\"\"");
    }
    if (!field.ending.empty()) require_ending(field, *text);
    require_utf8_in(field, field.name, *text);
    take_word(field, *text);
  }
  return value;
}

FieldValue one_list(const FieldInfo& field, std::span<const FieldValue> parts) {
  FieldValue all = parts.front();
  for (const FieldValue& part : parts.subspan(1)) {
    std::visit(
        [&]<class Value>(Value& values) {
          if constexpr (requires { values.insert(values.end(), values.begin(), values.end()); }) {
            const Value& more = std::get<Value>(part);
            values.insert(values.end(), more.begin(), more.end());
          }
        },
        all);
  }
  return checked_value(field, std::move(all), "a list");
}

FieldValue field_value(const FieldInfo& field, std::string_view text) {
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      if (text != "true" && text != "false") api_detail::refuse(field.name, expected_of(field), as_shown(text));
      return text == "true";
    case FieldType::number:
      return checked_value(field, finite_number_of(field, text), text);
    case FieldType::seed:
      return number_of<std::uint64_t>(field, text);
    case FieldType::whole:
      return checked_value(field, number_of<std::int64_t>(field, text), text);
    case FieldType::text:
      return checked_value(field, std::string(text), text);
    case FieldType::texts:
      if (!field.words.empty()) return checked_value(field, list_in<std::string>(field, FieldType::text, text), text);
      return checked_value(field, std::vector{std::string(text)}, text);
    case FieldType::wholes:
      return checked_value(field, list_in<std::int64_t>(field, FieldType::whole, text), text);
    case FieldType::size:
      if (const auto bytes = api_detail::size_from(text)) return checked_value(field, *bytes, as_shown(text));
      api_detail::refuse(field.name, expected_of(field), as_shown(text));
  }
  __builtin_unreachable();
}

FieldValues field_values(std::span<const FieldInfo> fields, std::string_view json) {
  const files::WrittenObject written = files::written_object(json);
  const Json object = object_in(json, fields, written);
  FieldValues values;
  for (const auto& [name, shown] : written.members) {
    const std::size_t n = api_detail::index_of_field(fields, name);
    const Json& member = object.at(name);
    if (member.is_null()) continue;
    auto value = typed(fields[n], member, shown);
    if (!value) api_detail::refuse(fields[n].name, expected_of(fields[n]), shown);
    values.emplace_back(n, checked_value(fields[n], std::move(*value), shown));
  }
  require_company(fields, values);
  return values;
}

FieldInfo threads_field(const std::string& group) {
  return {.name = "threads",
          .form = "N",
          .meaning = "Threads to use",
          .group = group,
          .least = 1,
          .most = 65536,
          .otherwise = "QKV_THREADS, or all cores"};
}

}  // namespace qkv
