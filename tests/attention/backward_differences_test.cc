// The gradients of the f64 reference against central differences of the loss.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "attention/random_backward.h"

namespace qkv::testing_attention::backward_differences_test {
namespace {

// The loss with `step` times a direction added to one of the tensors that it depends on.
using Moved = std::function<double(double step)>;

struct Derivative {
  double value;
  double bound;
};

// Of fourth order, (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h. With twice the step the terms left out are 16 times as
// large: what the two differ by bounds them.
double central(const Moved& loss, double h) {
  return (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h);
}

Derivative derivative(const Moved& loss, double size) {
  constexpr double kStep = 0x1p-9;
  const double fine = central(loss, kStep);
  // A loss is off by a hundred roundings of its size at most: D + Tk of a sum, exp and the like.
  return {.value = fine, .bound = std::fabs(central(loss, 2 * kStep) - fine) + 150 * 0x1p-53 * size / kStep};
}

Tensor moved(const Tensor& x, const Tensor& direction, double step) {
  Tensor result = x;
  const auto along = direction.values<double>();
  std::size_t n = 0;
  for (double& value : result.values<double>()) value += step * along[n++];
  return result;
}

double sum_of_products(const Tensor& a, const Tensor& b) {
  double sum = 0;
  const std::vector<double> right = b.to_vector();
  std::size_t n = 0;
  for (const double value : a.to_vector()) sum += value * right[n++];
  return sum;
}

// `put` gives a loss the tensor in place of its own.
void expect_gradient(const std::string& name, const RandomLoss& loss, const Tensor& at, const Tensor& gradient,
                     const std::function<void(RandomLoss&, Tensor)>& put) {
  RC_ASSERT(gradient.shape() == at.shape());
  const Tensor direction = any_normal(at.shape());
  const Moved along = [&](double step) {
    RandomLoss other = loss;
    put(other, moved(at, direction, step));
    return other.loss();
  };
  const double got = sum_of_products(gradient, direction);
  const auto [expected, bound] = derivative(along, loss.size());
  RC_LOG() << name << ": " << got << ", by differences " << expected << " give or take " << bound << "\n";
  RC_ASSERT(std::fabs(got - expected) <= bound);
}

void expect_all_gradients(const RandomLoss& loss) {
  const AttentionGradients gradients = loss.backward(loss.forward());
  expect_gradient("d_q", loss, loss.q, gradients.d_q, [](RandomLoss& other, Tensor x) { other.q = std::move(x); });
  expect_gradient("d_k", loss, loss.k, gradients.d_k, [](RandomLoss& other, Tensor x) { other.k = std::move(x); });
  expect_gradient("d_v", loss, loss.v, gradients.d_v, [](RandomLoss& other, Tensor x) { other.v = std::move(x); });
  RC_ASSERT(gradients.d_bias.size() == loss.terms.size());
  for (std::size_t n = 0; n < loss.terms.size(); ++n) {
    expect_gradient("d_bias", loss, loss.terms[n].numbers, gradients.d_bias[n],
                    [&](RandomLoss& other, Tensor x) { other.terms[n].numbers = std::move(x); });
  }
  if (loss.rest.sinks.empty()) return;
  const Tensor sinks(loss.rest.sinks, {static_cast<std::int64_t>(loss.rest.sinks.size())});
  expect_gradient("d_sinks", loss, sinks, gradients.d_sinks,
                  [](RandomLoss& other, const Tensor& x) { other.rest.sinks = x.to_vector(); });
}

RC_GTEST_PROP(BackwardDifferences, AgreeWithTheGradients, ()) { expect_all_gradients(any_loss()); }

RC_GTEST_PROP(BackwardDifferences, AgreeWithTheGradientsOfRaggedBatches, ()) {
  expect_all_gradients(any_ragged_loss());
}

}  // namespace
}  // namespace qkv::testing_attention::backward_differences_test
