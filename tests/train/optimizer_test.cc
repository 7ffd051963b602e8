// Ten steps beside PyTorch's (fixtures/make_torch_optimizers.py made them), steps by hand, and what is refused.
#include "qkv/train/optimizer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "core/random_blocks.h"
#include "qkv/random.h"
#include "qkv/threads.h"

namespace qkv::optimizer_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;

Parameter parameter_of(const std::string& name, Tensor value) { return {name, Variable::parameter(std::move(value))}; }

// As a walk back would: the gradient of the sum of factor * x is factor.
void give_gradient(const Parameter& parameter, const TensorView& gradient) {
  parameter.value.clear_gradient();
  backward(parameter.value, gradient);
}

Tensor numbers_of(const json& of, const json& shapes, const std::string& name) {
  const auto extents = shapes.at(name).get<std::vector<std::int64_t>>();
  return {of.at(name).get<std::vector<double>>(), Shape(extents)};
}

std::unique_ptr<Optimizer> optimizer_of(const json& fixture, Parameters parameters) {
  const json& options = fixture.at("options");
  if (fixture.at("kind") == "adamw") {
    return make_adamw(std::move(parameters), {.beta1 = options.at("beta1"),
                                              .beta2 = options.at("beta2"),
                                              .epsilon = options.at("epsilon"),
                                              .weight_decay = options.at("weight_decay"),
                                              .decay = Decay::all});
  }
  return make_sgd(
      std::move(parameters),
      {.momentum = options.at("momentum"), .weight_decay = options.at("weight_decay"), .decay = Decay::all});
}

TEST(Optimizer, AgreesWithPyTorchForTenSteps) {
  std::ifstream file(QKV_SOURCE_DIR "/tests/train/fixtures/torch_optimizers.json");
  const json fixtures = json::parse(file);
  const json& shapes = fixtures.at("shapes");
  ASSERT_EQ(fixtures.at("cases").size(), 5U);
  for (const json& fixture : fixtures.at("cases")) {
    Parameters parameters;
    for (const char* name : {"weight", "bias"}) {
      parameters.push_back(parameter_of(name, numbers_of(fixture.at("start"), shapes, name)));
    }
    const auto optimizer = optimizer_of(fixture, parameters);
    EXPECT_EQ(optimizer->name(), fixture.at("kind").get<std::string>());
    for (std::size_t step = 0; step < 10; ++step) {
      for (const Parameter& parameter : parameters) {
        give_gradient(parameter, numbers_of(fixture.at("gradients")[step], shapes, parameter.name));
      }
      if (!fixture.at("clip").is_null()) {
        EXPECT_NEAR(clip_gradients(parameters, fixture.at("clip")), fixture.at("norms")[step], 1e-14);
      }
      optimizer->step(fixture.at("rates")[step]);
      // Both compute in f64, some ten roundings a step of numbers of the order of 1.
      for (const Parameter& parameter : parameters) {
        const std::vector<double> got = parameter.value.value().to_vector();
        const std::vector<double> wanted = fixture.at("after")[step].at(parameter.name);
        for (std::size_t i = 0; i < got.size(); ++i) {
          EXPECT_NEAR(got[i], wanted[i], 1e-13) << fixture.at("options") << ", step " << step << ", " << parameter.name;
        }
      }
    }
    EXPECT_EQ(optimizer->steps(), 10);
  }
}

TEST(Optimizer, AdamWByHand) {
  const Parameter x = parameter_of("x", Tensor(std::vector<double>{2.0}, {1, 1}));
  const auto optimizer =
      make_adamw({x}, {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 1.0, .weight_decay = 0.5, .decay = Decay::matrices});
  give_gradient(x, Tensor(std::vector<double>{4.0}, {1, 1}));
  optimizer->step(0.1);
  // Both moments corrected are the gradient and its square: 2 * (1 - 0.05) - 0.1 * 4 / (4 + 1).
  EXPECT_DOUBLE_EQ(x.value.item(), 1.82);
  EXPECT_EQ(optimizer->moments()[0].name, "x/first");
  EXPECT_DOUBLE_EQ(optimizer->moments()[0].values.view().at({0, 0}), 2.0);
  EXPECT_EQ(optimizer->moments()[1].name, "x/second");
  EXPECT_DOUBLE_EQ(optimizer->moments()[1].values.view().at({0, 0}), 4.0);
}

TEST(Optimizer, VectorsDoNotDecayUnlessAskedTo) {
  for (const Decay decay : {Decay::matrices, Decay::all}) {
    const Parameter bias = parameter_of("bias", Tensor(std::vector<float>{1.0F}, {1}));
    const Parameter weight = parameter_of("weight", Tensor(std::vector<float>{1.0F}, {1, 1}));
    const auto optimizer = make_sgd({bias, weight}, {.weight_decay = 0.5, .decay = decay});
    give_gradient(bias, Tensor(DType::f32, {1}));
    give_gradient(weight, Tensor(DType::f32, {1, 1}));
    optimizer->step(0.5);
    EXPECT_EQ(bias.value.item(), decay == Decay::all ? 0.75 : 1.0);
    EXPECT_EQ(weight.value.item(), 0.75);
  }
}

