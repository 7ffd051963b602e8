// exp2 and tanh of a vector.
#pragma once

namespace qkv::kernels::cpu {

/// 2^x for x <= 127, relative error below 2e-7; 0 below -127, or already below -126; NaN stays.
template <class S>
[[gnu::always_inline]] inline typename S::F exp2(typename S::F x) {
  using F = typename S::F;
  if constexpr (S::kScalesByPowers) {
    // 2^floor(x) * p(x - floor(x)); minimax polynomial on [0, 1] with p(0) = 1.
    const F r = S::fraction(x);
    F p = S::splat(0.0018671302823349833F);
    p = S::fma(p, r, S::splat(0.009017029777169228F));
    p = S::fma(p, r, S::splat(0.05579991266131401F));
    p = S::fma(p, r, S::splat(0.24016444385051727F));
    p = S::fma(p, r, S::splat(0.6931512951850891F));  // NOLINT(modernize-use-std-numbers): fitted
    return S::scale_by_power(S::fma(p, r, S::splat(1.0F)), x);
  } else {
    // Degree 5 on [-0.5, 0.5]. Adding 1.5 * 2^23 + 127 leaves the rounded x, biased as an exponent, in the low bits of
    // the mantissa.
    const F magic = S::splat(12582912.0F + 127.0F);
    x = S::max(S::splat(-127.0F), x);
    const F biased = S::add(x, magic);
    const F r = S::sub(x, S::sub(biased, magic));
    F p = S::splat(0.0013276474472890609F);
    p = S::fma(p, r, S::splat(0.009675541892647743F));
    p = S::fma(p, r, S::splat(0.05550713092088699F));
    p = S::fma(p, r, S::splat(0.24022120237350464F));
    p = S::fma(p, r, S::splat(0.6931469440460205F));  // NOLINT(modernize-use-std-numbers): fitted
    p = S::fma(p, r, S::splat(1.0F));
    return S::mul(p, S::exponent_from_mantissa(biased));
  }
}

/// tanh(x): near 0 x + x^3 p(x^2) (Cephes tanhf), elsewhere 1 - 2 / (exp(2 |x|) + 1); NaN stays.
template <class S>
[[gnu::always_inline]] inline typename S::F tanh(typename S::F x) {
  using F = typename S::F;
  const F size = S::abs(x);
  const F square = S::mul(x, x);
  F p = S::splat(-5.70498872745e-3F);
  p = S::fma(p, square, S::splat(2.06390887954e-2F));
  p = S::fma(p, square, S::splat(-5.37397155531e-2F));
  p = S::fma(p, square, S::splat(1.33314422036e-1F));
  p = S::fma(p, square, S::splat(-3.33332819422e-1F));
  const F near_zero = S::fma(S::mul(p, square), x, x);
  const F clamped = S::min(S::splat(10.0F), size);
  const F power = exp2<S>(S::mul(clamped, S::splat(2.885390081777927F)));
  const F far = S::with_sign_of(S::sub(S::splat(1.0F), S::div(S::splat(2.0F), S::add(power, S::splat(1.0F)))), x);
  return S::select(S::less(size, S::splat(0.625F)), near_zero, far);
}

}  // namespace qkv::kernels::cpu
