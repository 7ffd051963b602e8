// exp, tanh, log and the normal distribution: in f32 those that loops vectorise over, or libm's; in f64 the exact ones.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "core/exact_math.h"
#include "kernels/exponential.h"
#include "kernels/vectorised.h"

namespace qkv::autograd {

using kernels::exponential;
using kernels::hyperbolic_tangent;

QKV_INLINED inline float logarithm(float x) { return std::log(x); }
QKV_INLINED inline double logarithm(double x) { return core::log(x); }

template <class Real>
QKV_INLINED inline Real logistic(Real x) {
  return 1 / (1 + exponential(-x));
}

/// The standard normal distribution function and its density.
template <class Real>
struct Normal {
  Real below;
  Real density;
};

QKV_INLINED inline Normal<double> normal(double x) {
  constexpr double kInverseRootTwoPi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return {0.5 * core::erfc(-x / std::numbers::sqrt2), kInverseRootTwoPi * core::exp(-0.5 * x * x)};
}

/// With z = |x| / sqrt(2): erfc(z) = exp(-z^2) * p(t), t = 1 / (1 + 0.5 z), where p is a polynomial without constant
/// term fitted to the least relative error on [0, 10] (4.3e-8), so the tail keeps its digits.
QKV_INLINED inline Normal<float> normal(float x) {
  constexpr auto kInverseRootTwoPi = static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  constexpr auto kInverseRootTwo = static_cast<float>(1 / std::numbers::sqrt2);
  const float t = 1.0F / (1.0F + 0.5F * (std::fabs(x) * kInverseRootTwo));
  float p = -0.0590690412F;
  p = p * t + 0.284575343F;
  p = p * t + -0.487200648F;
  p = p * t + 0.278067976F;
  p = p * t + -0.0266261976F;
  p = p * t + 0.202687085F;
  p = p * t + 0.243103713F;
  p = p * t + 0.282375306F;
  p = p * t + 0.282086432F;
  const float bell = exponential(-0.5F * (x * x));
  const float tail = 0.5F * bell * (p * t);
  return {x < 0.0F ? tail : 1.0F - tail, kInverseRootTwoPi * bell};
}

}  // namespace qkv::autograd
