// Sums and maxima of rows, in lanes whose number is fixed: the same bits with any vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "autograd/real.h"
#include "autograd/special.h"

namespace qkv::autograd {

inline constexpr int kRowLanes = 32;

/// The sum of term(i) for i from 0 to count - 1.
template <class Real, class Term>
QKV_INLINED inline Real sum_of(std::int64_t count, const Term& term) {
  Real lanes[kRowLanes] = {};
  std::int64_t i = 0;
  for (; i + kRowLanes <= count; i += kRowLanes) {
    for (int lane = 0; lane < kRowLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (int lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  for (int half = kRowLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

/// Two sums in one pass: term(i, a, b) adds to a and b.
template <class Real, class Term>
QKV_INLINED inline std::array<Real, 2> sums_of(std::int64_t count, const Term& term) {
  constexpr int kLanes = 16;
  Real first[kLanes] = {};
  Real second[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) term(i + lane, first[lane], second[lane]);
  }
  for (int lane = 0; i < count; ++i, ++lane) term(i, first[lane], second[lane]);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      first[lane] += first[lane + half];
      second[lane] += second[lane + half];
    }
  }
  return {first[0], second[0]};
}

/// The largest term(i); NaN is passed over, and `lowest` is the answer of no terms.
template <class Real, class Term>
QKV_INLINED inline Real largest_of(std::int64_t count, Real lowest, const Term& term) {
  Real lanes[kRowLanes];
  for (Real& lane : lanes) lane = lowest;
  std::int64_t i = 0;
  for (; i + kRowLanes <= count; i += kRowLanes) {
    for (int lane = 0; lane < kRowLanes; ++lane) {
      const Real value = term(i + lane);
      lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    }
  }
  for (int lane = 0; i < count; ++i, ++lane) {
    const Real value = term(i);
    lanes[lane] = value > lanes[lane] ? value : lanes[lane];
  }
  Real most = lowest;
  for (const Real lane : lanes) most = lane > most ? lane : most;
  return most;
}

/// The maximum of a row and the sum of exp(x - maximum); a row of -inf alone has maximum and sum 0.
template <class Real>
struct RowSum {
  Real most = 0;
  Real sum = 0;
};

template <class Real>
QKV_INLINED inline RowSum<Real> row_sum(const Real* x, std::int64_t width) {
  constexpr Real kLowest = -std::numeric_limits<Real>::infinity();
  const Real most = largest_of(width, kLowest, [&](std::int64_t i) QKV_INLINED { return x[i]; });
  const Real taken = most == kLowest ? 0 : most;
  const Real sum = sum_of<Real>(width, [&](std::int64_t i) QKV_INLINED { return exponential(x[i] - taken); });
  return {taken, sum};
}

}  // namespace qkv::autograd
