// A cache of random keys and values of a given size, in memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/kv_cache.h"

namespace qkv::bench {

/// Zeroed memory, on large pages where they are wanted and the system grants them.
class Memory {
 public:
  Memory(std::int64_t bytes, bool large_pages);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_;
  std::byte* data_ = nullptr;
};

struct CacheShape {
  std::string name;
  std::int64_t Hq = 32;
  std::int64_t Hk = 8;
  std::int64_t D = 128;
  std::vector<std::int64_t> lengths;                       // of each sequence
  std::optional<std::int64_t> page_tokens = std::nullopt;  // none: one contiguous sequence
  std::int64_t prefix = 0;                                 // tokens whose pages all sequences share
};

class Cache {
 public:
  Cache(const CacheShape& shape, DType dtype, bool large_pages);

  [[nodiscard]] KvCacheView view() const;
  /// What one step must read: keys, values and scales, shared pages once.
  [[nodiscard]] std::int64_t bytes() const;
  /// The memory of keys, then that of values.
  [[nodiscard]] const Memory& keys() const { return k_; }
  [[nodiscard]] const Memory& values() const { return v_; }

 private:
  [[nodiscard]] std::int64_t slots() const;

  CacheShape shape_;
  DType dtype_;
  std::int64_t pages_ = 0;  // 1 where the cache is contiguous
  Tensor table_;
  Memory k_;
  Memory v_;
  Memory k_scales_;
  Memory v_scales_;
};

}  // namespace qkv::bench
