#include "text/word_cache.h"

namespace qkv::text {

std::unique_ptr<WordCache> WordCachePool::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) return std::make_unique<WordCache>();
  std::unique_ptr<WordCache> cache = std::move(free_.back());
  free_.pop_back();
  return cache;
}

void WordCachePool::give_back(std::unique_ptr<WordCache> cache) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(cache));
}

}  // namespace qkv::text
