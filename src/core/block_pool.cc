#include "core/block_pool.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/bytes.h"

namespace qkv::core {
namespace {

constexpr std::align_val_t kLine{kAlignment};

// Steps of an eighth of a power of two, so that blocks of nearly the same size can be reused for each other.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t kSmallest = 512;
  const std::size_t step = std::max(kSmallest, std::bit_floor(std::max<std::size_t>(bytes, 1)) / 8);
  return (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
}

// Fresh pages cost more than the pass that fills them, and a training step asks for the same sizes as the last one. The
// pool holds at most twice the bytes that were in use at once; if sizes change from step to step, it then frees them
// all.
class BlockPool {
 public:
  void* take(std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      used_ += bytes;
      most_used_ = std::max(most_used_, used_);
      const auto found = free_.find(bytes);
      if (found != free_.end() && !found->second.empty()) {
        void* block = found->second.back();
        found->second.pop_back();
        held_ -= bytes;
        return block;
      }
    }
    try {
      return ::operator new(bytes, kLine);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      used_ -= bytes;
      throw;
    }
  }

  void give(void* block, std::size_t bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    used_ -= bytes;
    if (held_ + bytes > 2 * most_used_) release_all();
    try {
      free_[bytes].push_back(block);
      held_ += bytes;
    } catch (const std::bad_alloc&) {
      ::operator delete(block, kLine);
    }
  }

  std::size_t held() {
    const std::scoped_lock lock(mutex_);
    return held_;
  }

  void release() {
    const std::scoped_lock lock(mutex_);
    release_all();
    most_used_ = used_;
  }

 private:
  void release_all() noexcept {
    for (auto& [bytes, blocks] : free_) {
      for (void* block : blocks) ::operator delete(block, kLine);
    }
    free_.clear();
    held_ = 0;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  std::size_t held_ = 0;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
};

// Never destroyed: blocks of static duration may outlive it.
BlockPool& pool() {
  static BlockPool* const kPool = new BlockPool;
  return *kPool;
}

}  // namespace

PooledBlock::PooledBlock(std::size_t bytes) : bytes_(rounded(bytes)) { block_ = pool().take(bytes_); }

PooledBlock::PooledBlock(PooledBlock&& other) noexcept
    : block_(std::exchange(other.block_, nullptr)), bytes_(other.bytes_) {}

PooledBlock& PooledBlock::operator=(PooledBlock&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PooledBlock::~PooledBlock() {
  if (block_ != nullptr) pool().give(block_, bytes_);
}

std::size_t pooled_bytes() { return pool().held(); }
void release_pooled_blocks() { pool().release(); }

}  // namespace qkv::core
