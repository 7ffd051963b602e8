// Filters of lists and dicts.
#include <algorithm>
#include <array>

#include "text/chat_template/filters.h"
#include "text/chat_template/letters.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/operators.h"

namespace qkv::text::jinja {
namespace {

struct ListFilter {
  std::string_view name;
  Filter call;
};

Value fallback(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("default", arguments, {"default_value", "boolean"});
  if (!value.is_undefined() && !(bound.truth(1) && !is_true(value))) return value;
  return bound.at(0) ? *bound.at(0) : plain_text(budget, "");
}

Value length(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("length", arguments, {});
  if (const MarkedText* text = value.text()) {
    budget.read(text->size());
    return whole(static_cast<std::int64_t>(character_count(text->bytes())));
  }
  if (value.is_undefined()) return whole(0);
  if (const Dict* dict = value.dict()) return whole(static_cast<std::int64_t>(dict->entries.size()));
  const List* list = value.loop() != nullptr ? value.loop()->items.get() : value.list();
  if (list == nullptr || list->kind == ListKind::generator) {
    throw Fault("length: expected a list, a dict or a string, got " + kind_of(value));
  }
  return whole(static_cast<std::int64_t>(list->items.size()));
}

Value first(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("first", arguments, {});
  const std::vector<Value> items = elements(budget, value);
  return items.empty() ? undefined("there is no first element") : items.front();
}

Value last(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("last", arguments, {});
  const std::vector<Value> items = elements(budget, value);
  return items.empty() ? undefined("there is no last element") : items.back();
}

Value as_list(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("list", arguments, {});
  return list_of(budget, elements(budget, value));
}

Value items_of(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("items", arguments, {});
  std::vector<Value> items;
  if (!value.is_undefined() && value.dict() == nullptr) {
    throw Fault("items: expected a dict, got " + kind_of(value));
  }
  if (value.dict() != nullptr) {
    for (const auto& [key, one] : value.dict()->entries) {
      items.push_back(list_of(budget, {key, one}, ListKind::tuple));
    }
  }
  return list_of(budget, std::move(items), ListKind::generator);
}

// A path such as "function.name", each part a member or an index.
Value at_path(Budget& budget, Value value, const Value& path) {
  if (path.text() == nullptr) return item(budget, value, path);
  std::string_view rest = path.text()->bytes();
  for (;;) {
    const std::size_t dot = rest.find('.');
    const std::string part(rest.substr(0, dot));
    const bool is_index = !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    constexpr std::size_t kMostDigits = 9;
    if (is_index && part.size() <= kMostDigits) {
      std::int64_t index = 0;
      for (const char c : part) index = index * 10 + (c - '0');
      value = item(budget, value, whole(index));
    } else {
      value = item(budget, value, plain_text(budget, part));
    }
    if (dot == std::string_view::npos) return value;
    rest.remove_prefix(dot + 1);
  }
}

Value join(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("join", arguments, {"d", "attribute"});
  const MarkedText between = bound.at(0) ? printed(budget, *bound.at(0)) : MarkedText();
  MarkedText made;
  bool is_first = true;
  for (const Value& one : elements(budget, value)) {
    const MarkedText text = printed(budget, bound.at(1) ? at_path(budget, one, *bound.at(1)) : one);
    budget.make(text.size() + between.size());
    if (!is_first) made.append(between);
    is_first = false;
    made.append(text);
  }
  return marked_text(budget, std::move(made));
}

Value reverse(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("reverse", arguments, {});
  if (value.is_undefined()) throw Fault("reverse: expected a list or a string, but " + value.get<Undefined>()->why);
  std::vector<Value> items = elements(budget, value);
  std::ranges::reverse(items);
  if (value.text() == nullptr) return list_of(budget, std::move(items), ListKind::generator);
  MarkedText made;
  for (const Value& one : items) made.append(*one.text());
  return marked_text(budget, std::move(made));
}

// Without regard to case, unless that is asked for.
Value without_case(Budget& budget, const Value& value, bool is_case_sensitive) {
  if (is_case_sensitive || value.text() == nullptr) return value;
  return marked_text(budget, in_case(*value.text(), LetterCase::lower));
}

struct Keyed {
  Value key;
  Value value;
};
std::vector<Keyed> keyed(Budget& budget, const Value& value, bool is_case_sensitive,
                         const std::optional<Value>& attribute) {
  std::vector<Keyed> all;
  for (const Value& one : elements(budget, value)) {
    const bool has_path = attribute && !attribute->is_none();
    all.push_back({without_case(budget, has_path ? at_path(budget, one, *attribute) : one, is_case_sensitive), one});
  }
  return all;
}

// A sort that keeps the order of what is equal: ties by place.
std::vector<Value> in_order(Budget& budget, const std::vector<Keyed>& all, bool is_reversed) {
  std::vector<std::size_t> places(all.size());
  for (std::size_t n = 0; n < places.size(); ++n) places[n] = n;
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
    const std::size_t low = is_reversed ? b : a;
    const std::size_t high = is_reversed ? a : b;
    if (less(budget, all[low].key, all[high].key)) return true;
    return !less(budget, all[high].key, all[low].key) && a < b;
  });
  std::vector<Value> sorted;
  for (const std::size_t place : places) sorted.push_back(all[place].value);
  return sorted;
}

