#include "kernels/cpu/lanes.h"

#include <algorithm>
#include <array>

#include "core/processor.h"
#include "kernels/cpu/rows.h"
#include "mask/bias_node.h"
#include "mask/tile_bits.h"

namespace qkv::kernels::cpu {

namespace {

// A short call asks so often that its divisions show.
std::int64_t heads_in_a_block(std::int64_t Tq, std::int64_t group) {
  if (Tq == 0 || group == 1) return 1;
  return std::clamp<std::int64_t>(kTile / Tq, 1, group);
}

}  // namespace

LaneBlocks::LaneBlocks(std::int64_t Tq, std::int64_t group)
    : Tq_(Tq),
      group_(group),
      heads_(heads_in_a_block(Tq, group)),
      head_blocks_(heads_ == group ? 1 : (group + heads_ - 1) / heads_) {}

std::int64_t LaneBlocks::count() const { return (Tq_ + kTile - 1) / kTile * head_blocks_; }

Lanes LaneBlocks::block(std::int64_t n, std::int64_t key_head) const {
  const std::int64_t row = head_blocks_ == 1 ? n : n / head_blocks_;
  const std::int64_t first_head = (n - row * head_blocks_) * heads_;
  const std::int64_t i = row * kTile;
  return {.h = key_head * group_ + first_head,
          .i = i,
          .queries = std::min(kTile, Tq_ - i),
          .heads = std::min(heads_, group_ - first_head)};
}

LaneBlocks::Place LaneBlocks::place_of(std::int64_t head, std::int64_t i) const {
  const std::int64_t queries = std::min(kTile, Tq_ - i / kTile * kTile);
  return {.block = i / kTile * head_blocks_ + head / heads_, .lane = head % heads_ * queries + i % kTile};
}

TileClass class_of(const Segment& segment, const Lanes& lanes, std::int64_t column) {
  const std::int64_t row = lanes.i / kTile;
  const TileClass first = segment.plan->tile(segment.plan_b, lanes.h, row, column);
  for (std::int64_t n = 1; n < lanes.heads; ++n) {
    if (segment.plan->tile(segment.plan_b, lanes.h + n, row, column) != first) return TileClass::partial;
  }
  return first;
}

KeyRange columns_of(const Segment& segment, const Lanes& lanes) {
  KeyRange all = {0, 0};
  for (std::int64_t n = 0; n < lanes.heads; ++n) {
    const KeyRange one = segment.plan->columns_of(segment.plan_b, lanes.h + n, lanes.i / kTile);
    if (one.begin >= one.end) continue;
    all = all.begin >= all.end ? one : KeyRange{std::min(all.begin, one.begin), std::max(all.end, one.end)};
  }
  return all;
}

void visible_bits(const Segment& segment, const Lanes& lanes, std::int64_t column, std::uint64_t* visible) {
  std::array<std::uint64_t, kTile> rows{};
  const std::int64_t row = lanes.i / kTile;
  for (std::int64_t n = 0; n < lanes.heads; ++n) {
    std::uint64_t* first = rows.data() + n * lanes.queries;
    const auto bits = segment.plan->bits(segment.plan_b, lanes.h + n, row, column);
    if (!bits.empty()) {
      std::copy_n(bits.begin(), lanes.queries, first);
    } else {
      const bool full = segment.plan->tile(segment.plan_b, lanes.h + n, row, column) == TileClass::full;
      std::fill_n(first, lanes.queries, full ? ~std::uint64_t{0} : 0);
    }
  }
  transpose_bits(rows.data(), visible);
}

namespace {

// Rows of the next tile are asked for while this one's are read: they lie as far apart as the keys are many, and no
// prefetcher finds them. On Xeons that takes longer than it saves.
void fetch_next(const bias_detail::FloatRows& rows) {
  for (std::int64_t r = 0; r < kTile; ++r) {
    const float* next = rows.first + r * rows.row_stride + kTile;
    fetch<Fetch::second_level>(reinterpret_cast<const std::byte*>(next), kTile * bytes_of(DType::f32));
  }
}

}  // namespace

BiasRows bias_rows(const Bias& bias, const Segment& segment, const Lanes& lanes, std::int64_t column, float* buffer) {
  const auto tile_of = [&](std::int64_t n) {
    return Tile{.b = segment.b,
                .h = lanes.h + n,
                .i_begin = lanes.i,
                .i_end = lanes.i + lanes.queries,
                .j_begin = column * kTile,
                .j_end = std::min((column + 1) * kTile, segment.shape.Tk)};
  };
  if (lanes.queries == kTile && (column + 1) * kTile <= segment.shape.Tk) {
    const bias_detail::FloatRows rows = bias.node().tile_rows(tile_of(0));
    if (rows.first != nullptr) {
      if (core::is_amd() && (column + 2) * kTile <= segment.shape.Tk) fetch_next(rows);
      return {.first = rows.first, .stride = rows.row_stride};
    }
  }
  for (std::int64_t n = 0; n < lanes.heads; ++n) {
    bias.write_tile(tile_of(n), buffer + n * lanes.queries * kTile, kTile, segment.shape);
  }
  return {.first = buffer, .stride = kTile};
}

}  // namespace qkv::kernels::cpu
