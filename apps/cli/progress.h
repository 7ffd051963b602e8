// One line on standard error that says what is going on, where somebody looks at it.
#pragma once

#include <chrono>
#include <string>

namespace qkv::cli {

/// show() does nothing where standard error is not a terminal. The line is cleared when this goes.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void show(const std::string& text);

  /// Elsewhere than on a terminal: writes a line that stays, of what takes more than a few seconds.
  void note(const std::string& text);

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool shown_ = false;
  bool terminal_ = false;
};

}  // namespace qkv::cli
