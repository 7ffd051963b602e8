// Which fields go together.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "api/fields/refuse.h"
#include "core/listed.h"
#include "qkv/api/field.h"

namespace qkv {
namespace {

using Names = std::vector<std::string>;

// A need, "optimizer" or "optimizer=sgd".
struct Need {
  explicit Need(const std::string& text) {
    const std::size_t equals = text.find('=');
    name = text.substr(0, equals);
    if (equals != std::string::npos) value = text.substr(equals + 1);
  }

  std::string name, value;
};

// "`a`, `b` x or y".
std::string joined(const Names& names, std::string_view last, const ShownName& shown) {
  Names words;
  std::string previous;
  for (const std::string& name : names) {
    const Need need(name);
    const bool is_same = need.name == previous;
    words.push_back((is_same ? "" : shown(need.name) + (need.value.empty() ? "" : " ")) + need.value);
    previous = need.name;
  }
  return core::joined(words, std::identity(), " " + std::string(last) + " ");
}

bool are_of_one_field(const Names& needs) {
  return std::ranges::all_of(needs, [&](const std::string& need) { return Need(need).name == Need(needs[0]).name; });
}

std::string in_backquotes(std::string_view name) { return fmt::format("`{}`", name); }

std::string reason_of(const FieldInfo& field, const std::string& other) {
  const auto found = field.reasons.find(other);
  return found == field.reasons.end() ? "" : found->second;
}

bool says_something(const FieldInfo& field, const FieldValue& value) {
  if (const auto* on = std::get_if<bool>(&value)) return *on || field.type == FieldType::toggle;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return !texts->empty();
  if (const auto* wholes = std::get_if<std::vector<std::int64_t>>(&value)) return !wholes->empty();
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr || !text->empty() || !field.empty_is_none;
}

class Present {
 public:
  Present(std::span<const FieldInfo> fields, const FieldValues& values, Defaults defaults)
      : is_there_(fields.size()), words_(fields.size()), fields_(fields), defaults_(defaults) {
    for (const auto& [n, value] : values) {
      is_there_[n] = is_there_[n] || says_something(fields[n], value);
      if (const auto* const text = std::get_if<std::string>(&value)) words_[n] = *text;
    }
  }

  [[nodiscard]] bool has(std::size_t n) const { return is_there_[n]; }
  [[nodiscard]] bool has(const std::string& text) const {
    const Need need(text);
    const auto n = index_of(need.name);
    return n && (need.value.empty() ? is_there_[*n] : word(*n) == need.value);
  }
  // Whether what others need is there.
  [[nodiscard]] bool meets(const std::string& need) const {
    const auto n = index_of(need);
    return has(need) ||
           (n && defaults_ == Defaults::there && !fields_[*n].fallback.empty() && fields_[*n].type != FieldType::flag);
  }
  [[nodiscard]] std::int64_t count(const Names& names) const {
    return std::ranges::count_if(names, [&](const std::string& name) { return meets(name); });
  }

  // What is there instead of a need that is not.
  [[nodiscard]] std::string instead_of(const std::string& text) const {
    const Need need(text);
    const auto n = need.value.empty() ? std::nullopt : index_of(need.name);
    return n && !word(*n).empty() ? word(*n) : "none";
  }

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(const std::string& name) const {
    const auto found = std::ranges::find(fields_, name, &FieldInfo::name);
    if (found == fields_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - fields_.begin());
  }
  [[nodiscard]] const std::string& word(std::size_t n) const {
    return words_[n].empty() ? fields_[n].fallback : words_[n];
  }

