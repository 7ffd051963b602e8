#include "qkv/train/optimizer.h"

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "core/plain_number.h"
#include "kernels/pieces.h"
#include "kernels/real.h"
#include "kernels/vectorised.h"
#include "kernels/with_real.h"

namespace qkv {
namespace {

void require_parameters(std::string_view function, const Parameters& parameters) {
  std::set<std::string_view> names;
  std::set<const autograd::Body*> seen;
  for (const Parameter& parameter : parameters) {
    const Variable& variable = parameter.value;
    if (!names.insert(parameter.name).second) {
      throw InvalidArgument(function, "parameters", "a name for each", parameter.name + " twice");
    }
    if (!seen.insert(variable.body().get()).second) {
      throw InvalidArgument(function, "parameters", "a variable for each", "that of " + parameter.name + " twice");
    }
    if (const QuantisedTensor* blocks = variable.quantised()) {
      throw InvalidArgument(function, "parameters", "f32 or f64, to which Model::to() converts",
                            parameter.name + " of " + std::string(blocks->type_name()) + ", which is not trained");
    }
    if (variable.empty() || !variable.is_leaf() || !variable.requires_gradient()) {
      throw InvalidArgument(function, "parameters", "parameters, whose gradients are kept",
                            parameter.name + ", which is none");
    }
    if (variable.dtype() != DType::f32 && variable.dtype() != DType::f64) {
      throw InvalidArgument(function, "parameters", "f32 or f64, to which Model::to() converts",
                            parameter.name + " of " + std::string(name_of(variable.dtype())));
    }
  }
}

template <class Real>
double sum_of_squares(const Real* values, std::int64_t count) {
  double sum = 0;
  // Eight sums side by side, so that the loop vectorises; added in a fixed order.
  std::array<double, 8> sums{};
  kernels::vectorised<Real>([&]() QKV_INLINED {
    std::array<double, 8> lanes{};
    const std::int64_t whole = count / 8 * 8;
    for (std::int64_t i = 0; i < whole; i += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) {
        const auto value = static_cast<double>(kernels::load(values[i + static_cast<std::int64_t>(lane)]));
        lanes[lane] += value * value;
      }
    }
    for (std::int64_t i = whole; i < count; ++i) {
      const auto value = static_cast<double>(kernels::load(values[i]));
      lanes[static_cast<std::size_t>(i - whole)] += value * value;
    }
    sums = lanes;
  });
  for (const double one : sums) sum += one;
  return sum;
}

template <class Real>
double sum_of_squares_in_pieces(const Real* values, std::int64_t count) {
  std::vector<double> sums(static_cast<std::size_t>((count + kernels::kPiece - 1) / kernels::kPiece));
  kernels::for_pieces(count, kernels::kPiece, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / kernels::kPiece)] = sum_of_squares(values + begin, end - begin);
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

}  // namespace

Optimizer::Optimizer(std::string_view function, Parameters parameters, std::span<const std::string_view> moments)
    : parameters_(std::move(parameters)), moments_of_one_(moments.size()) {
  require_parameters(function, parameters_);
  storage_.reserve(parameters_.size() * moments.size());
  for (const Parameter& parameter : parameters_) {
    for (const std::string_view moment : moments) {
      Tensor& values = storage_.emplace_back(parameter.value.dtype(), parameter.value.shape());
      moments_.push_back({.name = parameter.name + "/" + std::string(moment), .values = values});
    }
  }
}

Optimizer::~Optimizer() = default;

void Optimizer::step(double learning_rate) {
  if (!(learning_rate >= 0) || std::isinf(learning_rate)) {
    throw InvalidArgument("Optimizer::step", "learning_rate", "a number >= 0", core::plain_number(learning_rate));
  }
  ++steps_;
  const std::span<const OptimizerMoment> all(moments_);
  for (std::size_t n = 0; n < parameters_.size(); ++n) {
    if (!parameters_[n].value.has_gradient()) continue;
    update(parameters_[n], all.subspan(n * moments_of_one_, moments_of_one_), learning_rate);
  }
}

void Optimizer::set_steps(std::int64_t steps) {
  if (steps < 0) throw InvalidArgument("Optimizer::set_steps", "steps", "0 or more", std::to_string(steps));
  steps_ = steps;
}

double gradient_norm(std::span<const Parameter> parameters) {
  double sum = 0;
  for (const Parameter& parameter : parameters) {
    if (!parameter.value.has_gradient()) continue;
    const TensorView gradient = parameter.value.gradient();
    kernels::with_real(gradient.dtype(), [&]<class Real>(Real) {
      sum += sum_of_squares_in_pieces(gradient.data_as<Real>(), gradient.size());
    });
  }
  return std::sqrt(sum);
}

double clip_gradients(std::span<const Parameter> parameters, double most) {
  if (!(most > 0)) throw InvalidArgument("clip_gradients", "most", "more than 0", core::plain_number(most));
  const double norm = gradient_norm(parameters);
  const double factor = most / (norm + 1e-6);
  if (std::isfinite(norm) && factor < 1) scale_gradients(parameters, factor);
  return norm;
}

void scale_gradients(std::span<const Parameter> parameters, double factor) {
  for (const Parameter& parameter : parameters) {
    if (!parameter.value.has_gradient()) continue;
    const MutableTensorView gradient = parameter.value.mutable_gradient();
    kernels::with_real(gradient.dtype(), [&]<class Real>(Real) {
      auto* values = static_cast<Real*>(gradient.data());
      const auto by = static_cast<kernels::Computed<Real>>(factor);
      kernels::for_pieces(gradient.size(), kernels::kPiece, [&](std::int64_t begin, std::int64_t end) {
        kernels::vectorised<Real>([&]() QKV_INLINED {
          for (std::int64_t i = begin; i < end; ++i) kernels::store(values[i], kernels::load(values[i]) * by);
        });
      });
    });
  }
}

}  // namespace qkv
