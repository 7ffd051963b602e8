// f32 products on a unit that multiplies bf16: panels that hold each number as the sum of three of bf16, and the loops
// over them.
#pragma once

#include <cstdint>

namespace qkv::kernels::cpu {

inline constexpr std::int64_t kSplitLanes = 32;   // rows of A or columns of B in a panel
inline constexpr std::int64_t kSplitDepth = 128;  // of K in a panel
inline constexpr std::int64_t kSplitParts = 3;
inline constexpr std::int64_t kSplitPanel = kSplitParts * kSplitLanes * kSplitDepth;  // elements of 16 bits

/// `lanes` rows of A or columns of B, `depth` of K, of which one stride is 1.
struct SplitSource {
  const float* first;
  std::int64_t lane_stride;
  std::int64_t depth_stride;
  std::int64_t lanes;
  std::int64_t depth;
};

enum class SplitSum : std::uint8_t { first, onto };

/// A strip of rows of C = or += left * right.
struct SplitRow {
  SplitSource left;            // at most kSplitLanes lanes, of any depth
  const std::uint16_t* right;  // panels [blocks of depth][strips of columns]
  std::int64_t columns;        // of C
  float* c;
  std::int64_t c_row;
  const float* bias;  // [columns], added with the first sums; may be null
  SplitSum sum;
  std::uint16_t* scratch;  // panels of left, one a block of depth
};

/// Both return false where a number is not finite or at least 2^127, whose parts have no meaning.
struct SplitLoops {
  bool (*pack_right)(const SplitSource& source, std::uint16_t* panel);  // at most one panel's lanes and depth
  bool (*run)(const SplitRow& row);
};

extern const SplitLoops kAmxSplit;

}  // namespace qkv::kernels::cpu
