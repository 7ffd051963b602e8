// What a function, a method, a filter or a test is called with.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat_template/value.h"

namespace qkv::text::jinja {

struct Arguments {
  std::vector<Value> by_place;
  std::vector<std::pair<std::string, Value>> by_name;
};

/// The arguments of `function` under the names of its parameters; nullopt for one that is not given. Throws Fault for
/// more of them, for other names, and for one that is given twice.
class Bound {
 public:
  Bound(std::string_view function, const Arguments& arguments, std::initializer_list<std::string_view> parameters);

  [[nodiscard]] const std::optional<Value>& at(std::size_t place) const { return values_[place]; }
  [[nodiscard]] Value need(std::size_t place) const;
  [[nodiscard]] const MarkedText& text(std::size_t place) const;
  [[nodiscard]] std::int64_t whole(std::size_t place, std::int64_t otherwise) const;
  [[nodiscard]] bool truth(std::size_t place) const { return values_[place] && is_true(*values_[place]); }

 private:
  [[noreturn]] void fail(std::size_t place, std::string_view expected) const;

  std::string function_;
  std::vector<std::string_view> parameters_;
  std::vector<std::optional<Value>> values_;
};

}  // namespace qkv::text::jinja
