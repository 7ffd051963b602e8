#include "kernels/reference/softmax.h"

#include <algorithm>
#include <limits>

#include "core/exact_math.h"

namespace qkv::kernels::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double RowSum::lse() const { return sum == 0 ? -kInfinity : max + core::log(sum); }

RowSum sum_row(std::span<const double> scores, std::optional<double> sink) {
  RowSum row = {sink.value_or(-kInfinity), 0};
  bool sees_nothing = true;
  for (const double score : scores) {
    row.max = std::max(row.max, score);
    sees_nothing = sees_nothing && score == -kInfinity;
  }
  if (sink) row.sum = core::exp(*sink - row.max);
  if (sees_nothing) return row;
  for (const double score : scores) {
    if (score != -kInfinity) row.sum += core::exp(score - row.max);  // +inf - +inf and NaN make the row NaN
  }
  return row;
}

double softmax_row(std::span<const double> scores, std::span<double> weights, std::optional<double> sink) {
  const RowSum row = sum_row(scores, sink);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    weights[j] = scores[j] == -kInfinity ? 0 : core::exp(scores[j] - row.max) / row.sum;
  }
  return row.lse();
}

}  // namespace qkv::kernels::reference
