// The functions, draws, positions, linear attention and probes.
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/exact_math.h"
#include "exact/digits.h"
#include "qkv/bias.h"
#include "qkv/gradient_probe.h"
#include "qkv/linear_attention.h"
#include "qkv/materialized_attention.h"
#include "qkv/nn/position.h"
#include "qkv/probe.h"
#include "qkv/softmax.h"

namespace qkv::digits {
namespace {

Tensor vector_of(const std::vector<double>& values) { return {values, {static_cast<std::int64_t>(values.size())}}; }

// 2,000 numbers of every size and either sign, 2,000 from -8 to 8, and those with rules of their own.
std::vector<double> arguments() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;
  std::vector<double> all = {0.0, -0.0, 1.0, -1.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
  const std::vector<double> drawn = Generator(1).rand({4000}, DType::f64).to_vector();
  for (std::size_t n = 0; n < 2000; ++n) {
    const auto bits = static_cast<std::uint64_t>(drawn[n] * 0x1p52) & kFraction;
    const auto exponent = static_cast<std::uint64_t>(n % 4 == 0 ? (n * 1237) % 2047 : 1023 - 60 + n % 75);
    const auto size = std::bit_cast<double>(bits | exponent << 52U);
    all.push_back(n % 3 == 0 ? -size : size);
    all.push_back(16 * drawn[n + 2000] - 8);
  }
  return all;
}

template <class Function>
void print_function(const std::string& name, const Function& function) {
  std::vector<double> values;
  for (const double x : arguments()) values.push_back(function(x));
  print("function " + name, vector_of(values));
}

}  // namespace

void print_functions() {
  print_function("exp", core::exp);
  print_function("log", [](double x) { return core::log(std::fabs(x)); });
  print_function("log1p", core::log1p);
  print_function("tanh", core::tanh);
  print_function("erf", core::erf);
  print_function("erfc", core::erfc);
  print_function("sin", core::sin);
  print_function("cos", core::cos);
  print_function("pow of 10000", [](double x) { return core::pow(10000, x); });
  print_function("pow to 0.3", [](double x) { return core::pow(x, 0.3); });
}

void print_draws() {
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const std::int64_t count : {7, 16, 37, 3000}) {
      print("randn " + std::string(name_of(dtype)) + " " + std::to_string(count),
            Generator(static_cast<std::uint64_t>(count)).randn({count}, dtype));
    }
  }
}

void print_positions() {
  const std::vector<std::pair<std::string, RotaryScaling>> scalings = {
      {"none", {}},
      {"linear", LinearScaling{.factor = 3}},
      {"ntk", NtkScaling{.factor = 5}},
      {"yarn", YarnScaling{.factor = 8, .original_max = 4096}},
      {"llama3", Llama3Scaling{}}};
  const Tensor far(std::vector<std::int64_t>{0, 1, 1'000'000, std::int64_t{1} << 31U, (std::int64_t{1} << 53U) - 1},
                   {5});
  for (const auto& [name, scaling] : scalings) {
    const RotaryOptions options = {.dim = 32, .base = 10000, .scaling = scaling};
    const RotaryTables near = rotary_tables(options, 200, DType::f64);
    print("rotary " + name + " cos", near.cos);
    print("rotary " + name + " sin", near.sin);
    const RotaryTables tables = rotary_tables(options, far, DType::f64);
    print("rotary " + name + " cos, far", tables.cos);
    print("rotary " + name + " sin, far", tables.sin);
    print("rotary " + name + " applied", rotary(Variable(normal({1, 2, 200, 40}, 3)), near).value());
  }
  print("sinusoidal", sinusoidal(300, 34, 10000, DType::f64));
  std::vector<double> slopes;
  for (std::int64_t heads = 1; heads <= 40; ++heads) {
    for (const double slope : alibi_slopes(heads)) slopes.push_back(slope);
  }
  print("alibi slopes", vector_of(slopes));
  std::vector<double> buckets;
  for (std::int64_t distance = -400; distance <= 400; ++distance) {
    for (const T5Buckets& kind : {T5Buckets{}, T5Buckets{.buckets = 9, .max_distance = 50, .bidirectional = false}}) {
      buckets.push_back(static_cast<double>(t5_bucket(distance, kind)));
    }
  }
  print("t5 buckets", vector_of(buckets));
}

void print_linear_attention() {
  const Tensor q = normal({2, 4, 70, 12}, 1);
  const Tensor k = normal({2, 2, 70, 12}, 2);
  const Tensor v = normal({2, 2, 70, 9}, 3);
  for (const FeatureMap features : {FeatureMap::elu_plus_one, FeatureMap::softmax}) {
    for (const bool causal : {false, true}) {
      print(std::string("linear attention ") + (features == FeatureMap::softmax ? "softmax" : "elu") +
                (causal ? " causal" : ""),
            linear_attention(q, k, v, {.features = features, .causal = causal}));
    }
  }
  Tensor decay = normal({2, 2, 70, 12}, 4);
  for (double& x : decay.values<double>()) x = -std::fabs(x);
  const Tensor beta = Generator(5).rand({2, 2, 70}, DType::f64);
  const RecurrentAttentionResult result =
      recurrent_attention(q, k, v, {.rule = UpdateRule::gated_delta, .decay = decay.view(), .beta = beta.view()});
  print("recurrent attention out", result.out);
  print("recurrent attention state", result.state);
  print("standard attention", materialized_attention(q, k, v, {.causal = true}));
  print("softmax", softmax(q, 2));
  print("log softmax", log_softmax(q, 1));
}

void print_probes() {
  const Tensor q = normal({1, 2, 150, 24}, 11);
  const Tensor k = normal({1, 1, 140, 24}, 12);
  const Tensor v = normal({1, 1, 140, 10}, 13);
  const Tensor d_out = normal({1, 2, 150, 10}, 14);
  const AttentionOptions options = {
      .softcap = 3.0, .bias = alibi(), .mask = window(60), .dropout = Dropout{.p = 0.2, .seed = 9}, .sinks = {-1, 2}};
  const AttentionResult forward = attention(q, k, v, options);
  const Probe probe(q, k, options);
  const GradientProbe gradients(d_out, q, k, v, forward.out, forward.lse, options);
  const Tile tile = {.b = 0, .h = 1, .i_begin = 30, .i_end = 130, .j_begin = 0, .j_end = 140};
  for (const Stage stage : {Stage::raw, Stage::softcapped, Stage::masked, Stage::weights, Stage::dropped}) {
    print("probe of " + std::string(name_of(stage)), probe.tile(tile, stage));
    print("gradient probe of " + std::string(name_of(stage)), gradients.tile(tile, stage));
  }
  print("probe lse", probe.lse({.b = 0, .h = 1}));
  print("probe map", probe.map({.heads = {0}, .size = {.rows = 7, .columns = 9}}).mean.select(0, 0));
  print("probe top keys", probe.top_keys({.b = 0, .h = 0}, 5).weights);
  print("probe key totals", probe.key_totals({.b = 0, .h = 0}));
  const RowStatistics rows = probe.statistics({.b = 0, .h = 1});
  print("probe entropy", rows.entropy);
  print("probe normalised entropy", rows.normalised_entropy);
  print("gradient probe map", gradients.map({.heads = {1}, .size = {.rows = 7, .columns = 9}}).mean.select(0, 0));
}

}  // namespace qkv::digits
