#include <wasm_simd128.h>

#include "kernels/cpu/simd_wasm.h"
#include "kernels/product/quantised_laid-inl.h"

namespace qkv::kernels::simd128 {
namespace {

using quantised::Bytes;
using quantised::Floats;
using quantised::FourInts;
using quantised::Ints;

// WebAssembly multiplies numbers of 16 bits and adds two neighbouring products: so x lies in 16 bits, a panel by twos.
struct Quantised {
  static constexpr bool kUnrolls = false;
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kRun = 2;
  static constexpr bool kTakesSigned = true;
  using WideFloats = Floats;
  using X = std::int16_t;

  [[gnu::always_inline]] static Floats widened(const std::uint16_t* halves) {
    return joined<Floats>(cpu::wasm::Simd::load_f16(halves), cpu::wasm::Simd::load_f16(halves + 4));
  }
  [[gnu::always_inline]] static float half(const void* at) {
    std::uint16_t four[4] = {};
    std::memcpy(four, at, sizeof(*four));
    return wasm_f32x4_extract_lane(cpu::wasm::Simd::load_f16(four), 0);
  }
  [[gnu::always_inline]] static Floats floats_of(std::uint64_t eight) {
    const v128_t all = wasm_u16x8_load8x8(&eight);
    return joined<Floats>(wasm_f32x4_convert_u32x4(wasm_u32x4_extend_low_u16x8(all)),
                          wasm_f32x4_convert_u32x4(wasm_u32x4_extend_high_u16x8(all)));
  }
  [[gnu::always_inline]] static Floats signed_floats_of(std::uint64_t eight) {
    const v128_t all = wasm_i16x8_load8x8(&eight);
    return joined<Floats>(wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(all)),
                          wasm_f32x4_convert_i32x4(wasm_i32x4_extend_high_i16x8(all)));
  }

  [[gnu::always_inline]] static Bytes uneven(const Bytes& x) { return looked_up(core::kUneven.data(), x); }
  [[gnu::always_inline]] static Bytes twice_floats(const Bytes& x) { return looked_up(core::kTwiceFloats.data(), x); }

  // Four sums of each 16 products, which is as near as a group's bounds are kept.
  [[gnu::always_inline]] static Ints dot_signed(const Bytes& numbers, const Bytes& x) {
    const auto* left = reinterpret_cast<const std::uint8_t*>(&numbers);
    const auto* right = reinterpret_cast<const std::uint8_t*>(&x);
    return joined<Ints>(fours(left, right), fours(left + 16, right + 16));
  }
  [[gnu::always_inline]] static Ints dot(const Bytes& numbers, const Bytes& x) { return dot_signed(numbers, x); }
  [[gnu::always_inline]] static void add_dot(Ints& sums, const Bytes& numbers, const Bytes& x) {
    sums += dot_signed(numbers, x);
  }

  [[gnu::always_inline]] static void lay_rows(const std::int8_t* x, std::int64_t K, X* to) {
    for (std::int64_t k = 0; k < K; k += quantised::kLaidStep) {
      for (int r = 0; r < quantised::kLaidRows; ++r, to += quantised::kLaidStep) {
        wasm_v128_store(to, wasm_i16x8_load8x8(x + r * K + k));
      }
    }
  }

  [[gnu::always_inline]] static void add_products(FourInts (&products)[8], const std::uint8_t* numbers, const X* x) {
#pragma GCC unroll 4
    for (int two = 0; two < 4; ++two) {
      const v128_t right[2] = {wasm_i16x8_load8x8(numbers + 16 * two), wasm_i16x8_load8x8(numbers + 16 * two + 8)};
#pragma GCC unroll 4
      for (int r = 0; r < quantised::kLaidRows; ++r) {
        const v128_t left = wasm_v128_load32_splat(x + r * quantised::kLaidStep + 2 * two);
        products[2 * r] += (FourInts)wasm_i32x4_dot_i16x8(right[0], left);
        products[2 * r + 1] += (FourInts)wasm_i32x4_dot_i16x8(right[1], left);
      }
    }
  }

  [[gnu::always_inline]] static void stand_as_rows(FourInts (& /*products*/)[8]) {}

 private:
  template <class Vector>
  [[gnu::always_inline]] static Vector joined(v128_t low, v128_t high) {
    const v128_t both[2] = {low, high};
    return quantised::load<Vector>(both);
  }

  [[gnu::always_inline]] static Bytes looked_up(const std::int8_t* list, const Bytes& x) {
    const v128_t values = wasm_v128_load(list);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&x);
    return joined<Bytes>(wasm_i8x16_swizzle(values, wasm_v128_load(bytes)),
                         wasm_i8x16_swizzle(values, wasm_v128_load(bytes + 16)));
  }

  [[gnu::always_inline]] static v128_t fours(const std::uint8_t* left, const std::uint8_t* right) {
    return wasm_i32x4_add(wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(left), wasm_i16x8_load8x8(right)),
                          wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(left + 8), wasm_i16x8_load8x8(right + 8)));
  }
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::laid_loops_of<Quantised>();

}  // namespace qkv::kernels::simd128
