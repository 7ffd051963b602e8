#include <algorithm>

#include "text/chat_template/letters.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/operators.h"

namespace qkv::text::jinja {
namespace {

std::string name_of_kind(const Value& value) {
  if (value.dict() != nullptr) return "dict object";
  if (value.text() != nullptr) return "str object";
  return kind_of(value);
}

Value of_loop(const Loop& loop, const std::string& name) {
  const std::vector<Value>& items = loop.items->items;
  const auto at = static_cast<std::int64_t>(loop.at);
  const auto size = static_cast<std::int64_t>(items.size());
  if (name == "index") return whole(at + 1);
  if (name == "index0") return whole(at);
  if (name == "revindex") return whole(size - at);
  if (name == "revindex0") return whole(size - at - 1);
  if (name == "first") return boolean(at == 0);
  if (name == "last") return boolean(at + 1 == size);
  if (name == "length") return whole(size);
  if (name == "depth") return whole(1);  // greater only in recursive loops
  if (name == "depth0") return whole(0);
  if (name == "previtem") return at > 0 ? items[loop.at - 1] : undefined("there is no previous item");
  if (name == "nextitem") return at + 1 < size ? items[loop.at + 1] : undefined("there is no next item");
  return undefined("a loop has no '" + name + "'");
}

// The place of an index that may count from the end; `size` if there is none.
std::size_t place_of(std::int64_t index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (index >= count || index < -count) return size;
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

struct Bounds {
  std::int64_t at;
  std::int64_t end;
  std::int64_t step;
};

std::int64_t bound_of(const Value& value, std::int64_t otherwise, std::int64_t size, std::int64_t lowest,
                      std::int64_t highest) {
  if (value.is_none()) return otherwise;
  const auto given = value.whole();
  if (!given) throw Fault("expected an integer or none as bound of a slice, got " + kind_of(value));
  return std::clamp(*given < 0 ? *given + size : *given, lowest, highest);
}

Bounds bounds_of(std::size_t count, const Value& start, const Value& stop, const Value& step) {
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t by = step.is_none() ? 1 : step.whole().value_or(0);
  if (by == 0) throw Fault("expected an integer other than 0 as step of a slice");
  const std::int64_t lowest = by > 0 ? 0 : -1;
  const std::int64_t highest = by > 0 ? size : size - 1;
  return {bound_of(start, by > 0 ? lowest : highest, size, lowest, highest),
          bound_of(stop, by > 0 ? highest : lowest, size, lowest, highest), std::clamp(by, -size - 1, size + 1)};
}

bool goes_on(const Bounds& bounds, std::int64_t at) { return bounds.step > 0 ? at < bounds.end : at > bounds.end; }

}  // namespace

Value member(Budget& budget, const Value& value, const std::string& name) {
  if (const auto* none = value.get<Undefined>()) {
    throw Fault("expected a value whose member '" + name + "' is asked for, but " + none->why);
  }
  if (value.loop() != nullptr && name != "cycle") return of_loop(*value.loop(), name);
  if (const Namespace* names = value.name_space()) {
    const auto found = std::ranges::find(names->entries, name, &std::pair<std::string, Value>::first);
    return found == names->entries.end() ? undefined("the namespace has no '" + name + "'") : found->second;
  }
  if (has_method(value, name)) {
    budget.make(sizeof(Callable));
    return {std::make_shared<const Callable>(Callable{Callable::Kind::method, name, value})};
  }
  if (const Dict* dict = value.dict()) {
    if (const Value* found = find(budget, *dict, plain_text(budget, name))) return *found;
  }
  return undefined("'" + name_of_kind(value) + "' has no attribute '" + name + "'");
}

Value item(Budget& budget, const Value& value, const Value& key) {
  if (const auto* none = value.get<Undefined>()) throw Fault("expected a value to look into, but " + none->why);
  if (const Dict* dict = value.dict()) {
    if (const Value* found = find(budget, *dict, key)) return *found;
  }
  if (const MarkedText* name = key.text()) return member(budget, value, name->bytes());
  const auto index = key.whole();
  const List* list = value.list();
  if (index && list != nullptr && (list->kind == ListKind::list || list->kind == ListKind::tuple)) {
    const std::size_t place = place_of(*index, list->items.size());
    if (place < list->items.size()) return list->items[place];
  }
  if (const MarkedText* text = value.text(); text != nullptr && index) {
    budget.read(text->size());
    const std::vector<std::size_t> begins = character_begins(text->bytes());
    const std::size_t place = place_of(*index, begins.size() - 1);
    if (place + 1 < begins.size()) return marked_text(budget, text->slice(begins[place], begins[place + 1]));
  }
  return undefined(name_of_kind(value) + " has no such element");
}

Value slice(Budget& budget, const Value& value, const Value& start, const Value& stop, const Value& step) {
  if (const MarkedText* text = value.text()) {
    budget.read(text->size());
    const std::vector<std::size_t> begins = character_begins(text->bytes());
    const Bounds bounds = bounds_of(begins.size() - 1, start, stop, step);
    MarkedText part;
    for (std::int64_t at = bounds.at; goes_on(bounds, at); at += bounds.step) {
      const auto place = static_cast<std::size_t>(at);
      part.append(*text, begins[place], begins[place + 1]);
    }
    return marked_text(budget, std::move(part));
  }
  const List* list = value.list();
  if (list == nullptr || list->kind == ListKind::view || list->kind == ListKind::generator) {
    if (const auto* none = value.get<Undefined>()) throw Fault("expected a value to slice, but " + none->why);
    throw Fault("expected a list or a string to slice, got " + kind_of(value));
  }
  const Bounds bounds = bounds_of(list->items.size(), start, stop, step);
  std::vector<Value> items;
  for (std::int64_t at = bounds.at; goes_on(bounds, at); at += bounds.step) {
    items.push_back(list->items[static_cast<std::size_t>(at)]);
  }
  return list_of(budget, std::move(items), list->kind);
}

}  // namespace qkv::text::jinja
