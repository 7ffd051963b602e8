// The fastest of several runs of attention in f32, for scripts/bench-web.mjs. Not part of what a page takes along.
#include <algorithm>
#include <chrono>
#include <limits>

#include "qkv/attention.h"
#include "qkv/random.h"

/// Milliseconds of q, k, v [1, heads, T, D] without a mask.
extern "C" __attribute__((export_name("milliseconds"), visibility("default"))) double qkv_milliseconds(int T, int D,
                                                                                                       int heads,
                                                                                                       int repeats) {
  using Clock = std::chrono::steady_clock;
  qkv::Generator generator(1);
  const qkv::Tensor q = generator.randn({1, heads, T, D});
  const qkv::Tensor k = generator.randn({1, heads, T, D});
  const qkv::Tensor v = generator.randn({1, heads, T, D});
  double fastest = std::numeric_limits<double>::infinity();
  for (int n = 0; n < repeats; ++n) {
    const auto begin = Clock::now();
    static_cast<void>(qkv::attention(q, k, v, {.threads = 1}));
    fastest = std::min(fastest, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return fastest;
}
