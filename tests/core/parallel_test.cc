#include "core/parallel.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace qkv::core::parallel_test {
namespace {

using testing::Each;
using testing::Ge;

std::vector<int> times_run(int threads, std::int64_t tasks) {
  std::vector<int> times(static_cast<std::size_t>(tasks));
  parallel_for(threads, tasks, [&](int, std::int64_t task) { ++times[static_cast<std::size_t>(task)]; });
  return times;
}

TEST(ParallelFor, RunsEachTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::int64_t tasks : {0, 1, 2, 7, 1000}) EXPECT_THAT(times_run(threads, tasks), Each(1));
  }
}

TEST(ParallelFor, NeverRunsTwoTasksOfAWorkerAtOnce) {
  constexpr int kThreads = 4;
  std::array<std::atomic<int>, kThreads> busy{};
  std::atomic<int> faults = 0;
  parallel_for(kThreads, 2000, [&](int worker, std::int64_t) {
    if (worker < 0 || worker >= kThreads || busy.at(static_cast<std::size_t>(worker))++ != 0) ++faults;
    --busy.at(static_cast<std::size_t>(worker));
  });
  EXPECT_EQ(faults, 0);
}

TEST(ParallelFor, UsesTheThreadsItIsGiven) {
  constexpr int kThreads = 3;
  // No task ends before all three have begun, so three threads must take part.
  std::latch all(kThreads);
  std::array<std::thread::id, kThreads> seen;
  parallel_for(kThreads, kThreads, [&](int worker, std::int64_t) {
    seen.at(static_cast<std::size_t>(worker)) = std::this_thread::get_id();
    all.arrive_and_wait();
  });
  EXPECT_EQ(seen[0], std::this_thread::get_id());
  EXPECT_NE(seen[1], seen[2]);
  EXPECT_NE(seen[0], seen[1]);
}

TEST(ParallelFor, HandsTasksOutInOrder) {
  std::atomic<std::int64_t> begun = 0;
  std::atomic<int> faults = 0;
  constexpr int kThreads = 4;
  // When a task begins, all before it have been handed out: at most one for each other thread has not counted itself.
  parallel_for(kThreads, 1000, [&](int, std::int64_t task) {
    if (task > begun++ + kThreads - 1) ++faults;
  });
  EXPECT_EQ(faults, 0);
}

TEST(ParallelFor, ServesManyCallersAtOnce) {
  constexpr std::size_t kCallers = 6;
  std::array<int, kCallers> wrong{};
  std::vector<std::jthread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 50; ++round) {
        for (const int times : times_run(3, 40)) wrong.at(caller) += times != 1;
      }
    });
  }
  callers.clear();
  EXPECT_THAT(wrong, Each(0));
}

TEST(ParallelFor, MayBeCalledByATask) {
  std::atomic<int> run = 0;
  parallel_for(3, 20, [&](int, std::int64_t) {
    parallel_for(3, 10, [&](int, std::int64_t) { parallel_for(2, 2, [&](int, std::int64_t) { ++run; }); });
  });
  EXPECT_EQ(run, 20 * 10 * 2);
}

TEST(ParallelFor, ThrowsWhatATaskThrewAfterAllHaveStopped) {
  for (const int threads : {1, 2, 4}) {
    std::atomic<int> inside = 0;
    std::atomic<int> run = 0;
    try {
      parallel_for(threads, 100'000, [&](int, std::int64_t task) {
        ++inside;
        ++run;
        if (task == 5) {
          --inside;
          throw std::runtime_error("task 5");
        }
        --inside;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("task 5"));
    }
    EXPECT_EQ(inside, 0);
    EXPECT_THAT(run.load(), Ge(6));
    EXPECT_THAT(times_run(threads, 50), Each(1)) << "the pool is of use afterwards";
  }
}

TEST(ParallelFor, ThrowsOneOfSeveral) {
  EXPECT_THROW(parallel_for(4, 100, [](int, std::int64_t task) { throw std::out_of_range(std::to_string(task)); }),
               std::out_of_range);
}

TEST(ParallelFor, WorksAndEndsInAForkedProcess) {
  EXPECT_THAT(times_run(3, 10), Each(1));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::vector<int> times = times_run(3, 10);
    std::exit(times == std::vector<int>(10, 1) ? 0 : 1);  // NOLINT(concurrency-mt-unsafe): the only thread here
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace qkv::core::parallel_test
