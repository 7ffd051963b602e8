// A small step of one input: what the gradient says, and what happens.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/bench/rules.h"
#include "explain/bench/terms.h"
#include "explain/numbers.h"

namespace qkv {
namespace {

using namespace explain_detail;

Tensor* input_named(BenchInputs& inputs, std::string_view matrix) {
  const bool is_projected = !inputs.x.empty();
  if (is_projected && matrix == "x") return &inputs.x;
  if (is_projected && matrix == "source" && !inputs.source.empty()) return &inputs.source;
  if (is_projected && matrix == "w_q") return &inputs.w_q;
  if (is_projected && matrix == "w_k") return &inputs.w_k;
  if (is_projected && matrix == "w_v") return &inputs.w_v;
  if (!is_projected && matrix == "q") return &inputs.q;
  if (!is_projected && matrix == "k") return &inputs.k;
  if (!is_projected && matrix == "v") return &inputs.v;
  return nullptr;
}

double loss_of(const Bench& bench) {
  const Tensor& out = bench.matrix("out").values;
  double loss = 0;
  for (std::int64_t i = 0; i < out.dim(0); ++i) {
    for (std::int64_t d = 0; d < out.dim(1); ++d) loss += bench.inputs().d_out.at({i, d}) * out.at({i, d});
  }
  return loss;
}

BenchInputs nudged(const Bench& bench, const BenchPlace& place, double step) {
  BenchInputs inputs = bench.inputs();
  Tensor* const tensor = input_named(inputs, place.matrix);
  *tensor = Tensor(tensor->view(), DType::f64);
  std::int64_t head = 0;
  if (place.matrix == "q") head = inputs.head;
  if (place.matrix == "k" || place.matrix == "v") head = inputs.head / (inputs.q.dim(1) / inputs.k.dim(1));
  const std::int64_t width = tensor->dim(-1);
  const std::int64_t rows = tensor->dim(-2);
  tensor->values<double>()[static_cast<std::size_t>((head * rows + place.row) * width + place.column)] += step;
  return inputs;
}

}  // namespace

BenchNudge bench_nudge(const Bench& bench, std::string_view name, double step) {
  const auto refuse = [](const std::string& expected, const std::string& got) {
    throw InvalidArgument("bench", "nudge", expected, got);
  };
  const BenchPlace place = place_named(bench, name);
  BenchInputs inputs = bench.inputs();
  if (input_named(inputs, place.matrix) == nullptr) refuse("a number of an input", "one of " + place.matrix);
  if (!bench.inputs().concat.empty()) refuse("a bench of one's own numbers", "a drawn model");
  if (!std::isfinite(step) || step == 0) refuse("a step other than 0", brief(step));
  if (bench.inputs().d_out.empty()) refuse("`d_out` or `move` beside it", "none");
  const BenchMatrix& gradient = bench.matrix("d_" + place.matrix);
  BenchNudge nudge;
  nudge.name = name;
  nudge.step = step;
  nudge.predicted = step * gradient.values.at({place.row, place.column});
  nudge.found = loss_of(Bench(nudged(bench, place, step))) - loss_of(bench);
  nudge.sentence =
      fmt::format("{} {} by {}: the gradient says {}, the engine finds {}.", symbol_of(place).text,
                  step > 0 ? "grows" : "falls", brief(std::abs(step)),
                  with_minus(fmt::format("{:+.3g}", nudge.predicted)), with_minus(fmt::format("{:+.3g}", nudge.found)));
  return nudge;
}

}  // namespace qkv
