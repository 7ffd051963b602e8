// What a value holds: what a `for` goes over, and what `in` looks through.
#include <algorithm>

#include "text/chat_template/letters.h"
#include "text/chat_template/value.h"

namespace qkv::text::jinja {

std::vector<Value> elements(Budget& budget, const Value& value) {
  if (value.is_undefined()) return {};
  if (const List* list = value.list()) {
    budget.make(list->items.size() * sizeof(Value));
    return list->items;
  }
  std::vector<Value> all;
  if (const Dict* dict = value.dict()) {
    budget.make(dict->entries.size() * sizeof(Value));
    for (const auto& [key, _] : dict->entries) all.push_back(key);
    return all;
  }
  if (const MarkedText* text = value.text()) {
    const std::vector<std::size_t> begins = character_begins(text->bytes());
    for (std::size_t n = 0; n + 1 < begins.size(); ++n) {
      all.push_back(marked_text(budget, text->slice(begins[n], begins[n + 1])));
    }
    return all;
  }
  throw Fault("expected a list, a dict or a string to go over, got " + kind_of(value));
}

bool contains(Budget& budget, const Value& whole, const Value& part) {
  if (const MarkedText* text = whole.text()) {
    if (part.text() == nullptr) throw Fault("expected a string to look for in a string, got " + kind_of(part));
    budget.search(text->size(), part.text()->size());
    return text->bytes().find(part.text()->bytes()) != std::string::npos;
  }
  if (const Dict* dict = whole.dict()) return find(budget, *dict, part) != nullptr;
  if (whole.is_undefined()) return false;
  const List* list = whole.list();
  if (list == nullptr) throw Fault("expected a list, a dict or a string on the right of in, got " + kind_of(whole));
  return std::ranges::any_of(list->items, [&](const Value& item) { return equal(budget, item, part); });
}

}  // namespace qkv::text::jinja