Value sort(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  return list_of(budget, in_order(budget, keyed(budget, value, bound.truth(1), bound.at(2)), bound.truth(0)));
}

Value sort_dict(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  if (value.dict() == nullptr) throw Fault("dictsort: expected a dict, got " + kind_of(value));
  const bool is_by_value = bound.at(1) && bound.text(1).bytes() == "value";
  const Value pairs = items_of(budget, value, {});
  return list_of(budget,
                 in_order(budget, keyed(budget, pairs, bound.truth(0), whole(is_by_value ? 1 : 0)), bound.truth(2)));
}

Value unique(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("unique", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> seen;
  std::vector<Value> items;
  for (const Keyed& one : keyed(budget, value, bound.truth(0), bound.at(1))) {
    if (std::ranges::any_of(seen, [&](const Value& key) { return equal(budget, key, one.key); })) continue;
    seen.push_back(one.key);
    items.push_back(one.value);
  }
  return list_of(budget, std::move(items), ListKind::generator);
}

template <bool greatest>
Value extreme(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound(greatest ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  const std::vector<Keyed> all = keyed(budget, value, bound.truth(0), bound.at(1));
  if (all.empty()) return undefined("there is no element");
  const Keyed* best = all.data();
  for (const Keyed& one : all) {
    if (greatest ? less(budget, best->key, one.key) : less(budget, one.key, best->key)) best = &one;
  }
  return best->value;
}

Value sum_of(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("sum", arguments, {"attribute", "start"});
  Value total = bound.at(1) ? *bound.at(1) : whole(0);
  for (const Value& one : elements(budget, value)) {
    const bool has_path = bound.at(0) && !bound.at(0)->is_none();
    total = arithmetic(budget, "+", total, has_path ? at_path(budget, one, *bound.at(0)) : one);
  }
  return total;
}

Value attribute_of(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("attr", arguments, {"name"});
  const std::string& name = bound.text(0).bytes();
  if (value.dict() != nullptr && !has_method(value, name)) return undefined("a dict has no attribute '" + name + "'");
  return member(budget, value, name);
}

// The name of a filter or test that stands as the argument `place`, and the arguments behind it.
struct Inner {
  std::string name;
  Arguments arguments;
};
Inner inner_of(const char* function, const Arguments& arguments, std::size_t place) {
  const MarkedText* name = arguments.by_place[place].text();
  if (name == nullptr) throw Fault(std::string(function) + ": expected the name of a filter or a test as a string");
  Inner inner{name->bytes(), {{}, arguments.by_name}};
  inner.arguments.by_place.assign(arguments.by_place.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                                  arguments.by_place.end());
  return inner;
}

Value map(Budget& budget, const Value& value, const Arguments& arguments) {
  std::vector<Value> items;
  if (arguments.by_place.empty()) {
    const Bound bound("map", arguments, {"attribute", "default"});
    const Value path = bound.need(0);
    for (const Value& one : elements(budget, value)) {
      const Value found = at_path(budget, one, path);
      items.push_back(found.is_undefined() && bound.at(1) ? *bound.at(1) : found);
    }
  } else {
    const Inner inner = inner_of("map", arguments, 0);
    for (const Value& one : elements(budget, value)) {
      items.push_back(filtered(budget, inner.name, one, inner.arguments));
    }
  }
  return list_of(budget, std::move(items), ListKind::generator);
}

template <bool kept, bool by_attribute>
Value chosen(Budget& budget, const Value& value, const Arguments& arguments) {
  constexpr const char* kName =
      kept ? (by_attribute ? "selectattr" : "select") : (by_attribute ? "rejectattr" : "reject");
  constexpr std::size_t kPlace = by_attribute ? 1 : 0;
  if (by_attribute && arguments.by_place.empty()) {
    throw Fault(std::string(kName) + ": expected the name of an attribute, got no argument");
  }
  const bool has_test = arguments.by_place.size() > kPlace;
  const Inner inner = has_test ? inner_of(kName, arguments, kPlace) : Inner{};
  std::vector<Value> items;
  for (const Value& one : elements(budget, value)) {
    const Value looked_at = by_attribute ? at_path(budget, one, arguments.by_place[0]) : one;
    const bool is_it = has_test ? is_so(budget, inner.name, looked_at, inner.arguments) : is_true(looked_at);
    if (is_it == kept) items.push_back(one);
  }
  return list_of(budget, std::move(items), ListKind::generator);
}

constexpr std::array<ListFilter, 22> kListFilters = {{
    {"default", fallback},
    {"d", fallback},
    {"length", length},
    {"count", length},
    {"first", first},
    {"last", last},
    {"list", as_list},
    {"items", items_of},
    {"join", join},
    {"reverse", reverse},
    {"sort", sort},
    {"dictsort", sort_dict},
    {"unique", unique},
    {"min", extreme<false>},
    {"max", extreme<true>},
    {"sum", sum_of},
    {"attr", attribute_of},
    {"map", map},
    {"select", chosen<true, false>},
    {"reject", chosen<false, false>},
    {"selectattr", chosen<true, true>},
    {"rejectattr", chosen<false, true>},
}};

}  // namespace

Filter filter_of_lists(std::string_view name) {
  const auto found = std::ranges::find(kListFilters, name, &ListFilter::name);
  return found == kListFilters.end() ? nullptr : found->call;
}

}  // namespace qkv::text::jinja
