// Values of a template: those of Python that templates use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/chat_template/budget.h"
#include "text/chat_template/marked_text.h"

namespace qkv::text::jinja {

struct Callable;
struct Dict;
struct List;
struct Loop;
struct Namespace;
struct Scope;
struct Statement;

/// Prints nothing; to look into it is an error, which says why it is undefined.
struct Undefined {
  std::string why;
};
struct None {};

struct Value {
  using Text = std::shared_ptr<const MarkedText>;
  std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const List>,
               std::shared_ptr<const Dict>, std::shared_ptr<Namespace>, std::shared_ptr<const Callable>,
               std::shared_ptr<const Loop>>
      data;

  template <class T>
  [[nodiscard]] const T* get() const noexcept {
    return std::get_if<T>(&data);
  }
  /// The text, list, dict …; nullptr if the value is another.
  [[nodiscard]] const MarkedText* text() const noexcept { return pointed<const MarkedText>(); }
  [[nodiscard]] const List* list() const noexcept { return pointed<const List>(); }
  [[nodiscard]] const Dict* dict() const noexcept { return pointed<const Dict>(); }
  [[nodiscard]] Namespace* name_space() const noexcept { return pointed<Namespace>(); }
  [[nodiscard]] const Callable* callable() const noexcept { return pointed<const Callable>(); }
  [[nodiscard]] const Loop* loop() const noexcept { return pointed<const Loop>(); }

  [[nodiscard]] bool is_undefined() const noexcept { return get<Undefined>() != nullptr; }
  [[nodiscard]] bool is_none() const noexcept { return get<None>() != nullptr; }
  /// A whole number, or a bool, which Python counts as one.
  [[nodiscard]] std::optional<std::int64_t> whole() const noexcept;
  [[nodiscard]] std::optional<double> number() const noexcept;

 private:
  template <class T>
  [[nodiscard]] T* pointed() const noexcept {
    const auto* pointer = get<std::shared_ptr<T>>();
    return pointer == nullptr ? nullptr : pointer->get();
  }
};

/// A view has a length and no items to index, a generator has neither, and is always true.
enum class ListKind : std::uint8_t { list, tuple, view, generator };

struct List {
  std::vector<Value> items;
  ListKind kind = ListKind::list;
  std::size_t depth = 1;
};
struct Dict {
  std::vector<std::pair<Value, Value>> entries;  // in the order of their first setting
  std::size_t depth = 1;
};
struct Namespace {
  std::vector<std::pair<std::string, Value>> entries;
};
/// `loop`: the place in the items of a `for`.
struct Loop {
  std::shared_ptr<const List> items;
  std::size_t at = 0;
};
/// A macro, a method of `self`, or a global function.
struct Callable {
  enum class Kind : std::uint8_t { macro, method, global };
  Kind kind = Kind::global;
  std::string name;
  Value self = {};
  const Statement* macro = nullptr;
  std::weak_ptr<Scope> scope = {};
};

[[nodiscard]] Value undefined(std::string why);
[[nodiscard]] Value none();
[[nodiscard]] Value boolean(bool value);
[[nodiscard]] Value whole(std::int64_t value);
[[nodiscard]] Value real(double value);
[[nodiscard]] Value plain_text(Budget& budget, std::string text);
[[nodiscard]] Value marked_text(Budget& budget, MarkedText text);
/// Both throw Fault if what they hold is kDeepestValue deep.
[[nodiscard]] Value list_of(Budget& budget, std::vector<Value> items, ListKind kind = ListKind::list);
[[nodiscard]] Value dict_of(Budget& budget, std::vector<std::pair<Value, Value>> entries);

/// "a list", for errors.
[[nodiscard]] std::string kind_of(const Value& value);
[[nodiscard]] bool is_true(const Value& value);
[[nodiscard]] bool equal(Budget& budget, const Value& a, const Value& b);
/// Throws Fault for values that have no order.
[[nodiscard]] bool less(Budget& budget, const Value& a, const Value& b);
[[nodiscard]] bool contains(Budget& budget, const Value& whole, const Value& part);
[[nodiscard]] const Value* find(Budget& budget, const Dict& dict, const Value& key);
void set(Budget& budget, std::vector<std::pair<Value, Value>>& entries, const Value& key, const Value& value);

/// What a `for` goes over: elements, keys, characters; nothing of undefined. Throws Fault for other values.
[[nodiscard]] std::vector<Value> elements(Budget& budget, const Value& value);
/// Python's str() and repr().
[[nodiscard]] MarkedText printed(Budget& budget, const Value& value);
void append_repr(Budget& budget, const Value& value, MarkedText& out);
[[nodiscard]] std::string printed(double value);

}  // namespace qkv::text::jinja
