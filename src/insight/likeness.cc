#include "insight/likeness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/watched.h"

namespace qkv::insight {
namespace {

// NaN comes behind all numbers, and is no larger than another NaN.
bool ranks_below(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

}  // namespace

std::vector<double> ranks_of(std::span<const double> values) {
  struct Placed {
    double value;
    std::size_t place;
  };
  std::vector<Placed> order;
  order.reserve(values.size());
  for (const double value : values) order.push_back({value, order.size()});
  std::ranges::sort(order, ranks_below, &Placed::value);
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && !ranks_below(order[begin].value, order[end].value)) ++end;
    const double mean = 0.5 * static_cast<double>(begin + end - 1);
    for (std::size_t n = begin; n < end; ++n) ranks[order[n].place] = mean;
    begin = end;
  }
  return ranks;
}

Tensor cosines_between(const TensorView& embeddings) {
  const std::int64_t T = embeddings.dim(0);
  const auto D = static_cast<std::size_t>(embeddings.dim(1));
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(T), std::vector<double>(D));
  for (std::int64_t i = 0; i < T; ++i) {
    std::vector<double>& row = rows[static_cast<std::size_t>(i)];
    embeddings.load_row(std::array{i}, row);
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    for (double& x : row) x = length > 0 ? x / length : 0;
  }
  Tensor cosines(DType::f64, {T, T});
  const auto values = cosines.values<double>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    core::look();
    for (std::size_t j = 0; j <= i; ++j) {
      const double cosine = std::inner_product(rows[i].begin(), rows[i].end(), rows[j].begin(), 0.0);
      values[i * rows.size() + j] = values[j * rows.size() + i] = cosine;
    }
  }
  return cosines;
}

double correlation_of_ranks(std::span<const double> left, std::span<const double> right) {
  const double mean = 0.5 * static_cast<double>(left.size() - 1);
  double product = 0;
  double left_square = 0;
  double right_square = 0;
  for (std::size_t n = 0; n < left.size(); ++n) {
    product += (left[n] - mean) * (right[n] - mean);
    left_square += (left[n] - mean) * (left[n] - mean);
    right_square += (right[n] - mean) * (right[n] - mean);
  }
  return left_square > 0 && right_square > 0 ? product / std::sqrt(left_square * right_square) : 0;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  return correlation_of_ranks(ranks_of(a), ranks_of(b));
}

}  // namespace qkv::insight
