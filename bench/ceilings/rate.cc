#include "ceilings/rate.h"

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

namespace qkv::bench {
namespace {

constexpr int kSamples = 9;
constexpr double kSampleSeconds = 0.02;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

cpu_set_t usable() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sched_getaffinity(0, sizeof(processors), &processors);
  return processors;
}

void pin(const cpu_set_t& processors, int which) {
  for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &processors) || which-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

std::int64_t calls_of_a_sample(const std::function<void(int)>& once) {
  once(0);
  std::int64_t calls = 1;
  for (;;) {
    const auto start = Clock::now();
    for (std::int64_t call = 0; call < calls; ++call) once(0);
    const double seconds = seconds_since(start);
    if (seconds >= kSampleSeconds / 4) {
      return std::max<std::int64_t>(1, std::llround(static_cast<double>(calls) * kSampleSeconds / seconds));
    }
    calls *= 4;
  }
}

}  // namespace

int usable_processors() {
  const cpu_set_t processors = usable();
  return CPU_COUNT(&processors);
}

double median_rate(int threads, std::int64_t work, const std::function<void(int)>& once) {
  const cpu_set_t processors = usable();
  std::int64_t calls = 0;
  std::barrier gate(threads);
  std::vector<double> seconds;
  const auto run = [&](int thread) {
    pin(processors, thread);
    if (thread == 0) calls = calls_of_a_sample(once);
    gate.arrive_and_wait();
    for (int sample = 0; sample <= kSamples; ++sample) {
      gate.arrive_and_wait();
      const auto start = Clock::now();
      for (std::int64_t call = 0; call < calls; ++call) once(thread);
      gate.arrive_and_wait();
      if (thread == 0 && sample > 0) seconds.push_back(seconds_since(start));
    }
  };
  std::vector<std::jthread> others;
  for (int thread = 0; thread < threads; ++thread) others.emplace_back(run, thread);
  others.clear();
  std::ranges::nth_element(seconds, seconds.begin() + kSamples / 2);
  return static_cast<double>(work * calls * threads) / seconds[kSamples / 2];
}

}  // namespace qkv::bench
