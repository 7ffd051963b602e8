#include "qkv/api/field_forms.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/ascii.h"
#include "qkv/files.h"
#include "qkv/tensor.h"

namespace qkv {
namespace {

using Numbers = nlohmann::json;

// A whole number of a list keeps its form: 7 is no 7.0.
std::string joined_numbers(const Numbers& list, std::string_view separator) {
  std::string text;
  for (const Numbers& one : list) text += (text.empty() ? "" : std::string(separator)) + one.dump();
  return text;
}

bool is_of_numbers(const Numbers& list) {
  const auto is_number = [](const Numbers& one) { return one.is_number(); };
  return list.is_array() && !list.empty() && std::ranges::all_of(list, is_number);
}

bool is_of_rows(const Numbers& list) {
  return list.is_array() && !list.empty() && std::ranges::all_of(list, is_of_numbers);
}

bool is_a_tensor(const Numbers& list, int axes = kMaxRank) {
  if (is_of_numbers(list)) return true;
  const auto is_part = [&](const Numbers& one) { return is_a_tensor(one, axes - 1); };
  return axes > 1 && list.is_array() && !list.empty() && std::ranges::all_of(list, is_part);
}

}  // namespace

NumbersForm numbers_form_of(const FieldInfo& field) {
  if (!field.media.empty() && field.type == FieldType::text) return NumbersForm::tensor;
  const std::string& example = field.example;
  const bool is_of_digits = example.find_first_not_of("0123456789.,; []-") == std::string::npos;
  const bool has_numbers = field.type == FieldType::text && field.words.empty() && !example.empty() && is_of_digits;
  // Of a head, "1.5", a number has lost what 1.10 says.
  if (!has_numbers || core::is_digit(field.form.empty() ? '0' : field.form.front())) return NumbersForm::none;
  if (is_tensor_text(example)) return NumbersForm::tensor;
  if (example.find(';') != std::string::npos) return NumbersForm::rows;
  const bool is_list = field.form == "IDS" || field.form.find(',') != std::string::npos;
  return is_list ? NumbersForm::list : NumbersForm::one;
}

std::optional<std::string> text_of_numbers(const FieldInfo& field, std::string_view json) {
  const NumbersForm form = numbers_form_of(field);
  if (form == NumbersForm::none) return std::nullopt;
  const Numbers given = Numbers::parse(json, nullptr, false);
  if (given.is_discarded()) return std::nullopt;
  switch (form) {
    case NumbersForm::none:
      break;
    case NumbersForm::tensor:
      if (is_a_tensor(given)) return given.dump();
      break;
    case NumbersForm::rows: {
      if (!is_of_rows(given)) break;
      std::string text;
      for (const Numbers& row : given) text += (text.empty() ? "" : ";") + joined_numbers(row, ",");
      return text;
    }
    case NumbersForm::list:
      if (is_of_numbers(given)) return joined_numbers(given, field.form == "IDS" ? " " : ",");
      [[fallthrough]];
    case NumbersForm::one:
      if (given.is_number()) return given.dump();
      break;
  }
  return std::nullopt;
}

bool takes_empty_list(const FieldInfo& field) { return field.words.empty() && field.otherwise.empty(); }

}  // namespace qkv
