// What a backward call computes once for each row before its tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/backward.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

/// Of a block of lanes. Lanes beyond the last query have zeros.
struct RowSums {
  alignas(64) float log2_sum[kTile];  // lse in powers of 2
  alignas(64) float delta[kTile];     // d_out . out - d_lse, subtracted from every d_weight of the row
  alignas(64) float shift[kTile];     // where scaled, weights are exp(score - shift) * factor, in the kernel's units
  alignas(64) float factor[kTile];
  bool scaled;  // false: lse is fine enough for every lane, and shift and factor are not set
  bool splits;  // q, d_out and d_lse are numbers that the target splits into parts; set where it does
};

/// The scaling of one lane, after all of its keys.
struct SummedRow {
  float maximum = 0;  // of the scores, in the kernel's units
  float sum = 0;      // of exp(score - maximum)
  double given = 0;   // lse
  double terms = 0;   // no sum of |scale q_d k_d| is larger
};

/// True where a lane has to be summed.
[[nodiscard]] bool needs_sum(const Forward& call, const SummedRow& row);

/// Writes lane `lane` of query head `h`: by the row's own sum and sink if lse is theirs, else by lse.
void set_scale(const Settings& settings, const SummedRow& row, const Segment& segment, std::int64_t h,
               std::int64_t lane, RowSums& sums);

/// The RowSums of all blocks of a call.
class BlockSums {
 public:
  explicit BlockSums(const Backward& call);

  /// A multiple of 64, as `place` is aligned.
  [[nodiscard]] std::size_t bytes() const;
  void keep_in(std::byte* place);

  /// Computes every block's. Worker n has `scratch_bytes` from `scratch` + n * that on.
  void compute(const Target& target, const Settings& settings, int threads, std::byte* scratch,
               std::size_t scratch_bytes);

  /// Those of the blocks of a key head of the n-th segment.
  [[nodiscard]] const RowSums* of(std::size_t segment, std::int64_t key_head) const {
    return blocks_ + first_[segment] + key_head * blocks_of(segment);
  }

 private:
  struct Place {
    std::size_t segment;
    std::int64_t key_head;
    std::int64_t block;
  };

  [[nodiscard]] std::int64_t blocks_of(std::size_t segment) const;
  [[nodiscard]] std::int64_t list_bytes() const;
  [[nodiscard]] std::int64_t heads() const;
  [[nodiscard]] float* largest_key(std::int64_t head) const;
  [[nodiscard]] Place place_of(std::int64_t block) const;

  const Backward& call_;
  std::int64_t count_ = 0;         // of blocks
  std::span<std::int64_t> first_;  // block of each segment
  float* largest_keys_ = nullptr;  // [segments][Hk][D], rows padded to 16
  RowSums* blocks_ = nullptr;
};

}  // namespace qkv::kernels::cpu
