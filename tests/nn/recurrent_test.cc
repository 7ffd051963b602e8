#include "qkv/nn/recurrent.h"

#include <gmock/gmock.h>

#include <cmath>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "qkv/autograd/arithmetic.h"

namespace qkv::nn::recurrent_test {
namespace {

constexpr std::int64_t kIn = 3;
constexpr std::int64_t kWidth = 4;

GruCell cell_of(DType dtype = DType::f64) {
  Generator generator(5);
  return {{.in = kIn, .width = kWidth, .dtype = dtype}, generator};
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// The unit as its header writes it, number by number.
double next_of(const GruCell& cell, const TensorView& x, const TensorView& h, std::int64_t b, std::int64_t n) {
  const Parameters parameters = cell.parameters();
  const auto part = [&](std::size_t weight, const TensorView& of, std::int64_t gate) {
    const std::int64_t row = gate * kWidth + n;
    double sum = parameters[weight + 2].value.value().at({row});
    for (std::int64_t c = 0; c < of.dim(1); ++c) sum += parameters[weight].value.value().at({row, c}) * of.at({b, c});
    return sum;
  };
  const double reset = sigmoid_of(part(0, x, 0) + part(1, h, 0));
  const double keep = sigmoid_of(part(0, x, 1) + part(1, h, 1));
  const double fresh = std::tanh(part(0, x, 2) + reset * part(1, h, 2));
  return (1 - keep) * fresh + keep * h.at({b, n});
}

TEST(GruCell, IsTheFormulaWrittenDown) {
  const GruCell cell = cell_of();
  const Tensor x = normal({2, kIn}, 1);
  const Tensor h = normal({2, kWidth}, 2);
  const Variable next = cell.forward(Variable(x), Variable(h));
  ASSERT_EQ(next.shape(), (Shape{2, kWidth}));
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t n = 0; n < kWidth; ++n) EXPECT_NEAR(next.value().at({b, n}), next_of(cell, x, h, b, n), 1e-14);
  }
}

TEST(GruCell, GradientsAreThoseOfDifferences) {
  const GruCell cell = cell_of();
  std::vector<Tensor> inputs = {normal({2, kIn}, 1), normal({2, kWidth}, 2)};
  for (const Parameter& one : cell.parameters()) inputs.emplace_back(one.value.value());
  // Two steps, so that the state's gradient goes through the unit.
  const Operation twice = [](const std::vector<Variable>& in) {
    Generator generator(5);
    const GruCell again({.in = kIn, .width = kWidth, .dtype = DType::f64}, generator);
    const Variable once = again.forward(in[0], in[1]);
    return again.forward(in[0], once);
  };
  EXPECT_EQ(gradient_fault(twice, {inputs[0], inputs[1]}), "");
}

TEST(GruCell, GradientsOfItsParametersAreThoseOfDifferences) {
  const GruCell cell = cell_of();
  const Tensor x = normal({2, kIn}, 1);
  const Tensor h = normal({2, kWidth}, 2);
  const auto loss = [&] {
    const Variable once = cell.forward(Variable(x), Variable(h));
    const std::vector<double> all = cell.forward(Variable(x), once).value().to_vector();
    double total = 0;
    for (const double value : all) total += value * value;
    return total;
  };
  const Variable once = cell.forward(Variable(x), Variable(h));
  const Variable twice = cell.forward(Variable(x), once);
  backward(twice, Tensor((twice + twice).value()));
  constexpr double kStep = 1e-5;
  for (const Parameter& one : cell.parameters()) {
    for (std::int64_t n = 0; n < one.value.size(); n += 5) {
      const double gradient = Tensor(one.value.gradient()).to_vector()[static_cast<std::size_t>(n)];
      double& element = static_cast<double*>(one.value.mutable_value().data())[n];
      const double before = element;
      element = before + kStep;
      const double above = loss();
      element = before - kStep;
      const double below = loss();
      element = before;
      EXPECT_NEAR(gradient, (above - below) / (2 * kStep), 1e-8) << one.name << " " << n;
    }
  }
}

TEST(GruCell, RefusesWhatDoesNotFit) {
  const GruCell cell = cell_of();
  const auto fault = [](const auto& body) -> std::string {
    try {
      body();
    } catch (const InvalidArgument& error) {
      return error.argument();
    }
    return "";
  };
  EXPECT_EQ(fault([&] { static_cast<void>(cell.forward(Variable(normal({2, 5}, 1)), Variable(normal({2, 4}, 1)))); }),
            "x");
  EXPECT_EQ(fault([&] { static_cast<void>(cell.forward(Variable(normal({2, 3}, 1)), Variable(normal({3, 4}, 1)))); }),
            "h");
  EXPECT_EQ(fault([&] { static_cast<void>(GruCell({.in = 0, .width = 4}, Init::undrawn())); }), "in");
}

}  // namespace
}  // namespace qkv::nn::recurrent_test
