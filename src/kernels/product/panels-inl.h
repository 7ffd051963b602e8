// Compiled once for each width of vectors: QKV_LOOPS names it, QKV_VECTOR_BYTES is its width. Words are f32, or pairs
// of bf16 where QKV_PAIR_SUM(sums, left, right) is an instruction for them.
#include "kernels/product/panels.h"
#include "kernels/product/vectors-inl.h"

namespace qkv::kernels::QKV_LOOPS {
namespace {  // NOLINT(cert-dcl59-cpp,misc-anonymous-namespace-in-header): compiled once per target

// Sums stay in registers: kPanelRows times kPanelVectors of them, beside a row of B and one number of A.
#if QKV_VECTOR_BYTES == 64 || defined(__aarch64__)
constexpr int kPanelRows = 8;
#else
constexpr int kPanelRows = 4;
#endif
constexpr int kPanelVectors = 3;
constexpr std::int64_t kPanelColumns = kPanelVectors * kLanes;

#if defined(QKV_PAIR_SUM)
constexpr std::int64_t kElements = 2;

[[gnu::always_inline]] inline Floats plus_product(Floats sums, std::uint32_t left, Words right) {
  return QKV_PAIR_SUM(sums, Words{} + left, right);
}
#else
constexpr std::int64_t kElements = 1;

[[gnu::always_inline]] inline Floats plus_product(Floats sums, std::uint32_t left, Words right) {
  return sums + std::bit_cast<float>(left) * std::bit_cast<Floats>(right);
}
#endif

// The first `kRows` rows and `kVectors` vectors of columns of a panel of A with one of B. What is missing of A's rows
// is read from the last one.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void multiply_panels(const PanelBlock& block, const std::byte* left, std::int64_t rows,
                                                   const std::uint32_t* right, Floats (&sums)[kRows][kVectors]) {
  const std::byte* row[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) row[r] = left + (r < rows ? r : rows - 1) * block.left_row;
  const std::int64_t end = block.depth * block.left_step;
  for (std::int64_t at = 0; at < end; at += block.left_step) {
    Words columns[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) std::memcpy(&columns[v], right + v * kLanes, sizeof(Words));
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      std::uint32_t word = 0;
      std::memcpy(&word, row[r] + at, sizeof(word));
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) sums[r][v] = plus_product(sums[r][v], word, columns[v]);
    }
    right += kPanelColumns;
  }
}

// Places behind the last row or column of `out` are not written.
template <int kRows, int kVectors>
[[gnu::noinline]] void tile(const PanelBlock& block, const std::byte* left, const std::uint32_t* right,
                            std::int64_t row, std::int64_t column) {
  Floats sums[kRows][kVectors] = {};
  multiply_panels(block, left, block.rows - row, right, sums);
  float* out = block.out + row * block.out_row + column;
  const float* bias = block.bias == nullptr ? nullptr : block.bias + column;
  const bool is_whole = block.rows - row >= kRows && block.columns - column >= kVectors * kLanes;
  if (is_whole) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        float* const place = out + r * block.out_row + v * kLanes;
        Floats sum = sums[r][v];
        if (block.sum == PanelSum::onto) sum += load(place);
        if (bias != nullptr) sum += load(bias + v * kLanes);
        std::memcpy(place, &sum, sizeof(sum));
      }
    }
    return;
  }
  float all[kRows][kVectors * kLanes];
  std::memcpy(&all, &sums, sizeof(all));
  for (std::int64_t r = 0; r < kRows && row + r < block.rows; ++r) {
    for (std::int64_t n = 0; n < kVectors * kLanes && column + n < block.columns; ++n) {
      float sum = all[r][n];
      if (block.sum == PanelSum::onto) sum += out[r * block.out_row + n];
      out[r * block.out_row + n] = bias == nullptr ? sum : sum + bias[n];
    }
  }
}

template <int kVectors>
[[gnu::always_inline]] inline void column_of_tiles(const PanelBlock& block, const std::uint32_t* right,
                                                   std::int64_t column) {
  const std::byte* left = block.left;
  for (std::int64_t row = 0; row < block.rows; row += kPanelRows) {
    const bool is_half = block.rows - row <= kPanelRows / 2;
    (is_half ? tile<kPanelRows / 2, kVectors> : tile<kPanelRows, kVectors>)(block, left, right, row, column);
    left += block.left_panel;
  }
}

// The panel of B stays near while those of A pass.
void multiply_block(const PanelBlock& block) {
  const std::uint32_t* right = block.right;
  for (std::int64_t column = 0; column < block.columns; column += kPanelColumns) {
    const std::int64_t left = block.columns - column;
    if (left > 2 * kLanes) {
      column_of_tiles<3>(block, right, column);
    } else if (left > kLanes) {
      column_of_tiles<2>(block, right, column);
    } else {
      column_of_tiles<1>(block, right, column);
    }
    right += block.right_panel;
  }
}

