#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/split_panels.h"
#include "kernels/cpu/split_parts.h"

namespace qkv::kernels::cpu {
namespace amx {
namespace {

// A panel is [part][step][half] registers: a step is kDepth of K, a half 16 lanes.
constexpr std::int64_t kSplitSteps = kSplitDepth / kDepth;
constexpr std::int64_t kPartElements = kSplitSteps * 2 * kTileElements;
constexpr std::int64_t kSumsRow = kSplitLanes;

enum class Lies : std::uint8_t {
  along,
  across
};  // contiguous in memory: the depths of a lane, or the lanes of a depth
enum class Holds : std::uint8_t { lanes, pairs };  // a row of a register: one lane, or one pair of depths

// Of a panel.
SplitOperand operand_of(const std::uint16_t* panel) {
  return {.first = panel, .part = kPartElements, .next = kTileElements, .step = 2 * kTileElements, .run = 0};
}

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

void ask_for(const float* line) { _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T0); }

template <Lies kLies>
[[gnu::always_inline]] inline Floats32 load(const SplitSource& source, std::int64_t n) {
  if constexpr (kLies == Lies::along) {
    const float* from = source.first + n * source.lane_stride;
    const std::int64_t depth = n < source.lanes ? source.depth : 0;
    return {_mm512_maskz_loadu_ps(mask_of(depth), from), _mm512_maskz_loadu_ps(mask_of(depth - kSide), from + kSide)};
  }
  const __mmask16 lanes = mask_of(source.lanes);
  const std::int64_t stride = source.depth_stride;
  const float* from = source.first + 2 * n * stride;
  ask_for(from + kDepth * stride);
  ask_for(from + (kDepth + 1) * stride);
  return {_mm512_maskz_loadu_ps(2 * n < source.depth ? lanes : 0, from),
          _mm512_maskz_loadu_ps(2 * n + 1 < source.depth ? lanes : 0, from + stride)};
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
      constexpr auto kWords = kLies == Lies::along ? Words::as_they_are : Words::paired;
      constexpr auto kTurned = (kLies == Lies::along) != (kHolds == Holds::lanes) ? Turned::yes : Turned::no;
      const auto seen = [&](std::int64_t n) {
        const Floats32 x = load<kLies>(part, n);
        largest.see(x.first);
        largest.see(x.second);
        return x;
      };
      split_register<kWords, kTurned>(seen, panel + (step * 2 + half) * kTileElements, kPartElements);
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
      const Parts parts = parts_of({even, odd});
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
      multiply_parts<kSplitSteps>(operand_of(row.scratch + block * kSplitPanel),
                                  operand_of(row.right + (block * strips + strip) * kSplitPanel), 1, sums, kSumsRow);
      add_block(sums, row, strip * kSplitLanes, block == 0 ? row.sum : SplitSum::onto);
    }
  }
  return true;
}

}  // namespace
}  // namespace amx

constinit const SplitLoops kAmxSplit = {.pack_right = amx::pack_right, .run = amx::run};

}  // namespace qkv::kernels::cpu
