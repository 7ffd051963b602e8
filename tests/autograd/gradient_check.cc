#include "autograd/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "qkv/threads.h"

namespace qkv {
namespace {

struct Run {
  Tensor out;
  std::vector<Tensor> gradients;
};

// Of one dtype, with random gradients of the result that every dtype can hold.
Run run(const Operation& operation, const std::vector<Tensor>& inputs, DType dtype) {
  std::vector<Variable> variables;
  variables.reserve(inputs.size());
  for (const Tensor& input : inputs) variables.push_back(Variable::parameter(input.to(dtype)));
  const Variable out = operation(variables);
  const Tensor d_out = normal_numbers(99, out.shape()).to(DType::bf16).to(out.dtype());
  Run result{.out = Tensor(out.value()), .gradients = {}};
  backward(out, d_out);
  for (const Variable& variable : variables) {
    result.gradients.push_back(variable.has_gradient() ? Tensor(variable.gradient()) : Tensor(dtype, variable.shape()));
  }
  return result;
}

double weighted(const Operation& operation, const std::vector<Tensor>& inputs) {
  const NoGradient none;
  std::vector<Variable> variables;
  variables.reserve(inputs.size());
  for (const Tensor& input : inputs) variables.emplace_back(input);
  const Variable out = operation(variables);
  const std::vector<double> values = out.value().to_vector();
  const std::vector<double> weights = normal_numbers(99, out.shape()).to(DType::bf16).to_vector();
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) total += values[i] * weights[i];
  return total;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

std::string difference(const std::string& name, const Tensor& got, const Tensor& expected, double tolerance,
                       double least) {
  if (!(got.shape() == expected.shape())) return name + ": shape " + got.shape().to_string();
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = expected.to_vector();
  const double allowed = std::max(tolerance * largest(b), least);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::fabs(a[i] - b[i]) <= allowed) continue;
    return name + " at " + std::to_string(i) + ": " + std::to_string(a[i]) + " for " + std::to_string(b[i]) +
           ", off by " + std::to_string(std::fabs(a[i] - b[i]) / allowed) + " times what is allowed";
  }
  return {};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0;
}

}  // namespace

Tensor normal_numbers(std::uint64_t seed, const Shape& shape) { return Generator(seed).randn(shape, DType::f64); }

std::string gradient_fault(const Operation& operation, const std::vector<Tensor>& inputs) {
  constexpr double kStep = 1e-4;
  constexpr double kAllowed = 1e-6;
  const Run exact = run(operation, inputs, DType::f64);
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const std::vector<double> gradient = exact.gradients[n].to_vector();
    std::vector<Tensor> moved = inputs;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      double& element = moved[n].values<double>()[i];
      const double before = element;
      element = before + kStep;
      const double above = weighted(operation, moved);
      element = before - kStep;
      const double below = weighted(operation, moved);
      element = before;
      const double expected = (above - below) / (2 * kStep);
      if (std::fabs(gradient[i] - expected) <= kAllowed * std::max(1.0, largest(gradient))) continue;
      return "input " + std::to_string(n) + " at " + std::to_string(i) + ": " + std::to_string(gradient[i]) +
             ", the central difference is " + std::to_string(expected);
    }
  }
  return {};
}

std::string precision_fault(const Operation& operation, const std::vector<Tensor>& inputs, DType dtype, double steps) {
  std::vector<Tensor> rounded;
  rounded.reserve(inputs.size());
  for (const Tensor& input : inputs) rounded.push_back(input.to(dtype).to(DType::f64));
  const Run exact = run(operation, rounded, DType::f64);
  const Run coarse = run(operation, rounded, dtype);
  const double rounding = dtype == DType::f32 ? 0x1p-24 : (dtype == DType::f16 ? 0x1p-11 : 0x1p-9);
  const double tolerance = steps * rounding;
  const double least = dtype == DType::f16 ? steps * 0x1p-25 : 0;
  std::string fault = difference("result", coarse.out, exact.out, tolerance, least);
  for (std::size_t n = 0; fault.empty() && n < inputs.size(); ++n) {
    fault = difference("gradient " + std::to_string(n), coarse.gradients[n], exact.gradients[n], tolerance, least);
  }
  return fault;
}

std::string threads_fault(const Operation& operation, const std::vector<Tensor>& inputs, DType dtype) {
  const int before = threads();
  set_threads(1);
  const Run alone = run(operation, inputs, dtype);
  std::string fault;
  for (const int count : {2, 3}) {
    set_threads(count);
    const Run shared = run(operation, inputs, dtype);
    if (!same_bits(alone.out, shared.out)) fault = "result with " + std::to_string(count) + " threads";
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      if (same_bits(alone.gradients[n], shared.gradients[n])) continue;
      fault = "gradient " + std::to_string(n) + " with " + std::to_string(count) + " threads";
    }
  }
  set_threads(before);
  return fault;
}

}  // namespace qkv
