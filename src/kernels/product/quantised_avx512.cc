#include "kernels/product/quantised-inl.h"
#include "kernels/product/quantised_vectors_avx512.h"

namespace qkv::kernels::avx512 {
namespace {

struct Quantised : quantised::Avx512<Quantised> {
  [[gnu::always_inline]] static void add_products(WideInts& sums, const WideBytes& numbers, const WideBytes& x) {
    const __m512i pairs = _mm512_maddubs_epi16((__m512i)numbers, (__m512i)x);
    sums += (WideInts)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
  }
  // Pairs of larger numbers do not fit 16 bits, so x takes the sign.
  static constexpr bool kTakesSigned = true;
  [[gnu::always_inline]] static void add_signed_products(WideInts& sums, const WideBytes& numbers, const WideBytes& x) {
    const __mmask64 negative = _mm512_movepi8_mask((__m512i)numbers);
    const __m512i turned = _mm512_mask_sub_epi8((__m512i)x, negative, _mm512_setzero_si512(), (__m512i)x);
    add_products(sums, (WideBytes)_mm512_abs_epi8((__m512i)numbers), (WideBytes)turned);
  }
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::loops_of<Quantised>();

}  // namespace qkv::kernels::avx512
