// Words that were cut before, with their tokens: texts repeat few words.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/subword_model.h"

namespace qkv::text {

/// At most kWords words of at most kLongest bytes: some 10 MB. Used by one thread at a time.
class WordCache {
 public:
  /// The tokens that `cut(word, tokens)` appends, which stay until the next call. It is always the same function.
  template <class Cut>
  [[nodiscard]] const std::vector<SubwordToken>& tokens_of(std::string_view word, const Cut& cut) {
    if (const auto found = known_.find(word); found != known_.end()) return found->second;
    tokens_.clear();
    cut(word, tokens_);
    if (word.size() > kLongest || known_.size() >= kWords) return tokens_;
    return known_.emplace(std::string(word), tokens_).first->second;
  }

 private:
  static constexpr std::size_t kWords = 65536;
  static constexpr std::size_t kLongest = 64;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const noexcept { return std::hash<std::string_view>{}(word); }
  };
  std::unordered_map<std::string, std::vector<SubwordToken>, Hash, std::equal_to<>> known_;
  std::vector<SubwordToken> tokens_;  // of what is not kept
};

/// A cache for each thread that encodes at a time.
class WordCachePool {
 public:
  [[nodiscard]] std::unique_ptr<WordCache> take();
  void give_back(std::unique_ptr<WordCache> cache);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<WordCache>> free_;
};

/// A cache out of the pool, and back into it.
class BorrowedCache {
 public:
  explicit BorrowedCache(WordCachePool& pool) : pool_(pool), cache_(pool.take()) {}
  BorrowedCache(const BorrowedCache&) = delete;
  BorrowedCache& operator=(const BorrowedCache&) = delete;
  ~BorrowedCache() { pool_.give_back(std::move(cache_)); }
  WordCache& operator*() const noexcept { return *cache_; }

 private:
  WordCachePool& pool_;
  std::unique_ptr<WordCache> cache_;
};

}  // namespace qkv::text
