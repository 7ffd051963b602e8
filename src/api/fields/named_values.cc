#include "api/fields/named_values.h"

#include <algorithm>
#include <utility>

#include "api/fields/refuse.h"
#include "qkv/api/refusal.h"

namespace qkv {
namespace {

bool is_of_type(FieldType type, const FieldValue& value) {
  switch (type) {
    case FieldType::flag:
    case FieldType::toggle:
      return std::holds_alternative<bool>(value);
    case FieldType::whole:
      return std::holds_alternative<std::int64_t>(value);
    case FieldType::seed:
    case FieldType::size:
      return std::holds_alternative<std::uint64_t>(value);
    case FieldType::number:
      return std::holds_alternative<double>(value);
    case FieldType::text:
      return std::holds_alternative<std::string>(value);
    case FieldType::texts:
      return std::holds_alternative<std::vector<std::string>>(value);
    case FieldType::wholes:
      return std::holds_alternative<std::vector<std::int64_t>>(value);
  }
  __builtin_unreachable();
}

FieldValue as_type(const FieldInfo& field, FieldValue value) {
  const FieldType type = field.type;
  const auto* text = std::get_if<std::string>(&value);
  // On the command line, too, it stands for a list.
  if (text != nullptr && (type == FieldType::texts || type == FieldType::wholes)) return field_value(field, *text);
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole == nullptr) return value;
  if (type == FieldType::number) return static_cast<double>(*whole);
  const bool is_unsigned = type == FieldType::seed || type == FieldType::size;
  if (is_unsigned && *whole >= 0) return static_cast<std::uint64_t>(*whole);
  return value;
}

}  // namespace

std::size_t api_detail::index_of_field(std::span<const FieldInfo> fields, const std::string& name) {
  const auto found = std::ranges::find(fields, name, &FieldInfo::name);
  if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
  std::vector<std::string> names;
  for (const FieldInfo& field : fields) names.push_back(field.name);
  const FieldInfo* const meant = field_called(fields, name);
  throw NotThere(name, there_is_no("field", name, names, meant == nullptr ? "" : meant->name));
}

FieldValues field_values(std::span<const FieldInfo> fields, const NamedValues& named) {
  FieldValues values;
  for (const auto& [name, given] : named) {
    const std::size_t n = api_detail::index_of_field(fields, name);
    const FieldInfo& field = fields[n];
    const std::string shown = as_json(given);
    FieldValue value = as_type(field, given);
    if (!is_of_type(field.type, value)) api_detail::refuse(name, expected_of(field), shown);
    values.emplace_back(n, checked_value(field, std::move(value), shown));
  }
  require_company(fields, values);
  return values;
}

NamedValues FieldTable::named(FieldValues&& values) const {
  NamedValues all;
  for (auto& [n, value] : values) all.emplace(infos_[n].name, std::move(value));
  return all;
}

}  // namespace qkv
