// A run that is killed fifty times, at any moment, and goes on each time from its last checkpoint.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "files/temporary_directory.h"
#include "qkv/threads.h"
#include "train/small_model.h"

extern char** environ;

namespace qkv::killed_test {
namespace {

using tests::small_metadata;
using tests::small_training;
using tests::SmallModel;
using tests::TemporaryDirectory;

constexpr const char* kPath = "QKV_TEST_CHECKPOINT";
constexpr std::int64_t kSteps = 1'000'000;  // more than there is time for

// Not a test: what the killed process runs, which is this program again.
TEST(DISABLED_Killed, Run) {
  const char* path = std::getenv(kPath);
  if (path == nullptr) GTEST_SKIP() << "run by Killed.* alone";
  set_threads(1);
  const SmallModel model;
  const auto optimizer = make_adamw(model.parameters);
  if (std::filesystem::exists(path)) Checkpoint::read(path).restore(*optimizer, small_metadata());
  train(*optimizer, model.loss_of_batch(), small_training(kSteps), [&](const TrainingStep&) {
    save_checkpoint(path, *optimizer, small_metadata());
    return Next::go_on;
  });
}

pid_t start_run() {
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=DISABLED_Killed.Run";
  std::string disabled = "--gtest_also_run_disabled_tests";
  std::vector<char*> arguments = {program.data(), filter.data(), disabled.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? child : 0;
}

void kill_after(pid_t child, std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
}

// How long a run takes to its first checkpoint, on this machine and beside what else it does.
std::chrono::milliseconds time_to_checkpoint(const std::string& path) {
  constexpr auto kLongest = std::chrono::minutes(2);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = start_run();
  while (!std::filesystem::exists(path) && std::chrono::steady_clock::now() - begin < kLongest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto taken = std::chrono::steady_clock::now() - begin;
  kill_after(child, std::chrono::milliseconds(0));
  return std::chrono::ceil<std::chrono::milliseconds>(taken);
}

TEST(Killed, FiftyTimesAtAnyMomentLeavesTheLastGoodCheckpoint) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  ::setenv(kPath, path.c_str(), 1);
  set_threads(1);
  std::mt19937 random(8);
  const auto longest = time_to_checkpoint(path) + std::chrono::milliseconds(100);
  std::uniform_int_distribution<int> milliseconds(1, static_cast<int>(longest.count()));
  // The same run without a kill follows the checkpoints.
  const SmallModel whole;
  const auto uninterrupted = make_adamw(whole.parameters);
  int with_progress = 0;
  for (int n = 0; n < 50; ++n) {
    const pid_t child = start_run();
    ASSERT_NE(child, 0);
    ASSERT_NO_FATAL_FAILURE(kill_after(child, std::chrono::milliseconds(milliseconds(random))));
    if (!std::filesystem::exists(path)) continue;
    const Checkpoint checkpoint = Checkpoint::read(path);
    ASSERT_GE(checkpoint.steps(), uninterrupted->steps());
    if (checkpoint.steps() > uninterrupted->steps()) {
      ++with_progress;
      train(*uninterrupted, whole.loss_of_batch(), small_training(kSteps),
            [&](const TrainingStep& step) { return step.step + 1 == checkpoint.steps() ? Next::stop : Next::go_on; });
    }
    const SmallModel saved;
    checkpoint.restore(*make_adamw(saved.parameters), small_metadata());
    ASSERT_EQ(saved.numbers(), whole.numbers()) << "at step " << checkpoint.steps();
  }
  ::unsetenv(kPath);
  RecordProperty("steps", std::to_string(uninterrupted->steps()));
  RecordProperty("kills_with_progress", with_progress);
  EXPECT_GT(uninterrupted->steps(), 0);
}

}  // namespace
}  // namespace qkv::killed_test