TEST(Optimizer, LeavesAParameterWithoutAGradientAlone) {
  const Parameter x = parameter_of("x", Tensor(std::vector<float>{1.0F, 2.0F}, {1, 2}));
  const auto optimizer = make_adamw({x}, {.weight_decay = 0.5});
  optimizer->step(0.1);
  EXPECT_THAT(x.value.value().to_vector(), ElementsAre(1, 2));
}

TEST(Optimizer, GivesTheSameBitsForAnyNumberOfThreads) {
  const Shape shape{300, 211};
  std::vector<std::vector<double>> results;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    Generator generator(5);
    const Parameters parameters = {parameter_of("x", generator.randn(shape))};
    const auto optimizer = make_adamw(parameters);
    for (int step = 0; step < 3; ++step) {
      give_gradient(parameters[0], generator.randn(shape));
      clip_gradients(parameters, 0.5);
      optimizer->step(1e-2);
    }
    results.push_back(parameters[0].value.value().to_vector());
  }
  set_threads(1);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Optimizer, NormOfAllGradients) {
  const Parameters parameters = {parameter_of("a", Tensor(DType::f32, {2})), parameter_of("b", Tensor(DType::f64, {})),
                                 parameter_of("c", Tensor(DType::f32, {9}))};
  give_gradient(parameters[0], Tensor(std::vector<float>{3, 4}, {2}));
  give_gradient(parameters[1], Tensor(std::vector<double>{12}, {}));
  EXPECT_DOUBLE_EQ(gradient_norm(parameters), 13);
  EXPECT_DOUBLE_EQ(clip_gradients(parameters, 14), 13);
  EXPECT_THAT(parameters[0].value.gradient().to_vector(), ElementsAre(3, 4));
  EXPECT_DOUBLE_EQ(clip_gradients(parameters, 6.5), 13);
  EXPECT_NEAR(gradient_norm(parameters), 6.5, 1e-6);
  parameters[0].value.mutable_gradient().set({0}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(clip_gradients(parameters, 1)));
  EXPECT_NEAR(parameters[0].value.gradient().at({1}), 2, 1e-6);
  clear_gradients(parameters);
  EXPECT_EQ(gradient_norm(parameters), 0);
  EXPECT_EQ(parameter_count(parameters), 12);
}

TEST(Optimizer, RefusesWhatHasNoMeaning) {
  const Parameter x = parameter_of("x", Tensor(DType::f32, {1}));
  EXPECT_EQ(error_message([&] { static_cast<void>(make_adamw({x}, {.beta1 = 1.0})); }),
            "make_adamw: beta1: expected a number in [0, 1), got 1");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_adamw({x}, {.epsilon = 0.0})); }),
            "make_adamw: epsilon: expected a number > 0, got 0");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_sgd({x}, {.momentum = -1.0})); }),
            "make_sgd: momentum: expected a number in [0, 1), got -1");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_sgd({x}, {.weight_decay = NAN})); }),
            "make_sgd: weight_decay: expected a number >= 0, got nan");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_sgd({x, x})); }),
            "make_sgd: parameters: expected a name for each, got x twice");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_sgd({x, {"y", x.value}})); }),
            "make_sgd: parameters: expected a variable for each, got that of y twice");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_sgd({{"c", Variable(Tensor(DType::f32, {1}))}})); }),
            "make_sgd: parameters: expected parameters, whose gradients are kept, got c, which is none");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_adamw({parameter_of("h", Tensor(DType::bf16, {1}))})); }),
            "make_adamw: parameters: expected f32 or f64, to which Model::to() converts, got h of bf16");
  const Parameter quantised = parameter_of("w", Tensor(DType::f32, {2, 32}));
  quantised.value.replace_value(tests::random_weight(core::BlockType::q4_1, 2, 32));
  EXPECT_EQ(error_message([&] { static_cast<void>(make_adamw({quantised})); }),
            "make_adamw: parameters: expected f32 or f64, to which Model::to() converts, got w of Q4_1, which is not "
            "trained");
  EXPECT_EQ(error_message([&] { static_cast<void>(make_sgd({parameter_of("h", Tensor(DType::f16, {1}))})); }),
            "make_sgd: parameters: expected f32 or f64, to which Model::to() converts, got h of f16");
  EXPECT_EQ(error_message([&] { make_sgd({x})->step(-1); }),
            "Optimizer::step: learning_rate: expected a number >= 0, got -1");
  EXPECT_EQ(error_message([&] { make_sgd({x})->set_steps(-1); }),
            "Optimizer::set_steps: steps: expected 0 or more, got -1");
  const Parameters all = {x};
  EXPECT_EQ(error_message([&] { clip_gradients(all, 0); }), "clip_gradients: most: expected more than 0, got 0");
}

}  // namespace
}  // namespace qkv::optimizer_test
