// Linear attention as its formula says it: every pair's weight, no state. In any precision: long double is the truth,
// and the tested precision is what a result may be twice as far from it as.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "qkv/linear_attention.h"

namespace qkv::testing_linear {

struct Extents {
  std::int64_t B = 1, Hq = 1, Hk = 1, Tq = 1, Tk = 1, D = 1, Dv = 1;
};

template <class T>
using Rows = std::vector<std::vector<T>>;

template <class T>
Rows<T> rows_of(const TensorView& x, std::int64_t b, std::int64_t h) {
  Rows<T> rows;
  for (std::int64_t t = 0; t < x.dim(2); ++t) {
    rows.emplace_back();
    for (std::int64_t d = 0; d < x.dim(3); ++d) rows.back().push_back(static_cast<T>(x.at({b, h, t, d})));
  }
  return rows;
}

/// The weights of one query over the first `seen` keys; they sum to 1, or are all 0.
template <class T>
std::vector<T> elu_weights(const std::vector<T>& q, const Rows<T>& k, std::size_t seen) {
  const auto feature = [](T x) { return x > 0 ? x + 1 : std::exp(x); };
  std::vector<T> weights(seen);
  T sum = 0;
  for (std::size_t j = 0; j < seen; ++j) {
    for (std::size_t d = 0; d < q.size(); ++d) weights[j] += feature(q[d]) * feature(k[j][d]);
    sum += weights[j];
  }
  for (T& weight : weights) weight = sum == 0 ? 0 : weight / sum;
  return weights;
}

template <class T>
std::vector<T> softmax_of(std::vector<T> x) {
  T peak = -std::numeric_limits<T>::infinity();
  for (const T value : x) peak = std::max(peak, value);
  T sum = 0;
  for (T& value : x) sum += value = std::isinf(value) && value < 0 ? 0 : std::exp(value - peak);
  for (T& value : x) value = sum == 0 ? 0 : value / sum;
  return x;
}

template <class T>
std::vector<T> softmax_weights(const std::vector<T>& q, const Rows<T>& k, std::size_t seen) {
  const std::vector<T> features = softmax_of(q);
  std::vector<T> weights(seen);
  for (std::size_t d = 0; d < q.size(); ++d) {
    std::vector<T> column;
    for (std::size_t j = 0; j < seen; ++j) column.push_back(k[j][d]);
    column = softmax_of(column);
    for (std::size_t j = 0; j < seen; ++j) weights[j] += features[d] * column[j];
  }
  return weights;
}

/// All of out [B, Hq, Tq, Dv] in row-major order, rounded to nothing.
template <class T>
std::vector<T> linear_reference(const TensorView& q, const TensorView& k, const TensorView& v,
                                const LinearAttentionOptions& options) {
  const auto Tq = static_cast<std::size_t>(q.dim(2));
  const auto Tk = static_cast<std::size_t>(k.dim(2));
  std::vector<T> out;
  for (std::int64_t b = 0; b < q.dim(0); ++b) {
    for (std::int64_t h = 0; h < q.dim(1); ++h) {
      const std::int64_t head = h / (q.dim(1) / k.dim(1));
      const Rows<T> queries = rows_of<T>(q, b, h);
      const Rows<T> keys = rows_of<T>(k, b, head);
      const Rows<T> values = rows_of<T>(v, b, head);
      for (std::size_t i = 0; i < Tq; ++i) {
        const std::size_t causal = i + 1 + Tk < Tq ? 0 : i + 1 + Tk - Tq;
        const std::size_t seen = options.causal ? causal : Tk;
        const auto weights = options.features == FeatureMap::softmax ? softmax_weights(queries[i], keys, seen)
                                                                     : elu_weights(queries[i], keys, seen);
        for (std::int64_t d = 0; d < v.dim(3); ++d) {
          T sum = 0;
          for (std::size_t j = 0; j < seen; ++j) sum += weights[j] * values[j][static_cast<std::size_t>(d)];
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

/// The same by a state and no weights, as a program would first write it down: what its own precision costs. elu only.
template <class T>
std::vector<T> elu_by_state(const TensorView& q, const TensorView& k, const TensorView& v, bool causal) {
  const auto feature = [](T x) { return x > 0 ? x + 1 : std::exp(x); };
  const std::int64_t shift = k.dim(2) - q.dim(2);
  std::vector<T> out;
  for (std::int64_t b = 0; b < q.dim(0); ++b) {
    for (std::int64_t h = 0; h < q.dim(1); ++h) {
      const Rows<T> keys = rows_of<T>(k, b, h / (q.dim(1) / k.dim(1)));
      const Rows<T> values = rows_of<T>(v, b, h / (q.dim(1) / k.dim(1)));
      Rows<T> sums(static_cast<std::size_t>(q.dim(3)), std::vector<T>(static_cast<std::size_t>(v.dim(3)) + 1));
      std::int64_t seen = 0;
      std::int64_t i = 0;
      for (const std::vector<T>& query : rows_of<T>(q, b, h)) {
        const std::int64_t sees = causal ? i + shift + 1 : k.dim(2);
        for (; seen < sees; ++seen) {
          const auto j = static_cast<std::size_t>(seen);
          for (std::size_t d = 0; d < sums.size(); ++d) {
            for (std::size_t n = 0; n < values[j].size(); ++n) sums[d][n] += feature(keys[j][d]) * values[j][n];
            sums[d].back() += feature(keys[j][d]);
          }
        }
        std::vector<T> row(sums[0].size());
        for (std::size_t d = 0; d < sums.size(); ++d) {
          for (std::size_t n = 0; n < row.size(); ++n) row[n] += feature(query[d]) * sums[d][n];
        }
        for (std::size_t n = 0; n + 1 < row.size(); ++n) out.push_back(row.back() == 0 ? 0 : row[n] / row.back());
        ++i;
      }
    }
  }
  return out;
}

template <class A, class B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  double largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    largest = std::max(largest, static_cast<double>(std::fabs(static_cast<long double>(a[n]) - b[n])));
  }
  return largest;
}

/// Twice the error of `plain`, and at least twice that of rounding the largest element once.
template <class T>
double tolerance(const std::vector<T>& plain, const std::vector<long double>& truth, double rounding) {
  double largest = 0;
  for (const long double value : truth) largest = std::max(largest, std::fabs(static_cast<double>(value)));
  return 2 * std::max(largest_difference(plain, truth), rounding * largest);
}

}  // namespace qkv::testing_linear