  std::vector<bool> is_there_;
  std::vector<std::string> words_;
  std::span<const FieldInfo> fields_;
  Defaults defaults_;
};

void require_one_of(const FieldInfo& field, const Names& needs, const std::string& where, const Present& present) {
  if (needs.empty() || present.count(needs) > 0) return;
  const std::string got = are_of_one_field(needs) ? present.instead_of(needs.front()) : "none of them";
  api_detail::refuse(field.name, joined(needs, "or", in_backquotes) + where, got);
}

void require_none_excluded(const FieldInfo& field, const Present& present) {
  for (const std::string& other : field.excludes) {
    if (!present.has(other)) continue;
    const std::string why = reason_of(field, other);
    api_detail::refuse(field.name,
                       "it without " + joined({other}, "or", in_backquotes) + (why.empty() ? "" : " (" + why + ")"),
                       "both");
  }
}

void require_beside(const FieldInfo& field, const Present& present) {
  for (const std::string& other : field.needs) require_one_of(field, {other}, " beside it", present);
  require_one_of(field, field.needs_one, " beside it", present);
  for (const auto& [others, needs_one] : field.beside) {
    const auto other = std::ranges::find_if(others, [&](const std::string& one) { return present.has(one); });
    if (other == others.end()) continue;
    require_one_of(field, needs_one, " beside it, since " + in_backquotes(*other) + " is given", present);
  }
}

Names with(const std::string& name, const Names& others) {
  Names all{name};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Names there_of(const Names& all, const Present& present) {
  Names there;
  std::ranges::copy_if(all, std::back_inserter(there), [&](const std::string& name) { return present.has(name); });
  return there;
}

void require_at_most_one(const FieldInfo& field, const Present& present) {
  if (field.one_of.empty()) return;
  const Names there = there_of(with(field.name, field.one_of), present);
  if (there.size() < 2) return;
  api_detail::refuse(fmt::format("{}", fmt::join(there, ", ")), "one of them", there.size() == 2 ? "both" : "several");
}

void require_one(const FieldInfo& field, const Present& present) {
  if (field.one_of.empty()) return;
  const Names all = with(field.name, field.one_of);
  if (!there_of(all, present).empty()) return;
  api_detail::refuse(fmt::format("{}", fmt::join(all, ", ")), "one of them", "none");
}

bool names(const Names& all, const std::string& name) { return std::ranges::find(all, name) != all.end(); }

// Those that exclude each other for one reason.
struct Excluded {
  std::string why;
  Names names;
};

// Whether many fields may not stand beside `other`, a field or a value of one, for this reason: its own row says it.
bool is_said_there(std::span<const FieldInfo> fields, const std::string& other, const std::string& why) {
  constexpr std::ptrdiff_t kFew = 6;
  const auto found = std::ranges::find(fields, other, &FieldInfo::name);
  const auto says_so = [&](const FieldInfo& field, const std::string& of) {
    return names(field.excludes, of) && reason_of(field, of) == why;
  };
  return kFew < std::ranges::count_if(
                    fields,
                    [&](const FieldInfo& one) {
                      return says_so(one, other) || (found != fields.end() && says_so(*found, one.name));
                    });
}

// One of two fields that exclude each other says so. Those without a reason come first, or with one that is said there.
std::vector<Excluded> excluded_beside(std::span<const FieldInfo> fields, const FieldInfo& field) {
  std::vector<Excluded> all = {{.why = "", .names = {}}};
  const auto add = [&](const std::string& other, const std::string& why) {
    if (std::ranges::any_of(all, [&](const Excluded& one) { return names(one.names, other); })) return;
    const std::string said = is_said_there(fields, other, why) ? "" : why;
    auto same = std::ranges::find(all, said, &Excluded::why);
    if (same == all.end()) same = all.insert(all.end(), {.why = said, .names = {}});
    same->names.push_back(other);
  };
  for (const std::string& other : field.excludes) add(other, reason_of(field, other));
  for (const FieldInfo& other : fields) {
    if (names(other.excludes, field.name)) add(other.name, reason_of(other, field.name));
  }
  return all;
}

// Without those that every request must have.
Names not_always_there(std::span<const FieldInfo> fields, Names needs) {
  std::erase_if(needs, [&](const std::string& need) {
    return std::ranges::any_of(fields, [&](const FieldInfo& one) { return one.required && one.name == need; });
  });
  return needs;
}

// Those that many do not stand beside of the field's values, "task=tokenizer", each with its reason and with them.
std::vector<std::pair<std::string, Excluded>> excluded_beside_values(std::span<const FieldInfo> fields,
                                                                     const FieldInfo& field) {
  std::vector<std::pair<std::string, Excluded>> all;
  for (const FieldInfo& one : fields) {
    for (const std::string& other : one.excludes) {
      const std::string why = reason_of(one, other);
      if (other == field.name || Need(other).name != field.name || !is_said_there(fields, other, why)) continue;
      auto same = std::ranges::find_if(all, [&](const auto& of) { return of.first == other && of.second.why == why; });
      if (same == all.end()) same = all.insert(all.end(), {other, {.why = why, .names = {}}});
      same->second.names.push_back(one.name);
    }
  }
  return all;
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

void require_company(std::span<const FieldInfo> fields, const FieldValues& values, Defaults defaults) {
  const Present present(fields, values, defaults);
  for (std::size_t n = 0; n < fields.size(); ++n) {
    if (present.has(n)) require_none_excluded(fields[n], present);
    require_at_most_one(fields[n], present);
  }
  for (std::size_t n = 0; n < fields.size(); ++n) {
    if (present.has(n)) require_beside(fields[n], present);
  }
  for (std::size_t n = 0; n < fields.size(); ++n) {
    const bool is_list = fields[n].type == FieldType::texts;
    if (fields[n].required && !present.has(n)) {
      api_detail::refuse(fields[n].name, is_list ? "one or more" : "a value", "none");
    }
    require_one(fields[n], present);
  }
}

std::string not_beside(const Names& others, const ShownName& shown) {
  return "not beside " + joined(others, "or", shown);
}

std::vector<std::string> excluded_by_all(std::span<const FieldInfo> fields, std::span<const FieldInfo* const> group) {
  std::optional<Names> common;
  for (const FieldInfo* const field : group) {
    const Names own = excluded_beside(fields, *field).front().names;
    if (!common) common = own;
    std::erase_if(*common, [&](const std::string& name) { return !names(own, name); });
  }
  return common.value_or(Names());
}

std::string company_of(std::span<const FieldInfo> fields, const FieldInfo& field, const ShownName& shown,
                       std::size_t most_named, std::span<const std::string> said) {
  std::string text;
  const auto add = [&](const char* words, const Names& others, std::string_view last) {
    if (!others.empty()) text += (text.empty() ? "" : "; ") + std::string(words) + " " + joined(others, last, shown);
  };
  if (field.required) text = "required";
  if (const auto one = exactly_one(fields, field)) add("one of", *one, "and");
  add("needs", not_always_there(fields, field.needs), "and");
  add("needs", field.needs_one, "or");
  for (const auto& [others, needs_one] : field.beside) {
    add("beside", others, "or");
    text += " needs " + joined(needs_one, "or", shown);
  }
  const auto add_excluded = [&](const std::string& whose, const Excluded& excluded) {
    const auto& [why, others] = excluded;
    if (others.empty()) return;
    const std::string those = others.size() <= most_named
                                  ? not_beside(others, shown)
                                  : fmt::format("not beside {} others, each of which says so", others.size());
    text += fmt::format("{}{}{}{}{}", text.empty() ? "" : "; ", whose, those, why.empty() ? "" : ": ", why);
  };
  std::vector<Excluded> excluded_here = excluded_beside(fields, field);
  std::erase_if(excluded_here.front().names,
                [&](const std::string& name) { return std::ranges::find(said, name) != said.end(); });
  for (const Excluded& excluded : excluded_here) add_excluded("", excluded);
  for (const auto& [value, excluded] : excluded_beside_values(fields, field)) {
    add_excluded(joined({value}, "or", shown) + " ", excluded);
  }
  return text;
}

}  // namespace qkv
