// What a question says to whoever waits for its answer.
#pragma once

#include <functional>
#include <string>

namespace qkv {

/// Either may be empty.
struct Saying {
  std::function<void(const std::string& what)> caution = {};  // what a reader of the answer has to know
  std::function<void(const std::string& what)> doing = {};    // of work that takes long: what is done now

  void careful(const std::string& what) const {
    if (caution) caution(what);
  }
};

/// For whoever waits: "12 s", "3 min 05 s", rounded up.
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace qkv
