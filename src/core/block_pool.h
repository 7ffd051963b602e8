// Blocks of memory that are used again: fresh pages cost more than the pass that fills them.
#pragma once

#include <cstddef>

namespace qkv::core {

/// A block of the process-wide pool, to which it goes back. Safe from several threads.
class PooledBlock {
 public:
  /// No block.
  PooledBlock() = default;
  /// At least `bytes`, 64-byte aligned; not initialised.
  explicit PooledBlock(std::size_t bytes);
  PooledBlock(PooledBlock&& other) noexcept;
  PooledBlock& operator=(PooledBlock&& other) noexcept;
  PooledBlock(const PooledBlock&) = delete;
  PooledBlock& operator=(const PooledBlock&) = delete;
  ~PooledBlock();

  /// Null where there is none.
  [[nodiscard]] void* data() const noexcept { return block_; }

 private:
  void* block_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Bytes of the blocks that are kept for reuse: at most twice as many as were in use at once.
[[nodiscard]] std::size_t pooled_bytes();
/// Frees them.
void release_pooled_blocks();

}  // namespace qkv::core
