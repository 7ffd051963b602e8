#include "kernels/product/split_product.h"

#include <algorithm>
#include <atomic>

#include "core/bytes.h"
#include "core/parallel.h"
#include "kernels/cpu/split_panels.h"
#include "kernels/targets.h"

namespace qkv::kernels {
namespace {

using cpu::kSplitDepth;
using cpu::kSplitLanes;
using cpu::kSplitPanel;

// The part of B that stays in a core's second-level cache while A and C stream through.
constexpr std::int64_t kStrips = 16;
constexpr std::int64_t kBlocks = 3;
constexpr std::int64_t kColumns = kStrips * kSplitLanes;
constexpr std::int64_t kDepth = kBlocks * kSplitDepth;

std::int64_t pieces_of(std::int64_t extent, std::int64_t piece) { return (extent + piece - 1) / piece; }

// Columns [column, column + columns) and depths [depth, depth + depths).
struct Chunk {
  std::int64_t column, columns, depth, depths;
};

bool pack_right(const SplitProduct& shape, const Chunk& chunk, const float* b, int threads, std::uint16_t* panels) {
  const std::int64_t strips = pieces_of(chunk.columns, kSplitLanes);
  std::atomic<bool> fits = true;
  core::parallel_for(threads, strips * pieces_of(chunk.depths, kSplitDepth), [&](int /*worker*/, std::int64_t task) {
    const std::int64_t column = task % strips * kSplitLanes;
    const std::int64_t depth = task / strips * kSplitDepth;
    const cpu::SplitSource source = {
        .first = b + (chunk.column + column) * shape.b_column + (chunk.depth + depth) * shape.b_row,
        .lane_stride = shape.b_column,
        .depth_stride = shape.b_row,
        .lanes = std::min(kSplitLanes, chunk.columns - column),
        .depth = std::min(kSplitDepth, chunk.depths - depth)};
    if (!chosen_split()->pack_right(source, panels + task * kSplitPanel)) fits.store(false, std::memory_order_relaxed);
  });
  return fits;
}

}  // namespace

bool can_split() { return chosen_split() != nullptr; }

std::size_t split_scratch_bytes(const SplitProduct& shape, int threads) {
  const std::int64_t blocks = std::min(kBlocks, pieces_of(shape.K, kSplitDepth));
  const std::int64_t strips = std::min(kStrips, pieces_of(shape.N, kSplitLanes));
  return core::checked_bytes("product", {strips + std::max(threads, 1), blocks, kSplitPanel}, sizeof(std::uint16_t));
}

bool split_multiply(const SplitProduct& shape, const float* a, const float* b, const float* bias, float* c, int threads,
                    std::byte* scratch) {
  auto* right = reinterpret_cast<std::uint16_t*>(scratch);
  const std::int64_t blocks = std::min(kBlocks, pieces_of(shape.K, kSplitDepth));
  const std::int64_t strips = std::min(kStrips, pieces_of(shape.N, kSplitLanes));
  std::uint16_t* left = right + strips * blocks * kSplitPanel;
  for (std::int64_t column = 0; column < shape.N; column += kColumns) {
    for (std::int64_t depth = 0; depth < shape.K; depth += kDepth) {
      const Chunk chunk = {.column = column,
                           .columns = std::min(kColumns, shape.N - column),
                           .depth = depth,
                           .depths = std::min(kDepth, shape.K - depth)};
      if (!pack_right(shape, chunk, b, threads, right)) return false;
      std::atomic<bool> fits = true;
      core::parallel_for(threads, pieces_of(shape.M, kSplitLanes), [&](int worker, std::int64_t task) {
        const std::int64_t first = task * kSplitLanes;
        const cpu::SplitRow row = {.left = {.first = a + first * shape.a_row + depth * shape.a_column,
                                            .lane_stride = shape.a_row,
                                            .depth_stride = shape.a_column,
                                            .lanes = std::min(kSplitLanes, shape.M - first),
                                            .depth = chunk.depths},
                                   .right = right,
                                   .columns = chunk.columns,
                                   .c = c + first * shape.c_row + column,
                                   .c_row = shape.c_row,
                                   .bias = bias == nullptr ? nullptr : bias + column,
                                   .sum = depth == 0 ? cpu::SplitSum::first : cpu::SplitSum::onto,
                                   .scratch = left + worker * blocks * kSplitPanel};
        if (!chosen_split()->run(row)) fits.store(false, std::memory_order_relaxed);
      });
      if (!fits) return false;
    }
  }
  return true;
}

}  // namespace qkv::kernels
