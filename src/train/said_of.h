// What another function says of its argument, said of a setting of the run.
#pragma once

#include <string>
#include <string_view>

#include "qkv/error.h"

namespace qkv::training {

/// Throws InvalidArgument("train", setting, …) with what was expected and what came.
[[noreturn]] inline void say_of(std::string_view setting, const InvalidArgument& error) {
  constexpr std::string_view kExpected = ": expected ";
  constexpr std::string_view kGot = ", got ";
  const std::string text = error.what();
  const std::size_t begin = text.find(kExpected) + kExpected.size();
  const std::size_t end = text.rfind(kGot);
  throw InvalidArgument("train", setting, text.substr(begin, end - begin), text.substr(end + kGot.size()));
}

/// Runs `body`, which reads this setting.
template <class Body>
auto of_setting(std::string_view setting, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    say_of(setting, error);
  }
}

}  // namespace qkv::training
