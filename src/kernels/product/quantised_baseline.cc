// For any machine: of vectors that the compiler cuts into those that it has.
#include "core/block_type.h"
#include "kernels/product/quantised-inl.h"
#include "kernels/real.h"

namespace qkv::kernels::baseline {
namespace {

struct Quantised {
  static constexpr bool kUnrolls = false;  // which would take minutes to compile

  using Bytes = quantised::Bytes;
  using Ints = quantised::Ints;

  [[gnu::always_inline]] static quantised::Floats widened(const std::uint16_t* halves) {
    quantised::Floats all;
    for (int n = 0; n < 8; ++n) all[n] = from_half(halves[n]);
    return all;
  }

  [[gnu::always_inline]] static float half(const void* at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    return from_half(bits);
  }

  [[gnu::always_inline]] static quantised::Floats floats_of(std::uint64_t eight) {
    quantised::Floats all;
    for (unsigned n = 0; n < 8; ++n) all[n] = static_cast<float>(eight >> 8 * n & 255U);
    return all;
  }
  [[gnu::always_inline]] static quantised::Floats signed_floats_of(std::uint64_t eight) {
    quantised::Floats all;
    for (unsigned n = 0; n < 8; ++n) all[n] = static_cast<std::int8_t>(eight >> 8 * n & 255U);
    return all;
  }

  [[gnu::always_inline]] static Bytes looked_up(const std::int8_t* list, const Bytes& x) {
    Bytes all;
    for (int n = 0; n < quantised::kBlock; ++n) all[n] = static_cast<std::uint8_t>(list[x[n]]);
    return all;
  }
  [[gnu::always_inline]] static Bytes uneven(const Bytes& x) { return looked_up(core::kUneven.data(), x); }
  [[gnu::always_inline]] static Bytes twice_floats(const Bytes& x) { return looked_up(core::kTwiceFloats.data(), x); }

  // Lane n is of numbers 4 n to 4 n + 3, as those with an instruction for it have it: of two groups of 16 neither sums
  // those of the other.
  [[gnu::always_inline]] static Ints dot_signed(const Bytes& numbers, const Bytes& x) {
    using Pairs = std::int16_t __attribute__((vector_size(64)));
    const auto w = __builtin_convertvector(quantised::load<quantised::SignedBytes>(&numbers), Pairs);
    const auto y = __builtin_convertvector(quantised::load<quantised::SignedBytes>(&x), Pairs);
    const Pairs products = w * y;  // at most 128 * 127
    Ints sums;
    for (int n = 0; n < 8; ++n) {
      sums[n] = products[4 * n] + products[4 * n + 1] + products[4 * n + 2] + products[4 * n + 3];
    }
    return sums;
  }
  [[gnu::always_inline]] static Ints dot(const Bytes& numbers, const Bytes& x) { return dot_signed(numbers, x); }
  [[gnu::always_inline]] static void add_dot(Ints& sums, const Bytes& numbers, const Bytes& x) {
    sums += dot(numbers, x);
  }
};

}  // namespace

constinit const QuantisedLoops kQuantised = {.few = quantised::few<Quantised>};

}  // namespace qkv::kernels::baseline
