#include "text/chat_template/value.h"

#include <algorithm>

namespace qkv::text::jinja {
namespace {

std::size_t depth_of(const Value& value) {
  if (const List* list = value.list()) return list->depth;
  if (const Dict* dict = value.dict()) return dict->depth;
  if (const Loop* loop = value.loop()) return loop->items->depth + 1;
  if (const Callable* callable = value.callable()) return depth_of(callable->self) + 1;
  return 0;
}

std::size_t require_shallow(std::size_t depth) {
  if (depth >= kDeepestValue) throw Fault("expected lists and dicts that are not deeply nested");
  return depth + 1;
}

bool equal_lists(Budget& budget, const List& a, const List& b) {
  return a.kind == b.kind && std::ranges::equal(a.items, b.items, [&](const Value& one, const Value& other) {
           return equal(budget, one, other);
         });
}

bool equal_dicts(Budget& budget, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  return std::ranges::all_of(a.entries, [&](const auto& entry) {
    const Value* other = find(budget, b, entry.first);
    return other != nullptr && equal(budget, entry.second, *other);
  });
}

}  // namespace

std::optional<std::int64_t> Value::whole() const noexcept {
  if (const auto* number = get<std::int64_t>()) return *number;
  if (const auto* truth = get<bool>()) return *truth ? 1 : 0;
  return std::nullopt;
}

std::optional<double> Value::number() const noexcept {
  if (const auto* number = get<double>()) return *number;
  if (const auto number = whole()) return static_cast<double>(*number);
  return std::nullopt;
}

Value undefined(std::string why) { return {Undefined{std::move(why)}}; }
Value none() { return {None{}}; }
Value boolean(bool value) { return {value}; }
Value whole(std::int64_t value) { return {value}; }
Value real(double value) { return {value}; }

Value plain_text(Budget& budget, std::string text) { return marked_text(budget, MarkedText(std::move(text))); }

Value marked_text(Budget& budget, MarkedText text) {
  budget.make(text.size() + sizeof(MarkedText) + text.marks().size() * sizeof(Mark));
  return {std::make_shared<const MarkedText>(std::move(text))};
}

Value list_of(Budget& budget, std::vector<Value> items, ListKind kind) {
  budget.make(sizeof(List) + items.size() * sizeof(Value));
  std::size_t depth = 0;
  for (const Value& item : items) depth = std::max(depth, depth_of(item));
  return {std::make_shared<const List>(List{std::move(items), kind, require_shallow(depth)})};
}

Value dict_of(Budget& budget, std::vector<std::pair<Value, Value>> entries) {
  budget.make(sizeof(Dict) + entries.size() * 2 * sizeof(Value));
  std::size_t depth = 0;
  for (const auto& [key, value] : entries) depth = std::max({depth, depth_of(key), depth_of(value)});
  return {std::make_shared<const Dict>(Dict{std::move(entries), require_shallow(depth)})};
}

std::string kind_of(const Value& value) {
  if (const List* list = value.list()) {
    if (list->kind == ListKind::list) return "a list";
    if (list->kind == ListKind::tuple) return "a tuple";
    return list->kind == ListKind::view ? "a view of a dict" : "a generator (add the filter list)";
  }
  if (value.is_undefined()) return "an undefined value";
  if (value.is_none()) return "none";
  if (value.get<bool>() != nullptr) return "a boolean";
  if (value.get<std::int64_t>() != nullptr) return "an integer";
  if (value.get<double>() != nullptr) return "a float";
  if (value.text() != nullptr) return "a string";
  if (value.dict() != nullptr) return "a dict";
  if (value.name_space() != nullptr) return "a namespace";
  return value.loop() != nullptr ? "a loop" : "a function";
}

bool is_true(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (const auto number = value.number()) return *number != 0;
  if (const MarkedText* text = value.text()) return text->size() > 0;
  if (const List* list = value.list()) return list->kind == ListKind::generator || !list->items.empty();
  if (const Dict* dict = value.dict()) return !dict->entries.empty();
  return true;
}

bool equal(Budget& budget, const Value& a, const Value& b) {
  budget.step();
  if (a.whole() && b.whole()) return *a.whole() == *b.whole();
  if (a.number() && b.number()) return *a.number() == *b.number();
  if (a.data.index() != b.data.index()) return false;
  if (const MarkedText* text = a.text()) {
    budget.read(text->size());
    return text->bytes() == b.text()->bytes();
  }
  if (a.list() != nullptr) return equal_lists(budget, *a.list(), *b.list());
  if (a.dict() != nullptr) return equal_dicts(budget, *a.dict(), *b.dict());
  if (a.name_space() != nullptr) return a.name_space() == b.name_space();
  if (a.callable() != nullptr) return a.callable() == b.callable();
  return a.loop() == b.loop();  // both null: undefined, or none
}

bool less(Budget& budget, const Value& a, const Value& b) {
  budget.step();
  if (a.whole() && b.whole()) return *a.whole() < *b.whole();
  if (a.number() && b.number()) return *a.number() < *b.number();
  if (a.text() != nullptr && b.text() != nullptr) {
    budget.read(std::min(a.text()->size(), b.text()->size()));
    return a.text()->bytes() < b.text()->bytes();
  }
  if (a.list() != nullptr && b.list() != nullptr && a.list()->kind == b.list()->kind) {
    const auto& left = a.list()->items;
    const auto& right = b.list()->items;
    for (std::size_t n = 0; n < std::min(left.size(), right.size()); ++n) {
      if (!equal(budget, left[n], right[n])) return less(budget, left[n], right[n]);
    }
    return left.size() < right.size();
  }
  throw Fault("expected two numbers or two strings to compare, got " + kind_of(a) + " and " + kind_of(b));
}

const Value* find(Budget& budget, const Dict& dict, const Value& key) {
  for (const auto& [name, value] : dict.entries) {
    if (equal(budget, name, key)) return &value;
  }
  return nullptr;
}

void set(Budget& budget, std::vector<std::pair<Value, Value>>& entries, const Value& key, const Value& value) {
  const bool is_changeable = key.dict() != nullptr || (key.list() != nullptr && key.list()->kind == ListKind::list);
  if (is_changeable) throw Fault("expected a key that does not change, got " + kind_of(key));
  for (auto& [name, old] : entries) {
    if (!equal(budget, name, key)) continue;
    old = value;
    return;
  }
  entries.emplace_back(key, value);
}

}  // namespace qkv::text::jinja
