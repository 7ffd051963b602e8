// Requests of the command in a folder of files that it may read.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "cli/effects.h"

namespace qkv::tests {

struct Reply {
  int code = 0;
  std::string out, err;
  std::map<std::string, std::string> files;  // that were written, or changed; "gone" of those that are no longer there
  bool operator==(const Reply&) const = default;
};

/// Works in a folder of its own, with a hub, which the tests of a process share.
class Asked : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::current_path(home_); }

  /// What a request gives, in the folder as it was at first; times are left out.
  static Reply reply_of(const std::string& command, const Words& words);
  /// How many threads it starts.
  static int threads_of(const std::string& command, const Words& words);

 private:
  const std::filesystem::path home_ = std::filesystem::current_path();
};

}  // namespace qkv::tests
