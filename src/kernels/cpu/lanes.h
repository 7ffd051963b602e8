// Which queries the 64 lanes of a block stand for. Compiled once, for any machine: the targets only call it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/forward.h"

namespace qkv::kernels::cpu {

/// Lane n is query i + n % queries of head h + n / queries: one head's 64 queries, or, where there are few, all queries
/// of several heads that share their keys.
struct Lanes {
  std::int64_t h = 0;
  std::int64_t i = 0;
  std::int64_t queries = 0;
  std::int64_t heads = 1;

  [[nodiscard, gnu::always_inline]] std::int64_t count() const { return queries * heads; }
  [[nodiscard, gnu::always_inline]] std::int64_t head_of(std::int64_t lane) const {
    return heads == 1 ? h : h + lane / queries;
  }
  [[nodiscard, gnu::always_inline]] std::int64_t query_of(std::int64_t lane) const {
    return heads == 1 ? i + lane : i + lane % queries;
  }
};

/// The row of a lane in a tensor [Hq, Tq, ...] of elements of `bytes`.
[[nodiscard, gnu::always_inline]] inline const std::byte* row_of(const TensorView& rows, const Lanes& lanes,
                                                                 std::int64_t lane, std::int64_t bytes) {
  return static_cast<const std::byte*>(rows.data()) +
         (lanes.head_of(lane) * rows.strides()[0] + lanes.query_of(lane) * rows.strides()[1]) * bytes;
}

/// How the queries of one key head are cut into blocks.
class LaneBlocks {
 public:
  LaneBlocks(std::int64_t Tq, std::int64_t group);

  /// Neighbouring blocks hold the same queries of different heads, so that they want the same keys.
  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] Lanes block(std::int64_t n, std::int64_t key_head) const;

  struct Place {
    std::int64_t block;
    std::int64_t lane;
  };
  /// Where query i of a head of the group stands, counted from the group's first.
  [[nodiscard]] Place place_of(std::int64_t head, std::int64_t i) const;

 private:
  std::int64_t Tq_;
  std::int64_t group_;
  std::int64_t heads_;  // in one block
  std::int64_t head_blocks_;
};

[[nodiscard]] TileClass class_of(const Segment& segment, const Lanes& lanes, std::int64_t column);

/// The columns outside of which no lane sees anything.
[[nodiscard]] KeyRange columns_of(const Segment& segment, const Lanes& lanes);

/// visible[c] gets bit n where lane n sees key c of the column.
void visible_bits(const Segment& segment, const Lanes& lanes, std::int64_t column, std::uint64_t* visible);

/// Rows of a column's biases, a lane each: kTile lanes and keys where they lie, or what was written to `buffer`,
/// [kTile][kTile], where other lanes and keys are left alone.
struct BiasRows {
  const float* first;
  std::int64_t stride;
};
[[nodiscard]] BiasRows bias_rows(const Bias& bias, const Segment& segment, const Lanes& lanes, std::int64_t column,
                                 float* buffer);

}  // namespace qkv::kernels::cpu
