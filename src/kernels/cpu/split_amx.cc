#include "kernels/cpu/amx_elements.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/split_panels.h"

namespace qkv::kernels::cpu {
namespace amx {
namespace {

// A panel is [part][step][half] registers: a step is kDepth of K, a half 16 lanes.
constexpr std::int64_t kSplitSteps = kSplitDepth / kDepth;
constexpr std::int64_t kPartElements = kSplitSteps * 2 * kTileElements;
constexpr std::int64_t kSumsRow = kSplitLanes;

enum class Part : std::uint8_t { high, middle, low };
enum class Lies : std::uint8_t {
  along,
  across
};  // contiguous in memory: the depths of a lane, or the lanes of a depth
enum class Holds : std::uint8_t { lanes, pairs };  // a row of a register: one lane, or one pair of depths

const std::uint16_t* tile_of(const std::uint16_t* panel, Part part, std::int64_t step) {
  return panel + static_cast<std::int64_t>(part) * kPartElements + step * 2 * kTileElements;
}

void load_left(const std::uint16_t* panel, Part part, std::int64_t step) {
  const std::uint16_t* tile = tile_of(panel, part, step);
  Registers::load_tile<4>(tile, kRowBytes);
  Registers::load_tile<5>(tile + kTileElements, kRowBytes);
}

void load_right(const std::uint16_t* panel, Part part, std::int64_t step) {
  const std::uint16_t* tile = tile_of(panel, part, step);
  Registers::load_tile<6>(tile, kRowBytes);
  Registers::load_tile<7>(tile + kTileElements, kRowBytes);
}

void add_products() {
  Bf16Tiles::multiply<0, 4, 6>();
  Bf16Tiles::multiply<1, 4, 7>();
  Bf16Tiles::multiply<2, 5, 6>();
  Bf16Tiles::multiply<3, 5, 7>();
}

// Small products first, so that their sums round at their own size. Products of at most 2^-26 of the largest are left
// out.
void multiply_block(const std::uint16_t* left, const std::uint16_t* right, float* sums) {
  Registers::zero_tile<0>();
  Registers::zero_tile<1>();
  Registers::zero_tile<2>();
  Registers::zero_tile<3>();
#pragma GCC unroll 4
  for (std::int64_t step = 0; step < kSplitSteps; ++step) {
    load_left(left, Part::low, step);
    load_right(right, Part::high, step);
    add_products();
    load_left(left, Part::middle, step);
    add_products();
    load_right(right, Part::middle, step);
    add_products();
    load_left(left, Part::high, step);
    add_products();
    load_right(right, Part::low, step);
    add_products();
  }
#pragma GCC unroll 4
  for (std::int64_t step = 0; step < kSplitSteps; ++step) {
    load_left(left, Part::high, step);
    load_right(right, Part::high, step);
    add_products();
  }
  constexpr std::int64_t kStride = kSumsRow * static_cast<std::int64_t>(sizeof(float));
  Registers::store_tile<0>(sums, kStride);
  Registers::store_tile<1>(sums + kSide, kStride);
  Registers::store_tile<2>(sums + kSide * kSumsRow, kStride);
  Registers::store_tile<3>(sums + kSide * kSumsRow + kSide, kStride);
}

__mmask16 mask_of(std::int64_t count) {
  if (count >= kSide) return 0xFFFF;
  return count <= 0 ? 0 : static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1);
}

__m512 lower(__m512i words) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(words)), 16));
}

__m512 upper(__m512i words) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words, 1)), 16));
}

struct Parts {
  __m512i high, middle, low;
};

// The largest |x| so far, as its bits.
struct Largest {
  __m512i bits = _mm512_setzero_si512();

  void see(__m512 x) {
    bits = _mm512_max_epu32(bits, _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF)));
  }
  [[nodiscard]] bool is_small() const {
    constexpr int k127 = 0x7F000000;  // 2^127
    return _mm512_cmpge_epu32_mask(bits, _mm512_set1_epi32(k127)) == 0;
  }
};

