#include "nn/unseen.h"

#include <algorithm>

namespace qkv::nn {
namespace {

// What a cache keeps beyond the window, and how much more it lets come together before it moves the rest.
std::int64_t margin_of(std::int64_t window) { return 64 + window / 8; }

}  // namespace

std::int64_t most_held(std::int64_t window) { return window - 1 + 2 * margin_of(window); }

void make_room(KvCache& cache, std::int64_t tokens) {
  std::int64_t needed = 0;
  for (std::int64_t b = 0; b < cache.B(); ++b) needed = std::max(needed, cache.length(b) + tokens);
  if (cache.B() > 0 && needed > cache.capacity(0)) cache.reserve(std::max(needed, 2 * cache.capacity(0)));
}

void forget_unseen(KvCache& cache, std::int64_t window) {
  const std::int64_t most = most_held(window);
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    if (cache.length(b) > most) cache.forget_first(b, cache.length(b) - most + margin_of(window));
  }
  if (cache.B() > 0 && cache.capacity(0) > 2 * (most + 1)) cache.shrink(most + 1);
}

}  // namespace qkv::nn
