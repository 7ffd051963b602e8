// The loops of quantised products, for the vectors of a target's S. Compiled once per target: nothing of the standard
// library that those copies could share is used here.
#pragma once

#include "kernels/product/quantised_blocks.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::quantised {

template <class S, BlockType kType>
[[gnu::always_inline]] inline const std::uint8_t* row_of(const QuantisedWeight& weight, std::int64_t row) {
  const std::int64_t bytes =
      weight.K / kChunk * Blocks<S, kType>::kBytes + weight.K % kChunk / kBlock * (Blocks<S, kType>::kBytes / kBlocks);
  return reinterpret_cast<const std::uint8_t*>(weight.blocks) + row * bytes;
}

/// The products of kRows rows of x, from `row` on, with one row of the weight.
template <class S, BlockType kType, int kRows>
struct Few {
  using Type = Blocks<S, kType>;
  static constexpr int kGroups = Type::kGroups;

  const QuantisedRows& x;
  std::int64_t K;
  std::int64_t row;
  // Two sums of each, since one would wait for itself.
  Floats sums[kRows][2] = {};
  Floats least[kRows] = {};

  /// The next kCount blocks of 32, from number `first` of the row on.
  template <int kCount>
  [[gnu::always_inline]] void add(const std::uint8_t* at, std::int64_t first) {
    Floats scale[kGroups];
    Floats minimum[kGroups];
    Type::scales(at, kCount, scale, minimum);
    if constexpr (is_of_halves(kType) && kCount > 1) {
      Floats products[kRows];
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t group = (row + r) * x.stride + first / kBlock;
        products[r] = *scale * load<Floats>(x.scales + group);
        if constexpr (Type::kHasLeast) least[r] += *minimum * load<Floats>(x.sums + group);
      }
      add_halves<0, kCount>(at, first, products);
      return;
    }
    alignas(sizeof(Floats)) float factors[kRows][kBlocks * kGroups];
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t group = (row + r) * x.stride + first / kBlock * kGroups;
      for (int g = 0; g < kGroups; ++g) {
        store(factors[r] + g * kBlocks, scale[g] * load<Floats>(x.scales + group + g * kBlocks));
        if constexpr (Type::kHasLeast) least[r] += minimum[g] * load<Floats>(x.sums + group + g * kBlocks);
      }
    }
    asm("" : "+m"(factors));  // or GCC would take them apart in registers, by two instructions each
    const auto multiply = [&](int n) __attribute__((always_inline)) {
      const Bytes numbers = Type::numbers(at, n);
      for (int r = 0; r < kRows; ++r) {
        const auto left = load<Bytes>(x.numbers + (row + r) * K + first + n * kBlock);
        const Ints products = Type::kSigned ? S::dot_signed(numbers, left) : S::dot(numbers, left);
        sums[r][S::kUnrolls ? n % 2 : 0] += to_floats(products) * factor(factors[r], n);
      }
    };
    if constexpr (S::kUnrolls) {
#pragma GCC unroll 8
      for (int n = 0; n < kCount; ++n) multiply(n);
    } else {
      for (int n = 0; n < kCount; ++n) multiply(n);
    }
  }

  /// Blocks 2 kPair and 2 kPair + 1 and those behind them, where factors has one of each block.
  template <int kPair, int kCount>
  [[gnu::always_inline]] void add_halves(const std::uint8_t* at, std::int64_t first, const Floats (&factors)[kRows]) {
    constexpr int kBlock0 = 2 * kPair;
    constexpr int kBlock1 = kBlock0 + 1;
    Bytes low;
    Bytes high;
    Type::halves(at, kPair, low, high);
    for (int r = 0; r < kRows; ++r) {
      const std::int8_t* left = x.numbers + (row + r) * K + first + kBlock0 * kBlock;
      const Floats both = __builtin_shufflevector(factors[r], factors[r], kBlock0, kBlock0, kBlock0, kBlock0, kBlock1,
                                                  kBlock1, kBlock1, kBlock1);
      sums[r][kPair % 2] += to_floats(products_of(low, load<Bytes>(left), high, load<Bytes>(left + kBlock))) * both;
    }
    if constexpr (kBlock1 + 1 < kCount) add_halves<kPair + 1, kCount>(at, first, factors);
  }

  [[gnu::always_inline]] static Ints products_of(const Bytes& low, const Bytes& x, const Bytes& high, const Bytes& y) {
    if constexpr (Type::kSigned) return S::dot_signed(low, x) + S::dot_signed(high, y);
    Ints products = S::dot(low, x);
    S::add_dot(products, high, y);
    return products;
  }

  [[gnu::always_inline]] static Floats factor(const float* factors, int n) {
    if constexpr (kGroups == 1) return splat(factors[n]);
    const float low = factors[2 * n];
    const float high = factors[2 * n + 1];
    return Floats{low, low, low, low, high, high, high, high};
  }
};

