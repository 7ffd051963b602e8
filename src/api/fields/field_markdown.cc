// The fields of a request as docs/api.md lists them.
#include <fmt/format.h>

#include "api/replies/reply_types.h"
#include "qkv/api/field.h"

namespace qkv {
namespace {

std::string coded(std::string_view value) {
  return value.empty() ? "" : fmt::format("`{}`", api_detail::table_cell(value));
}

std::string type_cell(const FieldInfo& field) {
  const bool has_form =
      !field.form.empty() && field.words.empty() && (field.type == FieldType::text || field.type == FieldType::texts);
  return std::string(name_of(field.type)) + (has_form ? " " + coded(field.form) : "");
}

std::string default_cell(const FieldInfo& field) {
  return field.fallback.empty() ? api_detail::table_cell(field.otherwise) : coded(field.fallback);
}

// What a field does, and its other names where the first is an option's.
std::string meaning_cell(const FieldInfo& field, bool has_options) {
  std::string text = field.meaning;
  if (has_options && field.letter != 0) text += fmt::format("; also `-{}`", field.letter);
  if (has_options && !field.option.empty()) text += fmt::format("; in JSON `{}`", field.name);
  return api_detail::table_cell(text);
}

}  // namespace

std::string fields_as_markdown(std::span<const FieldInfo> fields, const ShownName& shown) {
  const auto named = [&](std::string_view name) {
    return fmt::format("`{}`", shown ? shown(name) : std::string(name));
  };
  std::string text =
      "| field | type | bounds | default | needs, not beside | what | example |\n|---|---|---|---|---|---|---|\n";
  for (const FieldInfo& field : fields) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", named(field.name), type_cell(field),
                        api_detail::table_cell(bounds_of(field)), default_cell(field),
                        api_detail::table_cell(company_of(fields, field, named)),
                        meaning_cell(field, static_cast<bool>(shown)), coded(field.example));
  }
  return text;
}

}  // namespace qkv