constexpr std::int64_t kNear = 64;  // words of a lane that are read together

using FourWords = std::uint32_t __attribute__((vector_size(16)));
using EightWords = std::uint32_t __attribute__((vector_size(32)));

// The first halves of two vectors by turns, and the second ones.
[[gnu::always_inline]] inline FourWords low_of(FourWords a, FourWords b) {
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}
[[gnu::always_inline]] inline FourWords high_of(FourWords a, FourWords b) {
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
#if QKV_VECTOR_BYTES > 16
[[gnu::always_inline]] inline EightWords low_of(EightWords a, EightWords b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
[[gnu::always_inline]] inline EightWords high_of(EightWords a, EightWords b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#endif

// Words [depth][width] of kTurned lanes. Rows whose halves meet by turns, as often as the logarithm of their number,
// are turned into columns.
template <std::int64_t kTurned>
[[gnu::always_inline]] inline void turn(const char* const (&lanes)[kTurned], std::int64_t depth, std::int64_t width,
                                        std::uint32_t* to) {
  using Vector = std::conditional_t<kTurned == 4, FourWords, EightWords>;
  constexpr std::int64_t kWord = sizeof(std::uint32_t);
  std::int64_t d = 0;
  for (; d + kTurned <= depth; d += kTurned) {
    Vector rows[kTurned];
#pragma GCC unroll 8
    for (std::int64_t n = 0; n < kTurned; ++n) std::memcpy(&rows[n], lanes[n] + d * kWord, sizeof(Vector));
#pragma GCC unroll 3
    for (std::int64_t step = 1; step < kTurned; step *= 2) {
      Vector next[kTurned];
#pragma GCC unroll 4
      for (std::int64_t n = 0; n < kTurned / 2; ++n) {
        next[2 * n] = low_of(rows[n], rows[n + kTurned / 2]);
        next[2 * n + 1] = high_of(rows[n], rows[n + kTurned / 2]);
      }
#pragma GCC unroll 8
      for (std::int64_t n = 0; n < kTurned; ++n) rows[n] = next[n];
    }
#pragma GCC unroll 8
    for (std::int64_t n = 0; n < kTurned; ++n) std::memcpy(to + (d + n) * width, &rows[n], sizeof(Vector));
  }
  for (; d < depth; ++d) {
    for (std::int64_t n = 0; n < kTurned; ++n) std::memcpy(to + d * width + n, lanes[n] + d * kWord, kWord);
  }
}

[[gnu::always_inline]] inline std::int64_t bytes_of(const PanelSource& source) {
  return source.dtype == DType::f32 ? 4 : 2;
}

[[gnu::always_inline]] inline const char* element(const PanelSource& source, std::int64_t lane, std::int64_t depth) {
  return static_cast<const char*>(source.first) +
         (lane * source.lane_stride + depth * source.depth_stride) * bytes_of(source);
}

// Elements of `from`, `step` bytes from one to the next, side by side.
template <class T>
[[gnu::always_inline]] inline void gather(const char* from, std::int64_t step, std::int64_t count, T* to) {
  if (step == static_cast<std::int64_t>(sizeof(T))) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    return;
  }
  for (std::int64_t n = 0; n < count; ++n) std::memcpy(to + n, from + n * step, sizeof(T));
}

#if defined(QKV_PAIR_SUM)
// `count` elements of one lane as words; what is missing of the last is zero.
[[gnu::always_inline]] inline void read_lane(const PanelSource& source, const char* from, std::int64_t count,
                                             std::uint32_t* words) {
  std::uint16_t halves[2 * kNear];
  gather(from, source.depth_stride * bytes_of(source), count, halves);
  if (count % 2 == 1) halves[count] = 0;
  std::memcpy(words, halves, static_cast<std::size_t>((count + 1) / 2) * sizeof(std::uint32_t));
}

// Words of `kWidth` lanes that stand side by side, all of which are there, at this depth.
template <std::int64_t kWidth>
[[gnu::always_inline]] inline void read_row(const PanelSource& source, std::int64_t depth, std::uint32_t* words) {
  std::uint16_t first[kWidth];
  std::uint16_t second[kWidth] = {};
  std::memcpy(first, element(source, 0, depth), sizeof(first));
  if (depth + 1 < source.depth) std::memcpy(second, element(source, 0, depth + 1), sizeof(second));
  for (std::int64_t n = 0; n < kWidth; ++n) words[n] = first[n] | static_cast<std::uint32_t>(second[n]) << 16U;
}
#else
[[gnu::always_inline]] inline void read_lane(const PanelSource& source, const char* from, std::int64_t count,
                                             std::uint32_t* words) {
  const std::int64_t step = source.depth_stride * bytes_of(source);
  if (source.dtype == DType::f32) return gather(from, step, count, words);
  std::uint16_t halves[kNear];
  float numbers[kNear];
  gather(from, step, count, halves);
  widen(source.dtype, halves, count, numbers);
  std::memcpy(words, numbers, static_cast<std::size_t>(count) * sizeof(float));
}

template <std::int64_t kWidth>
[[gnu::always_inline]] inline void read_row(const PanelSource& source, std::int64_t depth, std::uint32_t* words) {
  const char* const from = element(source, 0, depth);
  if (source.dtype == DType::f32) {
    std::memcpy(words, from, kWidth * sizeof(float));
    return;
  }
  float numbers[kWidth];
  widen(source.dtype, from, kWidth, numbers);
  std::memcpy(words, numbers, sizeof(numbers));
}
#endif

// Whether `count` elements of a lane are words as they lie.
[[gnu::always_inline]] inline bool is_of_words(const PanelSource& source, std::int64_t count) {
  return source.depth_stride == 1 && bytes_of(source) * kElements == sizeof(std::uint32_t) && count % kElements == 0;
}

template <std::int64_t kTurned>
[[gnu::always_inline]] inline void lay_strips(const PanelSource& source, std::int64_t width, std::uint32_t* panel) {
  std::uint32_t copies[kTurned][kNear] = {};
  for (std::int64_t depth = 0; depth < source.depth; depth += kNear * kElements) {
    const std::int64_t left = source.depth - depth;
    const std::int64_t count = left < kNear * kElements ? left : kNear * kElements;
    const bool is_read_there = is_of_words(source, count);
    for (std::int64_t lane = 0; lane < width; lane += kTurned) {
      const char* lanes[kTurned];
      for (std::int64_t n = 0; n < kTurned; ++n) {
        const bool is_there = lane + n < source.lanes;
        const char* const from = element(source, is_there ? lane + n : 0, depth);
        lanes[n] = is_there && is_read_there ? from : reinterpret_cast<const char*>(copies[n]);
        if (!is_there) std::memset(copies[n], 0, sizeof(copies[n]));
        if (is_there && !is_read_there) read_lane(source, from, count, copies[n]);
      }
      turn(lanes, (count + kElements - 1) / kElements, width, panel + depth / kElements * width + lane);
    }
  }
}

void lay_lane_by_lane(const PanelSource& source, std::int64_t width, std::uint32_t* panel) {
#if QKV_VECTOR_BYTES > 16
  if (width % 8 == 0) return lay_strips<8>(source, width, panel);
#endif
  lay_strips<4>(source, width, panel);
}

template <std::int64_t kWidth>
void lay_row_by_row(const PanelSource& source, std::uint32_t* panel) {
  for (std::int64_t depth = 0; depth < source.depth; depth += kElements) {
    read_row<kWidth>(source, depth, panel + depth / kElements * kWidth);
  }
}

// The same of fewer lanes, with zeros behind them.
template <std::int64_t kWidth>
void lay_narrow_rows(const PanelSource& source, std::uint32_t* panel) {
  std::uint32_t rows[kNear * kWidth] = {};
  const std::int64_t size = bytes_of(source);
  for (std::int64_t depth = 0; depth < source.depth; depth += kNear) {
    const std::int64_t left = source.depth - depth;
    const std::int64_t count = left < kNear ? left : kNear;
    for (std::int64_t d = 0; d < count; ++d) {
      std::memcpy(reinterpret_cast<char*>(rows) + d * kWidth * size, element(source, 0, depth + d),
                  static_cast<std::size_t>(source.lanes * size));
    }
    lay_row_by_row<kWidth>({.first = rows,
                            .dtype = source.dtype,
                            .lane_stride = 1,
                            .depth_stride = kWidth,
                            .lanes = kWidth,
                            .depth = count},
                           panel + depth / kElements * kWidth);
  }
}

template <std::int64_t kWidth>
void lay_panel_of(const PanelSource& source, std::uint32_t* panel) {
  if (source.lane_stride != 1) return lay_lane_by_lane(source, kWidth, panel);
  (source.lanes == kWidth ? lay_row_by_row<kWidth> : lay_narrow_rows<kWidth>)(source, panel);
}

void lay_panel(const PanelSource& source, std::int64_t width, std::uint32_t* panel) {
  (width == kPanelRows ? lay_panel_of<kPanelRows> : lay_panel_of<kPanelColumns>)(source, panel);
}

constexpr PanelLoops kPanels = {
    .elements = kElements, .rows = kPanelRows, .columns = kPanelColumns, .lay = lay_panel, .multiply = multiply_block};

}  // namespace
}  // namespace qkv::kernels::QKV_LOOPS