// Rounds 32 floats to bf16 words, `first` then `second`, and leaves the remainders, which are exact.
Parts parts_of(__m512 first, __m512 second) {
  Parts parts;
  parts.high = Bf16::join(first, second);
  first = _mm512_sub_ps(first, lower(parts.high));
  second = _mm512_sub_ps(second, upper(parts.high));
  parts.middle = Bf16::join(first, second);
  first = _mm512_sub_ps(first, lower(parts.middle));
  second = _mm512_sub_ps(second, upper(parts.middle));
  parts.low = Bf16::join(first, second);
  return parts;
}

// Pairs each word of the lower half with one of the upper half.
__m512i paired(__m512i words) {
  const __m512i even = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));
  return _mm512_or_si512(even, _mm512_castps_si512(upper(words)));
}

// 16 rows of 16 pairs.
struct Square {
  __m512i rows[kSide];
};

void transpose(Square& square) {
  __m512i* r = square.rows;
  __m512i t[kSide];
  for (std::int64_t i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  constexpr int kEven = 0x88;  // quarters 0 and 2 of both operands
  constexpr int kOdd = 0xDD;
  for (std::int64_t i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], kEven);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], kOdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], kEven);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], kOdd);
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], kEven);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], kEven);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], kOdd);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], kOdd);
  }
}

void ask_for(const float* line) { _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T0); }

template <Lies kLies>
void load_squares(const SplitSource& source, Square (&squares)[kSplitParts], Largest& largest) {
  const std::int64_t stride = kLies == Lies::along ? source.lane_stride : source.depth_stride;
  const __mmask16 lanes = mask_of(source.lanes);
  for (std::int64_t n = 0; n < kSide; ++n) {
    const float* from = source.first + n * stride;
    __m512 first;
    __m512 second;
    if constexpr (kLies == Lies::along) {
      const std::int64_t depth = n < source.lanes ? source.depth : 0;
      first = _mm512_maskz_loadu_ps(mask_of(depth), from);
      second = _mm512_maskz_loadu_ps(mask_of(depth - kSide), from + kSide);
    } else {
      from += n * stride;  // pairs of depths
      ask_for(from + kDepth * stride);
      ask_for(from + (kDepth + 1) * stride);
      first = _mm512_maskz_loadu_ps(2 * n < source.depth ? lanes : 0, from);
      second = _mm512_maskz_loadu_ps(2 * n + 1 < source.depth ? lanes : 0, from + stride);
    }
    largest.see(first);
    largest.see(second);
    const Parts parts = parts_of(first, second);
    squares[0].rows[n] = kLies == Lies::along ? parts.high : paired(parts.high);
    squares[1].rows[n] = kLies == Lies::along ? parts.middle : paired(parts.middle);
    squares[2].rows[n] = kLies == Lies::along ? parts.low : paired(parts.low);
  }
}

template <Lies kLies, Holds kHolds>
void pack_panel(const SplitSource& source, std::uint16_t* panel, Largest& largest) {
  for (std::int64_t step = 0; step < kSplitSteps; ++step) {
    for (std::int64_t half = 0; half < 2; ++half) {
      const SplitSource part = {
          .first = source.first + step * kDepth * source.depth_stride + half * kSide * source.lane_stride,
          .lane_stride = source.lane_stride,
          .depth_stride = source.depth_stride,
          .lanes = source.lanes - half * kSide,
          .depth = source.depth - step * kDepth};
      Square squares[kSplitParts];
      load_squares<kLies>(part, squares, largest);
      std::uint16_t* to = panel + (step * 2 + half) * kTileElements;
      for (Square& square : squares) {
        if constexpr ((kLies == Lies::along) != (kHolds == Holds::lanes)) transpose(square);
        for (std::int64_t n = 0; n < kSide; ++n) _mm512_store_si512(to + n * kDepth, square.rows[n]);
        to += kPartElements;
      }
    }
  }
}

bool pack_right(const SplitSource& source, std::uint16_t* panel) {
  Largest largest;
  if (source.depth_stride == 1) {
    pack_panel<Lies::along, Holds::pairs>(source, panel, largest);
  } else {
    pack_panel<Lies::across, Holds::pairs>(source, panel, largest);
  }
  return largest.is_small();
}

