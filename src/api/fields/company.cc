// Which fields go together.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "qkv/api/field.h"
#include "qkv/error.h"

namespace qkv {
namespace {

using Names = std::vector<std::string>;

[[noreturn]] void refuse_company(const FieldInfo& field, const std::string& expected, std::string_view got) {
  throw InvalidArgument("request", field.name, expected, got);
}

// "`a`, `b` or `c`".
std::string joined(const Names& names, std::string_view last, const ShownName& shown) {
  std::string text;
  for (std::size_t n = 0; n < names.size(); ++n) {
    text += (n == 0 ? "" : n + 1 == names.size() ? fmt::format(" {} ", last) : ", ") + shown(names[n]);
  }
  return text;
}

std::string in_backquotes(std::string_view name) { return fmt::format("`{}`", name); }

bool says_something(const FieldInfo& field, const FieldValue& value) {
  if (const auto* on = std::get_if<bool>(&value)) return *on || field.type == FieldType::toggle;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return !texts->empty();
  if (const auto* wholes = std::get_if<std::vector<std::int64_t>>(&value)) return !wholes->empty();
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr || !text->empty() || !field.empty_is_none;
}

class Present {
 public:
  Present(std::span<const FieldInfo> fields, const FieldValues& values) : is_there_(fields.size()), fields_(fields) {
    for (const auto& [n, value] : values) is_there_[n] = is_there_[n] || says_something(fields[n], value);
  }

  [[nodiscard]] bool has(std::size_t n) const { return is_there_[n]; }
  [[nodiscard]] bool has(const std::string& name) const {
    const auto found = std::ranges::find(fields_, name, &FieldInfo::name);
    return found != fields_.end() && is_there_[static_cast<std::size_t>(found - fields_.begin())];
  }
  [[nodiscard]] std::int64_t count(const Names& names) const {
    return std::ranges::count_if(names, [&](const std::string& name) { return has(name); });
  }

 private:
  std::vector<bool> is_there_;
  std::span<const FieldInfo> fields_;
};

void require_beside(const FieldInfo& field, const Present& present) {
  for (const std::string& other : field.excludes) {
    if (present.has(other)) refuse_company(field, "none beside " + in_backquotes(other), "one");
  }
  for (const std::string& other : field.needs) {
    if (!present.has(other)) refuse_company(field, in_backquotes(other) + " beside it", "none");
  }
  if (!field.needs_one.empty() && present.count(field.needs_one) == 0) {
    const bool is_one = field.needs_one.size() == 1;
    refuse_company(field, joined(field.needs_one, "or", in_backquotes) + " beside it",
                   is_one ? "none" : "none of them");
  }
}

Names with(const std::string& name, const Names& others) {
  Names all{name};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

void require_one(const FieldInfo& field, const Present& present) {
  if (field.one_of.empty()) return;
  const Names all = with(field.name, field.one_of);
  const auto there = present.count(all);
  if (there == 1) return;
  const char* const several = all.size() == 2 ? "both" : "several";
  refuse_company(field, "one of " + joined(all, "and", in_backquotes), there == 0 ? "none" : several);
}

bool names(const Names& all, const std::string& name) { return std::ranges::find(all, name) != all.end(); }

// One of two fields that exclude each other says so.
Names excluded_beside(std::span<const FieldInfo> fields, const FieldInfo& field) {
  Names others = field.excludes;
  for (const FieldInfo& other : fields) {
    if (names(other.excludes, field.name) && !names(others, other.name)) others.push_back(other.name);
  }
  return others;
}

std::optional<Names> exactly_one(std::span<const FieldInfo> fields, const FieldInfo& field) {
  for (const FieldInfo& other : fields) {
    if (!other.one_of.empty() && (other.name == field.name || names(other.one_of, field.name))) {
      return with(other.name, other.one_of);
    }
  }
  return std::nullopt;
}

}  // namespace

void require_company(std::span<const FieldInfo> fields, const FieldValues& values) {
  const Present present(fields, values);
  for (std::size_t n = 0; n < fields.size(); ++n) {
    if (present.has(n)) require_beside(fields[n], present);
  }
  for (std::size_t n = 0; n < fields.size(); ++n) {
    if (fields[n].required && !present.has(n)) refuse_company(fields[n], "a value", "none");
    require_one(fields[n], present);
  }
}

std::string company_of(std::span<const FieldInfo> fields, const FieldInfo& field, const ShownName& shown) {
  std::string text;
  const auto add = [&](const char* words, const Names& others, std::string_view last) {
    if (others.empty()) return;
    text += (text.empty() ? "" : "; ") + std::string(words) + " " + joined(others, last, shown);
  };
  if (field.required) text = "required";
  if (const auto one = exactly_one(fields, field)) add("one of", *one, "and");
  add("needs", field.needs, "and");
  add("needs", field.needs_one, "or");
  add("not beside", excluded_beside(fields, field), "or");
  return text;
}

}  // namespace qkv
