// One line on standard error that says what is going on, where somebody looks at it.
#pragma once

#include <string>

namespace qkv::cli {

/// Does nothing where standard error is not a terminal. The line is cleared when this goes.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void show(const std::string& text);

 private:
  bool shown_ = false;
  bool terminal_ = false;
};

}  // namespace qkv::cli