std::int64_t pieces_of(std::int64_t extent, std::int64_t piece) { return (extent + piece - 1) / piece; }

// Row by row, each from begin to end: the fastest order to read memory in.
void pack_rows(const SplitSource& source, std::uint16_t* panels, Largest& largest) {
  constexpr std::int64_t kRowsAhead = 8;
  const std::int64_t steps = pieces_of(source.depth, kSplitDepth) * kSplitSteps;
  for (std::int64_t lane = 0; lane < kSplitLanes; ++lane) {
    const float* row = source.first + lane * source.lane_stride;
    const float* ahead = row + kRowsAhead * source.lane_stride;
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t first = step * kDepth;
      const std::int64_t depth = lane < source.lanes ? source.depth - first : 0;
      ask_for(ahead + first);
      ask_for(ahead + first + kSide);
      const __m512 even = _mm512_maskz_loadu_ps(mask_of(depth), row + first);
      const __m512 odd = _mm512_maskz_loadu_ps(mask_of(depth - kSide), row + first + kSide);
      largest.see(even);
      largest.see(odd);
      const Parts parts = parts_of(even, odd);
      std::uint16_t* to = panels + step / kSplitSteps * kSplitPanel +
                          (step % kSplitSteps * 2 + lane / kSide) * kTileElements + lane % kSide * kDepth;
      _mm512_store_si512(to, parts.high);
      _mm512_store_si512(to + kPartElements, parts.middle);
      _mm512_store_si512(to + 2 * kPartElements, parts.low);
    }
  }
}

bool pack_left(const SplitRow& row) {
  Largest largest;
  if (row.left.depth_stride == 1) {
    pack_rows(row.left, row.scratch, largest);
    return largest.is_small();
  }
  for (std::int64_t block = 0; block < pieces_of(row.left.depth, kSplitDepth); ++block) {
    SplitSource source = row.left;
    source.first += block * kSplitDepth * source.depth_stride;
    source.depth -= block * kSplitDepth;
    pack_panel<Lies::across, Holds::lanes>(source, row.scratch + block * kSplitPanel, largest);
  }
  return largest.is_small();
}

// The block at column `first` of C.
void add_block(const float* sums, const SplitRow& row, std::int64_t first, SplitSum sum) {
  const __mmask16 masks[2] = {mask_of(row.columns - first), mask_of(row.columns - first - kSide)};
  const float* shift = row.bias == nullptr ? nullptr : row.bias + first;
  for (std::int64_t n = 0; n < row.left.lanes; ++n) {
    float* to = row.c + n * row.c_row + first;
    const bool adds = sum == SplitSum::onto || shift != nullptr;
    const float* onto = sum == SplitSum::onto ? to : shift;
    for (std::int64_t half = 0; half < 2; ++half) {
      const std::int64_t at = half * kSide;
      __m512 total = _mm512_load_ps(sums + n * kSumsRow + at);
      if (adds) total = _mm512_add_ps(total, _mm512_maskz_loadu_ps(masks[half], onto + at));
      _mm512_mask_storeu_ps(to + at, masks[half], total);
    }
  }
}

bool run(const SplitRow& row) {
  if (!pack_left(row)) return false;
  const TileUnit tiles;
  alignas(64) float sums[kSplitLanes * kSumsRow];
  const std::int64_t strips = pieces_of(row.columns, kSplitLanes);
  for (std::int64_t block = 0; block < pieces_of(row.left.depth, kSplitDepth); ++block) {
    for (std::int64_t strip = 0; strip < strips; ++strip) {
      multiply_block(row.scratch + block * kSplitPanel, row.right + (block * strips + strip) * kSplitPanel, sums);
      add_block(sums, row, strip * kSplitLanes, block == 0 ? row.sum : SplitSum::onto);
    }
  }
  return true;
}

}  // namespace
}  // namespace amx

const SplitLoops kAmxSplit = {.pack_right = amx::pack_right, .run = amx::run};

}  // namespace qkv::kernels::cpu
