#include "kernels/product/quantised_vectors_neon.h"

namespace qkv::kernels::neoni8mm {
namespace {

using quantised::FourInts;

// SMMLA multiplies two rows of x by two of the weight, of eight numbers each.
struct Quantised : quantised::Neon<Quantised> {
  static constexpr int kRun = 8;

  [[gnu::always_inline]] static const QuantisedLoops& others() { return neondot::kQuantised; }

  [[gnu::always_inline]] static void add_products(FourInts (&products)[8], const std::uint8_t* numbers, const X* x) {
    const int8x16_t rows[2] = {vld1q_s8(x), vld1q_s8(x + 16)};
#pragma GCC unroll 4
    for (int n = 0; n < 4; ++n) {
      const auto two = quantised::load<int8x16_t>(numbers + 16 * n);
#pragma GCC unroll 2
      for (int pair = 0; pair < 2; ++pair) {
        FourInts& sums = products[4 * pair + n];
        sums = (FourInts)vmmlaq_s32((int32x4_t)sums, rows[pair], two);
      }
    }
  }

  // Two columns of two rows each, which cost fewer instructions to part than scales to bring beside them.
  [[gnu::always_inline]] static void stand_as_rows(FourInts (&products)[8]) {
#pragma GCC unroll 4
    for (int n = 0; n < 8; n += 4) {
      FourInts* of = products + n;
      const FourInts parts[4] = {
          __builtin_shufflevector(of[0], of[1], 0, 1, 4, 5), __builtin_shufflevector(of[2], of[3], 0, 1, 4, 5),
          __builtin_shufflevector(of[0], of[1], 2, 3, 6, 7), __builtin_shufflevector(of[2], of[3], 2, 3, 6, 7)};
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part) of[part] = parts[part];
    }
  }
};

}  // namespace

constinit const QuantisedLoops kQuantised = {
    .few = quantised::few_of_others<Quantised>, .many = quantised::laid_many<Quantised>, .lanes = Quantised::kLanes};

}  // namespace qkv::kernels::neoni8mm
