#include "oracle/norm.h"

#include <cmath>
#include <span>
#include <vector>

#include "nn/require.h"

namespace qkv::oracle {
namespace {

double mean_of(std::span<const double> row) {
  double sum = 0;
  for (const double value : row) sum += value;
  return sum / static_cast<double>(row.size());
}

// The mean of (value - centre)^2, in a second pass over the row: no cancellation.
double mean_square(std::span<const double> row, double centre) {
  double sum = 0;
  for (const double value : row) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(row.size());
}

}  // namespace

Tensor Norm::forward(const TensorView& x) const {
  nn::require_width("oracle::Norm", "x", weight.dim(0), x.shape());
  const std::vector<double> factors = weight.to_vector();
  const std::size_t width = factors.size();
  const std::vector<double> shifts = bias ? bias->to_vector() : std::vector<double>(width, 0.0);
  std::vector<double> values = x.to_vector();
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const std::span<double> row = std::span(values).subspan(begin, width);
    const double centre = bias || centred ? mean_of(row) : 0.0;
    const double inv = 1.0 / std::sqrt(mean_square(row, centre) + epsilon);
    for (std::size_t i = 0; i < width; ++i) row[i] = (row[i] - centre) * inv * (gain + factors[i]) + shifts[i];
  }
  return Tensor(values, x.shape()).to(x.dtype());
}

}  // namespace qkv::oracle
