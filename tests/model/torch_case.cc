#include "model/torch_case.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>

#include "qkv/train/optimizer.h"
#include "qkv/train/schedule.h"

namespace qkv::tests {
namespace {

using nlohmann::json;

constexpr Schedule kSchedule = {.kind = ScheduleKind::cosine, .peak = 0.05, .last = 0.0, .warm_up = 3, .steps = 10};
constexpr AdamWOptions kAdamW = {.epsilon = 1e-6, .weight_decay = 0.1};
constexpr double kClip = 0.5;

// Both compute in f64, where some hundred roundings make 1e-14; the fixture keeps 12 digits, 5e-12 of a number. A step
// of AdamW divides by at least epsilon, so the rounding of a gradient that should be 0, some 1e-16, grows by the
// learning rate over epsilon, to 5e-12 a step.
constexpr double kStart = 1e-11;
constexpr double kAfter = 1e-10;

std::uint32_t word_of(std::string_view name, std::uint32_t place) {
  std::uint32_t state = 2166136261U;
  for (const char byte : name) state = (state ^ static_cast<unsigned char>(byte)) * 16777619U;
  state += place * 2654435761U;
  state = (state ^ (state >> 16U)) * 0x45D9F3BU;
  return state ^ (state >> 16U);
}

// In [-1, 1), multiples of 2^-23.
double drawn(std::string_view name, std::int64_t place) {
  return static_cast<double>(word_of(name, static_cast<std::uint32_t>(place)) >> 8U) / 8388608.0 - 1.0;
}

// What a parameter's numbers lie around: the weight of "blocks.0.ln1" is a norm's.
double middle_of(const std::string& name) {
  if (name == "log_scale") return 2.5;
  if (!name.ends_with(".weight")) return 0.0;
  const std::string layer = name.substr(0, name.rfind('.'));
  return layer.substr(layer.rfind('.') + 1).starts_with("ln") ? 1.0 : 0.0;
}

// `run` names the numbers of a run of its own, which lie a thousandth away; they are rounded to f32.
void draw(const Parameters& parameters, const std::optional<std::string>& run = std::nullopt) {
  for (const Parameter& parameter : parameters) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < parameter.value.size(); ++i) {
      double value = drawn(parameter.name, i) / 2 + middle_of(parameter.name);
      if (run) value = static_cast<float>(value * (1 + drawn(*run + parameter.name, i) / 1024));
      values.push_back(value);
    }
    assign(parameters, parameter.name, Tensor(values, parameter.value.shape()));
  }
}

double relative_error(const Parameters& got, const Parameters& wanted) {
  double difference = 0;
  double size = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const std::vector<double> a = got[n].value.gradient().to_vector();
    const std::vector<double> b = wanted[n].value.gradient().to_vector();
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference += (a[i] - b[i]) * (a[i] - b[i]);
      size += b[i] * b[i];
    }
  }
  return std::sqrt(difference / size);
}

double near(double wanted, double tolerance) { return tolerance * (1 + std::fabs(wanted)); }

void expect_gradients(const json& one, const Parameters& parameters) {
  const json& gradients = one.at("gradients");
  EXPECT_EQ(parameters.size(), gradients.size());
  for (const Parameter& parameter : parameters) {
    ASSERT_TRUE(gradients.contains(parameter.name)) << parameter.name;
    ASSERT_TRUE(parameter.value.has_gradient()) << parameter.name;
    const std::vector<double> got = parameter.value.gradient().to_vector();
    const std::vector<double> wanted = gradients.at(parameter.name);
    ASSERT_EQ(got.size(), wanted.size()) << parameter.name;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], wanted[i], near(wanted[i], kStart)) << parameter.name << " at " << i;
    }
  }
}

void expect_steps(const json& one, const TorchModel& model) {
  const Parameters& parameters = model.parameters;
  const auto optimizer = make_adamw(parameters, kAdamW);
  for (std::int64_t step = 0; step < kSchedule.steps; ++step) {
    clear_gradients(parameters);
    const Variable now = model.loss();
    backward(now);
    const auto n = static_cast<std::size_t>(step);
    EXPECT_NEAR(now.item(), one.at("losses").at(n), near(now.item(), kAfter)) << "step " << step;
    const double norm = clip_gradients(parameters, kClip);
    EXPECT_NEAR(norm, one.at("norms").at(n), near(norm, kAfter)) << "step " << step;
    optimizer->step(learning_rate(kSchedule, step));
  }
  for (const Parameter& parameter : parameters) {
    const std::vector<double> values = parameter.value.value().to_vector();
    double projected = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      projected += drawn("after/" + parameter.name, static_cast<std::int64_t>(i)) * values[i];
    }
    EXPECT_NEAR(projected, one.at("after").at(parameter.name), near(projected, kAfter)) << parameter.name;
  }
}

}  // namespace

json torch_cases(const std::string& name) {
  std::ifstream file(QKV_SOURCE_DIR "/tests/model/fixtures/" + name);
  return json::parse(file).at("cases");
}

std::map<std::string, std::string> config_in(const json& one) { return one.at("config"); }

Tensor ids_in(const json& rows) {
  std::vector<std::int64_t> ids;
  for (const json& row : rows) {
    for (const std::int64_t id : row) ids.push_back(id);
  }
  const auto B = static_cast<std::int64_t>(rows.size());
  const auto T = static_cast<std::int64_t>(ids.size()) / B;
  return {ids, {B, T}};
}

void expect_as_torch(const json& one, const TorchModel& model) {
  SCOPED_TRACE(one.at("name").get<std::string>());
  draw(model.parameters);
  const Variable start = model.loss();
  EXPECT_NEAR(start.item(), one.at("loss"), near(start.item(), kStart));
  backward(start);
  expect_gradients(one, model.parameters);
  expect_steps(one, model);
}

void expect_as_near_as_torch(const json& one, const std::function<TorchModel(DType)>& made) {
  constexpr int kRuns = 8;
  double squares = 0;
  for (int run = 0; run < kRuns; ++run) {
    const TorchModel single = made(DType::f32);
    const TorchModel wanted = made(DType::f64);
    for (const TorchModel& model : {single, wanted}) {
      draw(model.parameters, std::to_string(run) + "/");
      backward(model.loss());
    }
    squares += std::pow(relative_error(single.parameters, wanted.parameters), 2);
  }
  EXPECT_LT(std::sqrt(squares / kRuns), 2 * one.at("f32_error").get<double>()) << one.at("name");
}

}  // namespace qkv::tests
