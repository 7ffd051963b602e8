// The fields of a request as docs/api.md lists them.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/replies/reply_types.h"
#include "core/listed.h"
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
  if (has_options && field.is_text) text += "; `-` is standard input";
  if (has_options && field.letter != 0) text += fmt::format("; also `-{}`", field.letter);
  if (has_options && !field.option.empty()) text += fmt::format("; in JSON `{}`", field.name);
  return api_detail::table_cell(text);
}

std::string row_of(std::span<const FieldInfo> fields, const FieldInfo& field, const ShownName& shown) {
  const auto named = [&](std::string_view name) {
    return fmt::format("`{}`", shown ? shown(name) : std::string(name));
  };
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", named(field.name), type_cell(field),
                     api_detail::table_cell(bounds_of(field)), default_cell(field),
                     api_detail::table_cell(company_of(fields, field, named)),
                     meaning_cell(field, static_cast<bool>(shown)), coded(field.example));
}

constexpr const char* kHead =
    "| field | type | bounds | default | needs, not beside | what | example |\n|---|---|---|---|---|---|---|\n";

const FieldInfo* field_of(std::span<const FieldInfo> fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &FieldInfo::name);
  return found == fields.end() ? nullptr : &*found;
}

// Fields of one table beside those of another.
struct TwoTables {
  std::vector<std::string> missing;  // that only the other has
  std::vector<const FieldInfo*> own;
};

// What a field of its own says of another stands in its own row.
TwoTables beside(std::span<const FieldInfo> known, std::span<const FieldInfo> fields) {
  TwoTables two;
  std::vector<FieldInfo> common;
  for (const FieldInfo& field : fields) {
    if (field_of(known, field.name) != nullptr) common.push_back(field);
  }
  for (const FieldInfo& field : known) {
    if (field_of(fields, field.name) == nullptr) two.missing.push_back("`" + field.name + "`");
  }
  for (const FieldInfo& field : fields) {
    const FieldInfo* other = field_of(known, field.name);
    if (other == nullptr || row_of(known, *other, {}) != row_of(common, field, {})) two.own.push_back(&field);
  }
  return two;
}

// "`text` as `TEXT`, `captions` as `--caption`": those whose names do not follow from the field's.
std::string otherwise_shown(std::span<const FieldInfo> fields, const TwoTables& two, const ShownName& shown) {
  std::string text;
  for (const FieldInfo& field : fields) {
    std::string usual = "--" + field.name;
    std::ranges::replace(usual, '_', '-');
    const bool has_row = std::ranges::find(two.own, &field) != two.own.end();
    if (!shown || has_row || (shown(field.name) == usual && field.letter == 0)) continue;
    const std::string letter = field.letter == 0 ? "" : fmt::format(" and `-{}`", field.letter);
    text += fmt::format(", `{}` as `{}`{}", field.name, shown(field.name), letter);
  }
  return text;
}

}  // namespace

std::string fields_as_markdown(std::span<const FieldInfo> fields, const ShownName& shown) {
  std::string text = kHead;
  for (const FieldInfo& field : fields) text += row_of(fields, field, shown);
  return text;
}

std::optional<std::size_t> told_already(const ToldFields& told, std::span<const FieldInfo> fields) {
  constexpr std::size_t kFew = 3;
  const TwoTables two = beside(told.fields, fields);
  return two.missing.size() > kFew ? std::nullopt : std::optional(fields.size() - two.own.size());
}

std::string fields_as_markdown(const ToldFields& told, std::span<const FieldInfo> fields, const ShownName& shown) {
  const TwoTables two = beside(told.fields, fields);
  std::string text = fmt::format("The fields of [{0}](#{0})", told.heading) + otherwise_shown(fields, two, shown);
  if (!two.missing.empty()) text += ", without " + core::joined(two.missing, std::identity(), " and ");
  if (two.own.empty()) return text + ".\n";
  text += fmt::format("; its own, and those that are otherwise here:\n\n{}", kHead);
  for (const FieldInfo* field : two.own) text += row_of(fields, *field, shown);
  return text;
}

}  // namespace qkv
