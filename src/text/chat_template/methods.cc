#include "text/chat_template/methods.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "text/characters.h"
#include "text/chat_template/letters.h"

namespace qkv::text::jinja {
namespace {

using Method = Value (*)(Budget&, const Value& self, const Arguments&);
struct NamedMethod {
  std::string_view name;
  Method call;
};

Value list_of_texts(Budget& budget, std::vector<MarkedText> parts) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (MarkedText& part : parts) items.push_back(marked_text(budget, std::move(part)));
  return list_of(budget, std::move(items));
}

template <Sides sides>
Value strip(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("strip", arguments, {"chars"});
  const MarkedText& text = *self.text();
  const bool has_characters = bound.at(0) && !bound.at(0)->is_none();
  const Span kept =
      has_characters ? stripped(text.bytes(), bound.text(0).bytes(), sides) : stripped(text.bytes(), sides);
  return marked_text(budget, text.slice(kept.begin, kept.end));
}

template <LetterCase letter_case>
Value cased(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("a method that changes letters", arguments, {});
  budget.make(self.text()->size());
  return marked_text(budget, in_case(*self.text(), letter_case));
}

Value split_text(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("split", arguments, {"sep", "maxsplit"});
  const bool has_separator = bound.at(0) && !bound.at(0)->is_none();
  return list_of_texts(budget,
                       split(budget, *self.text(), has_separator ? &bound.text(0) : nullptr, bound.whole(1, -1)));
}

Value split_from_right(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("rsplit", arguments, {"sep", "maxsplit"});
  const MarkedText& text = *self.text();
  const MarkedText& separator = bound.text(0);
  std::vector<MarkedText> parts = split(budget, text, &separator, -1);
  const std::int64_t most = bound.whole(1, -1);
  if (most < 0 || static_cast<std::int64_t>(parts.size()) <= most + 1) return list_of_texts(budget, std::move(parts));
  const std::size_t first = parts.size() - static_cast<std::size_t>(most);
  std::size_t end = text.size();
  for (std::size_t n = first; n < parts.size(); ++n) end -= parts[n].size() + separator.size();
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
  parts.insert(parts.begin(), text.slice(0, end));
  return list_of_texts(budget, std::move(parts));
}

Value split_lines(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("splitlines", arguments, {});
  budget.make(self.text()->size());
  return list_of_texts(budget, lines_of(*self.text()));
}

template <class Matches>
Value has_any(const char* name, const Arguments& arguments, const Matches& matches) {
  const Bound bound(name, arguments, {"affix"});
  if (bound.at(0) && bound.at(0)->list() != nullptr) {
    return boolean(std::ranges::any_of(bound.at(0)->list()->items, [&](const Value& one) {
      return one.text() != nullptr && matches(one.text()->bytes());
    }));
  }
  return boolean(matches(bound.text(0).bytes()));
}

Value starts_with(Budget& budget, const Value& self, const Arguments& arguments) {
  budget.step();
  return has_any("startswith", arguments,
                 [&](const std::string& affix) { return self.text()->bytes().starts_with(affix); });
}

Value ends_with(Budget& budget, const Value& self, const Arguments& arguments) {
  budget.step();
  return has_any("endswith", arguments,
                 [&](const std::string& affix) { return self.text()->bytes().ends_with(affix); });
}

Value without_prefix(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("removeprefix", arguments, {"prefix"});
  const std::string& prefix = bound.text(0).bytes();
  const bool has = self.text()->bytes().starts_with(prefix);
  return marked_text(budget, self.text()->slice(has ? prefix.size() : 0, self.text()->size()));
}

Value without_suffix(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("removesuffix", arguments, {"suffix"});
  const std::string& suffix = bound.text(0).bytes();
  const bool has = self.text()->bytes().ends_with(suffix);
  return marked_text(budget, self.text()->slice(0, self.text()->size() - (has ? suffix.size() : 0)));
}

Value replace_text(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"});
  return marked_text(budget, replaced(budget, *self.text(), bound.text(0), bound.text(1), bound.whole(2, -1)));
}

Value place_in(Budget& budget, const Value& self, const MarkedText& part, std::size_t found) {
  budget.search(self.text()->size(), part.size());
  if (found == std::string::npos) return whole(-1);
  return whole(static_cast<std::int64_t>(character_count(std::string_view(self.text()->bytes()).substr(0, found))));
}

Value find_first(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("find", arguments, {"sub"});
  return place_in(budget, self, bound.text(0), self.text()->bytes().find(bound.text(0).bytes()));
}

Value find_last(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("rfind", arguments, {"sub"});
  return place_in(budget, self, bound.text(0), self.text()->bytes().rfind(bound.text(0).bytes()));
}

Value index_in_text(Budget& budget, const Value& self, const Arguments& arguments) {
  const Value place = find_first(budget, self, arguments);
  if (*place.whole() < 0) throw Fault("index: expected a part of the string, got another string");
  return place;
}

Value count_in_text(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("count", arguments, {"sub"});
  if (bound.text(0).size() == 0) return whole(static_cast<std::int64_t>(character_count(self.text()->bytes())) + 1);
  return whole(static_cast<std::int64_t>(split(budget, *self.text(), &bound.text(0), -1).size()) - 1);
}

Value join_with(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("join", arguments, {"iterable"});
  MarkedText made;
  bool is_first = true;
  for (const Value& one : elements(budget, bound.need(0))) {
    if (one.text() == nullptr) throw Fault("join: expected strings, got " + kind_of(one));
    budget.make(one.text()->size() + self.text()->size());
    if (!is_first) made.append(*self.text());
    is_first = false;
    made.append(*one.text());
  }
  return marked_text(budget, std::move(made));
}

template <class Holds>
Value all_characters(Budget& budget, const Value& self, const Holds& holds) {
  const std::string& bytes = self.text()->bytes();
  budget.read(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const ReadCharacter character = read_character(bytes, at);
    if (!holds(character.value)) return boolean(false);
    at += character.length;
  }
  return boolean(!bytes.empty());
}

utf8proc_category_t category_of(char32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}
bool is_letter(char32_t character) {
  const utf8proc_category_t category = category_of(character);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(char32_t character) { return category_of(character) == UTF8PROC_CATEGORY_ND; }

Value are_digits(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("isdigit", arguments, {});
  return all_characters(budget, self, is_decimal);
}
Value are_letters(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("isalpha", arguments, {});
  return all_characters(budget, self, is_letter);
}
Value are_letters_or_digits(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("isalnum", arguments, {});
  return all_characters(budget, self, [](char32_t character) { return is_letter(character) || is_decimal(character); });
}
Value are_spaces(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("isspace", arguments, {});
  return all_characters(budget, self, is_python_space);
}

template <bool upper>
Value are_in_case(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound(upper ? "isupper" : "islower", arguments, {});
  const std::string& bytes = self.text()->bytes();
  budget.make(bytes.size());
  const bool has_letters = in_case(*self.text(), upper ? LetterCase::lower : LetterCase::upper).bytes() != bytes;
  const bool is_same = in_case(*self.text(), upper ? LetterCase::upper : LetterCase::lower).bytes() == bytes;
  return boolean(has_letters && is_same);
}

constexpr std::array<NamedMethod, 26> kOfTexts = {{
    {"strip", strip<Sides::both>},
    {"lstrip", strip<Sides::left>},
    {"rstrip", strip<Sides::right>},
    {"split", split_text},
    {"rsplit", split_from_right},
    {"splitlines", split_lines},
    {"startswith", starts_with},
    {"endswith", ends_with},
    {"removeprefix", without_prefix},
    {"removesuffix", without_suffix},
    {"upper", cased<LetterCase::upper>},
    {"lower", cased<LetterCase::lower>},
    {"title", cased<LetterCase::titled>},
    {"capitalize", cased<LetterCase::capitalized>},
    {"replace", replace_text},
    {"find", find_first},
    {"rfind", find_last},
    {"index", index_in_text},
    {"count", count_in_text},
    {"join", join_with},
    {"isdigit", are_digits},
    {"isalpha", are_letters},
    {"isalnum", are_letters_or_digits},
    {"isspace", are_spaces},
    {"isupper", are_in_case<true>},
    {"islower", are_in_case<false>},
}};

Value get_entry(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("get", arguments, {"key", "default"});
  const Value* found = find(budget, *self.dict(), bound.need(0));
  if (found != nullptr) return *found;
  return bound.at(1) ? *bound.at(1) : none();
}

Value entries_of(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("items", arguments, {});
  std::vector<Value> items;
  for (const auto& [key, value] : self.dict()->entries) {
    items.push_back(list_of(budget, {key, value}, ListKind::tuple));
  }
  return list_of(budget, std::move(items), ListKind::view);
}

Value keys_of(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("keys", arguments, {});
  return list_of(budget, elements(budget, self), ListKind::view);
}

Value values_of(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("values", arguments, {});
  std::vector<Value> items;
  for (const auto& [_, value] : self.dict()->entries) items.push_back(value);
  return list_of(budget, std::move(items), ListKind::view);
}

Value copy_of(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("copy", arguments, {});
  budget.step();
  return self;
}

[[noreturn]] Value refuse_change(Budget&, const Value& self, const Arguments&) {
  throw Fault("expected a call that changes nothing: templates may not change " + kind_of(self) +
              "; add to it with +, and keep what changes in a namespace");
}

constexpr std::array<NamedMethod, 10> kOfDicts = {{{"get", get_entry},
                                                   {"items", entries_of},
                                                   {"keys", keys_of},
                                                   {"values", values_of},
                                                   {"copy", copy_of},
                                                   {"update", refuse_change},
                                                   {"pop", refuse_change},
                                                   {"popitem", refuse_change},
                                                   {"setdefault", refuse_change},
                                                   {"clear", refuse_change}}};

Value index_in_list(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("index", arguments, {"value"});
  const std::vector<Value>& items = self.list()->items;
  for (std::size_t n = 0; n < items.size(); ++n) {
    if (equal(budget, items[n], bound.need(0))) return whole(static_cast<std::int64_t>(n));
  }
  throw Fault("index: expected an element of the list, got another value");
}

Value count_in_list(Budget& budget, const Value& self, const Arguments& arguments) {
  const Bound bound("count", arguments, {"value"});
  return whole(
      std::ranges::count_if(self.list()->items, [&](const Value& one) { return equal(budget, one, bound.need(0)); }));
}

constexpr std::array<NamedMethod, 10> kOfLists = {{{"index", index_in_list},
                                                   {"count", count_in_list},
                                                   {"copy", copy_of},
                                                   {"append", refuse_change},
                                                   {"extend", refuse_change},
                                                   {"insert", refuse_change},
                                                   {"pop", refuse_change},
                                                   {"remove", refuse_change},
                                                   {"reverse", refuse_change},
                                                   {"sort", refuse_change}}};

Value cycle(Budget& budget, const Value& self, const Arguments& arguments) {
  budget.step();
  if (arguments.by_place.empty()) throw Fault("cycle: expected values to choose from, got none");
  return arguments.by_place[self.loop()->at % arguments.by_place.size()];
}

constexpr std::array<NamedMethod, 1> kOfLoops = {{{"cycle", cycle}}};

Method method_of(const Value& value, std::string_view name) {
  const auto in = [&](const auto& methods) -> Method {
    const auto found = std::ranges::find(methods, name, &NamedMethod::name);
    return found == methods.end() ? nullptr : found->call;
  };
  if (value.text() != nullptr) return in(kOfTexts);
  if (value.dict() != nullptr) return in(kOfDicts);
  if (value.loop() != nullptr) return in(kOfLoops);
  const bool is_list = value.list() != nullptr && value.list()->kind == ListKind::list;
  return is_list ? in(kOfLists) : nullptr;
}

}  // namespace

bool has_method(const Value& value, std::string_view name) { return method_of(value, name) != nullptr; }

Value call_method(Budget& budget, const Value& value, std::string_view name, const Arguments& arguments) {
  return method_of(value, name)(budget, value, arguments);
}

}  // namespace qkv::text::jinja
