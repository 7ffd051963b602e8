// Checks of arguments.
// Messages are made only on failure: a valid call allocates none.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "qkv/error.h"
#include "qkv/tensor.h"

namespace qkv {

class Check {
 public:
  explicit Check(std::string_view function) : function_(function) {}

  [[nodiscard]] std::string_view function() const { return function_; }

  /// Throws InvalidArgument unless it holds. `expected` and `got` are texts, numbers, shapes, dtypes, or functions that
  /// make a text.
  template <class Expected, class Got>
  void that(bool holds, std::string_view argument, const Expected& expected, const Got& got) const {
    if (!holds) throw InvalidArgument(function_, argument, text_of(expected), text_of(got));
  }

 private:
  template <class T>
  static std::string text_of(const T& value) {
    if constexpr (std::is_invocable_v<T>) {
      return value();
    } else if constexpr (std::is_same_v<T, Dims>) {
      return value.to_string();
    } else if constexpr (std::is_same_v<T, DType>) {
      return std::string(name_of(value));
    } else {
      return fmt::format("{}", value);
    }
  }

  std::string_view function_;
};

}  // namespace qkv