template <class S, BlockType kType, int kRows>
[[gnu::always_inline]] inline void few_of(const QuantisedProduct& p, std::int64_t row, std::int64_t begin,
                                          std::int64_t end) {
  using Type = Blocks<S, kType>;
  for (std::int64_t column = begin; column < end; ++column) {
    const std::uint8_t* at = row_of<S, kType>(p.weight, column);
    Few<S, kType, kRows> sums = {.x = p.x, .K = p.weight.K, .row = row};
    std::int64_t first = 0;
    for (; first + kChunk <= sums.K; first += kChunk, at += Type::kBytes) {
      if constexpr (requires { S::kFetchedAhead; }) {
        for (std::int64_t line = 0; line < Type::kBytes; line += 64) {
          __builtin_prefetch(at + S::kFetchedAhead + line, 0, 3);
        }
      }
      sums.template add<kBlocks>(at, first);
    }
    if constexpr (is_of_halves(kType)) {
      for (; first + 2 * kBlock <= sums.K; first += 2 * kBlock, at += Type::kBytes / kBlocks * 2) {
        sums.template add<2>(at, first);
      }
    }
    if constexpr (Type::kIsSmall) {
      for (; first < sums.K; first += kBlock, at += Type::kBytes / kBlocks) sums.template add<1>(at, first);
    }
    for (int r = 0; r < kRows; ++r) {
      const float sum = sum_of(sums.sums[r][0] + sums.sums[r][1] + sums.least[r]);
      p.out[(row + r) * p.out_row + column] = p.bias == nullptr ? sum : sum + p.bias[column];
    }
  }
}

/// A few columns at a time, which stay near for all rows of x.
template <class S, BlockType kType>
void few_columns(const QuantisedProduct& p, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kNear = 16;
  for (std::int64_t first = begin; first < end; first += kNear) {
    const std::int64_t last = first + kNear < end ? first + kNear : end;
    std::int64_t row = 0;
    if constexpr (S::kUnrolls) {
      for (; row + 4 <= p.x.M; row += 4) few_of<S, kType, 4>(p, row, first, last);
    }
    for (; row < p.x.M; ++row) few_of<S, kType, 1>(p, row, first, last);
  }
}

/// S::kLanes rows of a weight side by side: of S::kRun numbers each, lane after lane; of each group the scales, and
/// what is added to scale times number, lane after lane.
template <class S>
struct Panel {
  std::uint8_t* numbers;  // [K / kRun][kLanes][kRun]
  float* scales;          // [groups][kLanes]
  float* least;           // [groups][kLanes]

  static constexpr std::int64_t kStep = S::kLanes * 4;  // from one four of numbers to the next

  [[gnu::always_inline]] static std::int64_t groups(std::int64_t K, int of_block) { return K / kBlock * of_block; }
  [[gnu::always_inline]] static std::int64_t bytes(std::int64_t K) {
    return K * S::kLanes + 2 * groups(K, 2) * S::kLanes * static_cast<std::int64_t>(sizeof(float));
  }
  [[gnu::always_inline]] static Panel at(std::byte* scratch, std::int64_t K) {
    auto* const numbers = reinterpret_cast<std::uint8_t*>(scratch);
    auto* const scales = reinterpret_cast<float*>(numbers + K * S::kLanes);
    return {numbers, scales, scales + groups(K, 2) * S::kLanes};
  }
};

