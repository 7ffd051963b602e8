#include "core/machine_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace qkv::machine_memory_test {
namespace {

TEST(MachineMemory, IsNoMoreThanWhatAProcessMayHave) {
  constexpr std::uint64_t kLimit = std::uint64_t{3} << 28U;
  ASSERT_GT(core::machine_memory(), kLimit);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit addresses{.rlim_cur = kLimit, .rlim_max = kLimit};
    const bool is_set = ::setrlimit(RLIMIT_AS, &addresses) == 0;
    ::_exit(is_set && core::machine_memory() == kLimit ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace qkv::machine_memory_test
