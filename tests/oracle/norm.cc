#include "qkv/nn/norm.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "nn/require.h"

namespace qkv {
namespace {

void require_options(std::string_view layer, const Shape& normalized, double epsilon) {
  if (normalized.rank() == 0 || normalized.product() == 0) {
    throw InvalidArgument(layer, "normalized", "one or more axes of 1 or more", normalized.to_string());
  }
  if (!(epsilon >= 0) || !std::isfinite(epsilon)) {
    throw InvalidArgument(layer, "epsilon", "0 or more", fmt::format("{}", epsilon));
  }
}

void require_parameter(std::string_view layer, std::string_view name, const Shape& normalized,
                       const std::optional<Tensor>& parameter) {
  if (!parameter) return;
  nn::require_floating(layer, name, parameter->dtype());
  nn::require_shape(layer, name, normalized, parameter->shape());
}

void require_input(std::string_view layer, const TensorView& x, const Shape& normalized) {
  nn::require_floating(layer, "x", x.dtype());
  const int leading = x.rank() - normalized.rank();
  bool fits = leading >= 0;
  for (int axis = 0; fits && axis < normalized.rank(); ++axis) fits = x.shape()[leading + axis] == normalized[axis];
  if (!fits) {
    throw InvalidArgument(layer, "x", "trailing axes " + normalized.to_string(), x.shape().to_string());
  }
}

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

std::vector<double> values_of(const std::optional<Tensor>& parameter, std::size_t count, double otherwise) {
  return parameter ? parameter->to_vector() : std::vector<double>(count, otherwise);
}

// Calls body(row) for every normalised row of `values`.
template <class Body>
void for_each_row(std::vector<double>& values, const Shape& normalized, const Body& body) {
  const auto width = static_cast<std::size_t>(normalized.product());
  for (std::size_t begin = 0; begin < values.size(); begin += width) body(std::span(values).subspan(begin, width));
}

}  // namespace

LayerNorm::LayerNorm(LayerNormOptions options) : options_(std::move(options)) {
  require_options("LayerNorm", options_.normalized, options_.epsilon);
  require_parameter("LayerNorm", "weight", options_.normalized, options_.weight);
  require_parameter("LayerNorm", "bias", options_.normalized, options_.bias);
}

Tensor LayerNorm::forward(const TensorView& x) const {
  require_input("LayerNorm", x, options_.normalized);
  const auto width = static_cast<std::size_t>(options_.normalized.product());
  const std::vector<double> weight = values_of(options_.weight, width, 1.0);
  const std::vector<double> bias = values_of(options_.bias, width, 0.0);
  std::vector<double> values = x.to_vector();
  for_each_row(values, options_.normalized, [&](std::span<double> row) {
    const double mean = mean_of(row);
    const double inv_std = 1.0 / std::sqrt(mean_square(row, mean) + options_.epsilon);
    for (std::size_t i = 0; i < width; ++i) row[i] = (row[i] - mean) * inv_std * weight[i] + bias[i];
  });
  return Tensor(values, x.shape()).to(x.dtype());
}

NormStatistics LayerNorm::statistics(const TensorView& x) const {
  require_input("LayerNorm", x, options_.normalized);
  std::vector<double> means;
  std::vector<double> inv_stds;
  std::vector<double> values = x.to_vector();
  for_each_row(values, options_.normalized, [&](std::span<const double> row) {
    means.push_back(mean_of(row));
    inv_stds.push_back(1.0 / std::sqrt(mean_square(row, means.back()) + options_.epsilon));
  });
  Shape shape = x.shape();
  for (int axis = x.rank() - options_.normalized.rank(); axis < x.rank(); ++axis) shape[axis] = 1;
  const DType dtype = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  return {.mean = Tensor(means, shape).to(dtype), .inv_std = Tensor(inv_stds, shape).to(dtype)};
}

RMSNorm::RMSNorm(RMSNormOptions options) : options_(std::move(options)) {
  require_options("RMSNorm", options_.normalized, options_.epsilon);
  require_parameter("RMSNorm", "weight", options_.normalized, options_.weight);
}

Tensor RMSNorm::forward(const TensorView& x) const {
  require_input("RMSNorm", x, options_.normalized);
  const auto width = static_cast<std::size_t>(options_.normalized.product());
  const std::vector<double> weight = values_of(options_.weight, width, 1.0);
  std::vector<double> values = x.to_vector();
  for_each_row(values, options_.normalized, [&](std::span<double> row) {
    const double inv_rms = 1.0 / std::sqrt(mean_square(row, 0.0) + options_.epsilon);
    for (std::size_t i = 0; i < width; ++i) row[i] = row[i] * inv_rms * weight[i];
  });
  return Tensor(values, x.shape()).to(x.dtype());
}

Tensor normalize(const Norm& norm, const TensorView& x) {
  return std::visit([&](const auto& layer) { return layer.forward(x); }, norm);
}

const Shape& normalized_of(const Norm& norm) noexcept {
  if (const auto* layer = std::get_if<LayerNorm>(&norm)) return layer->options().normalized;
  return std::get_if<RMSNorm>(&norm)->options().normalized;
}

}  // namespace qkv
