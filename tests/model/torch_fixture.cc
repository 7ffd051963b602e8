#include "model/torch_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "qkv/train/optimizer.h"

namespace qkv::tests {
namespace {

using nlohmann::json;

// start_values() of torch_fixture.py.
void start(const learn::Parameters& parameters) {
  for (std::size_t place = 0; place < parameters.size(); ++place) {
    const learn::Parameter& parameter = parameters[place];
    const bool is_norm = parameter.value.rank() == 1 && parameter.name.ends_with(".weight");
    auto* const values = static_cast<double*>(parameter.value.mutable_value().data());
    for (std::int64_t i = 0; i < parameter.value.size(); ++i) {
      const auto step = static_cast<double>(i + 1);
      const double value = 0.5 * std::sin(0.7 * step * step + static_cast<double>(place));
      values[i] = is_norm ? 1 + 0.2 * value : value;
    }
  }
}

void expect_same_names(const json& fixture, const learn::Parameters& parameters) {
  std::map<std::string, std::vector<std::int64_t>> expected;
  for (const auto& [name, stored] : fixture.at("parameters").items()) {
    expected[name] = stored.at("shape").get<std::vector<std::int64_t>>();
  }
  std::map<std::string, std::vector<std::int64_t>> got;
  for (const learn::Parameter& parameter : parameters) {
    got[parameter.name] = {parameter.value.shape().begin(), parameter.value.shape().end()};
  }
  EXPECT_EQ(got, expected);
}

// Both compute in f64, in another order of sums: some hundred roundings of the largest number.
void expect_near(const TensorView& got, const std::vector<double>& expected, double tolerance,
                 const std::string& what) {
  const std::vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), expected.size()) << what;
  double most = 1;
  for (const double value : expected) most = std::max(most, std::fabs(value));
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], tolerance * most) << what << " at " << i;
  }
}

}  // namespace

json torch_case(const std::string& file, const std::string& name) {
  std::ifstream stream(QKV_SOURCE_DIR "/tests/model/fixtures/" + file);
  const json all = json::parse(stream);
  for (const json& fixture : all.at("cases")) {
    if (fixture.at("name") == name) return fixture;
  }
  throw Error(file + " has no case " + name);
}

std::map<std::string, std::string> torch_options(const json& fixture) {
  std::map<std::string, std::string> facts = {{"kind", fixture.at("name")}};
  for (const auto& [word, value] : fixture.at("options").items()) {
    facts[word] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return facts;
}

Tensor torch_ids(const json& fixture, const std::string& input, const Shape& shape) {
  return {fixture.at("inputs").at(input).get<std::vector<std::int64_t>>(), shape};
}

void expect_as_torch(const json& fixture, const learn::Parameters& parameters, const std::function<Variable()>& loss) {
  expect_same_names(fixture, parameters);
  if (testing::Test::HasFailure()) return;
  start(parameters);
  const json& options = fixture.at("optimizer");
  const auto optimizer = make_adamw(parameters, {.beta1 = options.at("beta1"),
                                                 .beta2 = options.at("beta2"),
                                                 .epsilon = options.at("epsilon"),
                                                 .weight_decay = options.at("weight_decay")});
  const std::vector<double> losses = fixture.at("losses");
  for (std::size_t step = 0; step < losses.size(); ++step) {
    clear_gradients(parameters);
    const Variable value = loss();
    EXPECT_NEAR(value.item(), losses[step], 1e-10) << "step " << step;
    backward(value);
    if (step == 0) {
      for (const learn::Parameter& parameter : parameters) {
        expect_near(parameter.value.gradient(), fixture.at("parameters").at(parameter.name).at("gradient"), 1e-13,
                    "gradient of " + parameter.name);
      }
    }
    optimizer->step(options.at("learning_rate"));
  }
  for (const learn::Parameter& parameter : parameters) {
    expect_near(parameter.value.value(), fixture.at("parameters").at(parameter.name).at("after"), 1e-10,
                parameter.name + " after ten steps");
  }
}

}  // namespace qkv::tests
