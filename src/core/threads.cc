#include "qkv/threads.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/number_text.h"
#include "qkv/error.h"

namespace qkv {
namespace {

int cores_of_process() {
#if defined(__linux__)
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // The call fails on a machine with more cores than the set holds.
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) > 0) return CPU_COUNT(&cores);
#endif
  const unsigned cores_of_machine = std::thread::hardware_concurrency();
  return cores_of_machine == 0 ? 1 : static_cast<int>(cores_of_machine);
}

constexpr int kMost = 65536;

int default_threads() {
  const char* text = std::getenv("QKV_THREADS");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  const std::string_view word = text == nullptr ? "" : text;
  if (word.empty()) return cores_of_process();
  const std::optional<int> count = core::number_from<int>(word);
  if (!count || *count < 1 || *count > kMost) {
    throw InvalidArgument("threads", "QKV_THREADS", "a whole number from 1 to 65536", "\"" + std::string(word) + "\"");
  }
  return *count;
}

// 0 until set_threads() was called.
std::atomic<int>& chosen() {
  static std::atomic<int> count = 0;
  return count;
}

}  // namespace

int threads() {
  if (const int count = chosen().load(std::memory_order_relaxed); count > 0) return count;
  static const int kDefault = default_threads();
  return kDefault;
}

void set_threads(int count) {
  if (count < 1 || count > kMost) {
    throw InvalidArgument("set_threads", "count", "a whole number from 1 to 65536", std::to_string(count));
  }
  chosen().store(count, std::memory_order_relaxed);
}

}  // namespace qkv