/// Whether the numbers of a type stand in a panel 128 too large, since the target's products want them from 0 on.
template <class S, BlockType kType>
inline constexpr bool kRaised = Blocks<S, kType>::kSigned && !S::kTakesSigned;
template <class S, BlockType kType>
inline constexpr bool kPanelHasLeast = Blocks<S, kType>::kHasLeast || kRaised<S, kType>;

/// Of kCount * kGroups groups of eight rows, what scales() gave of each row, eight lanes from `to` on.
template <class S, int kCount, int kGroups>
[[gnu::always_inline]] inline void lay_floats(float* to, const Floats (&of_rows)[8][kGroups]) {
#pragma GCC unroll 2
  for (int part = 0; part < kGroups; ++part) {
    Floats lanes[8];
#pragma GCC unroll 8
    for (int lane = 0; lane < 8; ++lane) lanes[lane] = of_rows[lane][part];
    transpose(lanes);
#pragma GCC unroll 8
    for (int n = 0; n < 8; ++n) {
      const int group = part * 8 + n;
      if (group < kCount * kGroups) store(to + group * S::kLanes, lanes[n]);
    }
  }
}

/// 32 numbers of each of eight rows, as a panel has them. Spoils `rows`.
template <class S>
[[gnu::always_inline]] inline void lay_numbers(std::uint8_t* to, Ints (&rows)[8]) {
  if constexpr (S::kRun == 8) {
    static_assert(S::kLanes == 8);
#pragma GCC unroll 4
    for (int n = 0; n < 8; n += 2) {
      const Ints& a = rows[n];
      const Ints& b = rows[n + 1];
      std::uint8_t* const two = to + n * 8;
      store(two, __builtin_shufflevector(a, b, 0, 1, 8, 9));
      store(two + 2 * Panel<S>::kStep, __builtin_shufflevector(a, b, 2, 3, 10, 11));
      store(two + 4 * Panel<S>::kStep, __builtin_shufflevector(a, b, 4, 5, 12, 13));
      store(two + 6 * Panel<S>::kStep, __builtin_shufflevector(a, b, 6, 7, 14, 15));
    }
    return;
  }
  transpose(rows);
#pragma GCC unroll 8
  for (int four = 0; four < kBlock / 4; ++four, to += Panel<S>::kStep) {
    if constexpr (S::kRun == 2) {
      const auto twos = load<Twos>(rows + four);
      store(to, __builtin_shufflevector(twos, twos, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    } else {
      store(to, rows[four]);
    }
  }
}

/// The next kCount blocks of 32 of eight rows, from number `first` on, become lanes from `lane` on.
template <class S, BlockType kType, int kCount>
[[gnu::always_inline]] inline void lay(const Panel<S>& panel, std::int64_t lane, const std::uint8_t* const (&at)[8],
                                       std::int64_t first) {
  using Type = Blocks<S, kType>;
  Floats scale[8][Type::kGroups];
  Floats least[8][Type::kGroups];
#pragma GCC unroll 8
  for (int n = 0; n < 8; ++n) {
    Type::scales(at[n], kCount, scale[n], least[n]);
    if constexpr (kRaised<S, kType>) {
      for (int part = 0; part < Type::kGroups; ++part) least[n][part] = scale[n][part] * -128;
    }
  }
  const std::int64_t group = first / kBlock * Type::kGroups;
  lay_floats<S, kCount>(panel.scales + group * S::kLanes + lane, scale);
  if constexpr (kPanelHasLeast<S, kType>) lay_floats<S, kCount>(panel.least + group * S::kLanes + lane, least);
  std::uint8_t* to = panel.numbers + first / 4 * Panel<S>::kStep + lane * 4;
  const auto lay_block = [&](int block) __attribute__((always_inline)) {
    Ints lanes[8];
#pragma GCC unroll 8
    for (int n = 0; n < 8; ++n) {
      Bytes numbers = Type::numbers(at[n], block);
      if constexpr (kRaised<S, kType>) numbers ^= 128;
      lanes[n] = load<Ints>(&numbers);
    }
    lay_numbers<S>(to + block * (kBlock / 4 * Panel<S>::kStep), lanes);
  };
  if constexpr (S::kUnrolls) {
#pragma GCC unroll 8
    for (int block = 0; block < kCount; ++block) lay_block(block);
  } else {
    for (int block = 0; block < kCount; ++block) lay_block(block);
  }
}

template <class S, BlockType kType>
void lay_panel(const QuantisedWeight& weight, std::int64_t row, std::int64_t rows, const Panel<S>& panel) {
  using Type = Blocks<S, kType>;
  for (std::int64_t lane = 0; lane < S::kLanes; lane += 8) {
    const std::uint8_t* at[8];
    for (std::int64_t n = 0; n < 8; ++n) {
      // Lanes behind the weight's last row are that row again; what they make is not written.
      at[n] = row_of<S, kType>(weight, row + (lane + n < rows ? lane + n : rows - 1));
    }
    const std::int64_t eight_rows = 8 * (row_of<S, kType>(weight, 1) - row_of<S, kType>(weight, 0));
    const auto advance = [&](std::int64_t bytes) __attribute__((always_inline)) {
#pragma GCC unroll 8
      for (int n = 0; n < 8; ++n) at[n] += bytes;
    };
    std::int64_t first = 0;
    for (; first + kChunk <= weight.K; first += kChunk, advance(Type::kBytes)) {
      // What the next eight rows have there: the machine's own prefetchers do not see so many short runs.
      for (int n = 0; n < 8; ++n) {
        for (std::int64_t line = 0; line < Type::kBytes; line += 64)
          __builtin_prefetch(at[n] + eight_rows + line, 0, 2);
      }
      lay<S, kType, kBlocks>(panel, lane, at, first);
    }
    if constexpr (Type::kIsSmall) {
      for (; first < weight.K; first += kBlock, advance(Type::kBytes / kBlocks)) {
        lay<S, kType, 1>(panel, lane, at, first);
      }
    }
  }
}

/// Row `row` of `out`, in so many columns of a panel.
template <class S>
[[gnu::always_inline]] inline void write_row(const QuantisedProduct& p, std::int64_t row, std::int64_t column,
                                             std::int64_t columns, const typename S::WideFloats& sums) {
  float* out = p.out + row * p.out_row + column;
  if (columns == S::kLanes && p.bias == nullptr) return store(out, sums);
  for (std::int64_t n = 0; n < columns; ++n) out[n] = p.bias == nullptr ? sums[n] : sums[n] + p.bias[column + n];
}

/// S::kRows rows of x, from `row` on, with a panel; those of them that x has are written.
template <class S, BlockType kType>
[[gnu::always_inline]] inline void rows_of_panel(const QuantisedProduct& p, const Panel<S>& panel, std::int64_t row,
                                                 std::int64_t column, std::int64_t columns) {
  using Type = Blocks<S, kType>;
  using WideFloats = typename S::WideFloats;
  using WideInts = typename S::WideInts;
  using WideBytes = typename S::WideBytes;
  constexpr int kRows = S::kRows;
  constexpr std::int64_t kGroup = kBlock / Type::kGroups;
  const std::int64_t K = p.weight.K;
  const std::int8_t* x = p.x.numbers + row * K;
  const float* scales = p.x.scales + row * p.x.stride;
  const float* sums_of_x = p.x.sums + row * p.x.stride;
  const std::uint8_t* numbers = panel.numbers;
  WideFloats sums[kRows] = {};
  for (std::int64_t group = 0; group < K / kGroup; ++group) {
    WideInts products[kRows] = {};
#pragma GCC unroll 8
    for (std::int64_t four = 0; four < kGroup / 4; ++four, numbers += Panel<S>::kStep) {
      const auto right = load<WideBytes>(numbers);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const WideInts left = WideInts{} + load<std::int32_t>(x + r * K + group * kGroup + four * 4);
        if constexpr (Type::kSigned && S::kTakesSigned) {
          S::add_signed_products(products[r], right, load<WideBytes>(&left));
        } else {
          S::add_products(products[r], right, load<WideBytes>(&left));
        }
      }
    }
    const auto scale = load<WideFloats>(panel.scales + group * S::kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      sums[r] += __builtin_convertvector(products[r], WideFloats) * (scale * scales[r * p.x.stride + group]);
    }
    if constexpr (kPanelHasLeast<S, kType>) {
      const auto least = load<WideFloats>(panel.least + group * S::kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r] += least * sums_of_x[r * p.x.stride + group];
    }
  }
  for (int r = 0; r < kRows && row + r < p.x.M; ++r) write_row<S>(p, row + r, column, columns, sums[r]);
}

/// body(panel, its first column, its columns) for each panel of columns [begin, end).
template <class S, class Body>
[[gnu::always_inline]] inline void each_panel(std::int64_t K, std::int64_t begin, std::int64_t end, std::byte* scratch,
                                              const Body& body) {
  for (std::int64_t column = begin; column < end; column += S::kLanes) {
    const std::int64_t columns = end - column < S::kLanes ? end - column : S::kLanes;
    body(Panel<S>::at(scratch + (column - begin) / S::kLanes * Panel<S>::bytes(K), K), column, columns);
  }
}

template <class S, BlockType kType>
[[gnu::always_inline]] inline void lay_panels(const QuantisedWeight& weight, std::int64_t begin, std::int64_t end,
                                              std::byte* scratch) {
  each_panel<S>(weight.K, begin, end, scratch,
                [&](const Panel<S>& panel, std::int64_t column, std::int64_t columns)
                    __attribute__((always_inline)) { lay_panel<S, kType>(weight, column, columns, panel); });
}

template <class S, BlockType kType>
void many_columns(const QuantisedProduct& p, std::int64_t begin, std::int64_t end, std::byte* scratch) {
  lay_panels<S, kType>(p.weight, begin, end, scratch);
  for (std::int64_t row = 0; row < p.x.M; row += S::kRows) {
    each_panel<S>(p.weight.K, begin, end, scratch,
                  [&](const Panel<S>& panel, std::int64_t column, std::int64_t columns)
                      __attribute__((always_inline)) { rows_of_panel<S, kType>(p, panel, row, column, columns); });
  }
}

#define QKV_EACH_BLOCK_TYPE(use)                                                                                  \
  use(q4_0) use(q4_1) use(q5_0) use(q5_1) use(q8_0) use(q2_k) use(q3_k) use(q4_k) use(q5_k) use(q6_k) use(iq4_nl) \
      use(iq4_xs) use(mxfp4)

template <class S>
void few(const QuantisedProduct& p, std::int64_t begin, std::int64_t end) {
  switch (p.weight.type) {
#define QKV_FEW(type)   \
  case BlockType::type: \
    return few_columns<S, BlockType::type>(p, begin, end);
    QKV_EACH_BLOCK_TYPE(QKV_FEW)
#undef QKV_FEW
  }
}

/// Those of another target: S::others().
template <class S>
void few_of_others(const QuantisedProduct& p, std::int64_t begin, std::int64_t end) {
  S::others().few(p, begin, end);
}

template <class S>
void many(const QuantisedProduct& p, std::int64_t begin, std::int64_t end, std::byte* scratch) {
  switch (p.weight.type) {
#define QKV_MANY(type)  \
  case BlockType::type: \
    return many_columns<S, BlockType::type>(p, begin, end, scratch);
    QKV_EACH_BLOCK_TYPE(QKV_MANY)
#undef QKV_MANY
  }
}

template <class S>
constexpr QuantisedLoops loops_of() {
  return {.few = few<S>, .many = many<S>, .lanes = S::kLanes};
}

}  // namespace qkv::kernels::quantised
