#include "qkv/threads.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv::threads_test {
namespace {

TEST(Threads, AreAtLeastOne) { EXPECT_GE(threads(), 1); }

TEST(Threads, CanBeSet) {
  const int before = threads();
  set_threads(3);
  EXPECT_EQ(threads(), 3);
  set_threads(before);
  EXPECT_EQ(threads(), before);
}

TEST(Threads, RefuseLessThanOne) {
  const int before = threads();
  EXPECT_EQ(error_message([] { set_threads(0); }),
            "set_threads: count: expected a whole number from 1 to 65536, got 0");
  EXPECT_EQ(error_message([] { set_threads(-2); }),
            "set_threads: count: expected a whole number from 1 to 65536, got -2");
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace qkv::threads_test
