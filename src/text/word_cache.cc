#include "text/word_cache.h"

namespace qkv::text {

const std::vector<SubwordToken>& WordCache::tokens_of(std::string_view word, const SubwordModel& model) {
  if (const auto found = known_.find(word); found != known_.end()) return found->second;
  tokens_.clear();
  model.cut(word, tokens_);
  if (word.size() > kLongest || known_.size() >= kWords) return tokens_;
  return known_.emplace(std::string(word), tokens_).first->second;
}

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
