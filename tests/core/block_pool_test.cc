// The pool of blocks: what is given back is given out again, and what is kept has a bound.
#include "core/block_pool.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace qkv::core {
namespace {

TEST(PooledBlock, IsAlignedAndHoldsItsBytes) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{513}, std::size_t{100'000}}) {
    const PooledBlock block(bytes);
    ASSERT_NE(block.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0U);
    std::memset(block.data(), 1, bytes);  // the sanitizers see a block that is too short
  }
  EXPECT_EQ(PooledBlock().data(), nullptr);
}

TEST(PooledBlock, IsUsedAgain) {
  release_pooled_blocks();
  const void* first = PooledBlock(5000).data();
  const PooledBlock again(4900);  // of the same size once rounded
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(pooled_bytes(), 0U);
}

TEST(PooledBlock, GoesBackOnceWhereItIsMoved) {
  release_pooled_blocks();
  {
    PooledBlock one(1000);
    const void* const place = one.data();
    PooledBlock other = std::move(one);
    EXPECT_EQ(other.data(), place);
    PooledBlock third(1000);
    third = std::move(other);
    EXPECT_EQ(third.data(), place);
    EXPECT_EQ(pooled_bytes(), 0U);
  }
  EXPECT_EQ(pooled_bytes(), 2048U);  // two blocks of 1,024
}

TEST(PooledBlocks, KeepNoMoreThanTwiceWhatWasUsedAtOnce) {
  release_pooled_blocks();
  for (std::size_t bytes = 1000; bytes < 100'000; bytes += 1000) const PooledBlock block(bytes);
  EXPECT_LE(pooled_bytes(), 2 * 106'496U);  // the largest, rounded
  release_pooled_blocks();
  EXPECT_EQ(pooled_bytes(), 0U);
}

}  // namespace
}  // namespace qkv::core
