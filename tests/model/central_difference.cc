#include "model/central_difference.h"

#include <algorithm>
#include <cmath>

namespace qkv::tests {
namespace {

constexpr double kStep = 1e-5;
constexpr double kAllowed = 1e-6;
constexpr std::size_t kPlaces = 16;

double loss_with(double& element, double value, const std::function<Variable()>& loss) {
  const NoGradient constant;
  const double before = element;
  element = value;
  const double result = loss().item();
  element = before;
  return result;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

}  // namespace

std::string gradient_fault(const Parameters& parameters, const std::function<Variable()>& loss) {
  backward(loss());
  for (const Parameter& parameter : parameters) {
    if (!parameter.value.has_gradient()) return parameter.name + " has no gradient";
    const std::vector<double> gradient = parameter.value.gradient().to_vector();
    auto* const elements = static_cast<double*>(parameter.value.mutable_value().data());
    const std::size_t stride = (gradient.size() + kPlaces - 1) / kPlaces;
    for (std::size_t i = 0; i < gradient.size(); i += stride) {
      const double above = loss_with(elements[i], elements[i] + kStep, loss);
      const double below = loss_with(elements[i], elements[i] - kStep, loss);
      const double expected = (above - below) / (2 * kStep);
      if (std::fabs(gradient[i] - expected) <= kAllowed * std::max(1.0, largest(gradient))) continue;
      return parameter.name + " at " + std::to_string(i) + ": " + std::to_string(gradient[i]) +
             ", the central difference is " + std::to_string(expected);
    }
  }
  return {};
}

}  // namespace qkv::tests
