// The reference, forward and backward, with each mask of the table of cases and each kind of every other option.
#include <cmath>
#include <limits>
#include <string>

#include "attention/qkv.h"
#include "cases/case.h"
#include "exact/digits.h"
#include "qkv/backward.h"

namespace qkv::digits {
namespace {

using testing_attention::QkvAndUpstream;

constexpr std::int64_t kB = 2;
constexpr std::int64_t kHk = 2;
constexpr std::int64_t kHq = 4;
constexpr std::int64_t kTq = 23;
constexpr std::int64_t kTk = 31;

Tensor with_infinities(Tensor bias) {
  for (double& value : bias.values<double>()) {
    if (value > 1) value = -std::numeric_limits<double>::infinity();
  }
  return bias;
}

std::vector<std::pair<std::string, Bias>> biases() {
  const Bias t5 = t5_bias(normal({32, kHq}, 21));
  const Bias one_sided = t5_bias(normal({8, kHq}, 22), {.buckets = 8, .max_distance = 20, .bidirectional = false});
  const Bias dense = dense_bias(with_infinities(normal({kHq, kTq, kTk}, 23)));
  return {{"zero", {}},     {"alibi", alibi()},
          {"t5", t5},       {"t5 one-sided", one_sided},
          {"dense", dense}, {"sum", alibi(Align::top_left) + t5 + dense}};
}

QkvAndUpstream drawn() {
  return {
      {.q = normal({kB, kHq, kTq, 11}, 31), .k = normal({kB, kHk, kTk, 11}, 32), .v = normal({kB, kHk, kTk, 6}, 33)},
      normal({kB, kHq, kTq, 6}, 34),
      normal({kB, kHq, kTq}, 35)};
}

void print_call(const std::string& name, const QkvAndUpstream& inputs, const AttentionOptions& options) {
  const AttentionResult forward = attention(inputs.q, inputs.k, inputs.v, options);
  print("attention out, " + name, forward.out);
  print("attention lse, " + name, forward.lse);
  const AttentionGradients gradients = attention_backward(inputs.d_out, inputs.q, inputs.k, inputs.v, forward.out,
                                                          forward.lse, options, {.d_lse = inputs.d_lse.view()});
  print("attention d_q, " + name, gradients.d_q);
  print("attention d_k, " + name, gradients.d_k);
  print("attention d_v, " + name, gradients.d_v);
  for (std::size_t n = 0; n < gradients.d_bias.size(); ++n) {
    print("attention d_bias " + std::to_string(n) + ", " + name, gradients.d_bias[n]);
  }
  if (!gradients.d_sinks.empty()) print("attention d_sinks, " + name, gradients.d_sinks);
}

// A few numbers of q and k far beyond the others, infinite or NaN.
QkvAndUpstream with_extremes() {
  QkvAndUpstream inputs = drawn();
  inputs.q.set({0, 0, 3, 2}, 1e150);
  inputs.q.set({0, 1, 4, 2}, std::numeric_limits<double>::infinity());
  inputs.q.set({1, 3, 20, 1}, 1e-310);
  inputs.k.set({0, 1, 5, 0}, -700);
  inputs.k.set({1, 0, 6, 0}, std::numeric_limits<double>::quiet_NaN());
  inputs.k.set({1, 1, 7, 3}, 1e300);
  return inputs;
}

}  // namespace

void print_attention() {
  const QkvAndUpstream inputs = drawn();
  const MaskShape shape = {.B = kB, .H = kHq, .Tq = kTq, .Tk = kTk};
  const AttentionOptions all_options = {.scale = 0.7,
                                        .softcap = 2.5,
                                        .bias = alibi(),
                                        .mask = window(9),
                                        .dropout = Dropout{.p = 0.3, .seed = 77},
                                        .sinks = {-1, 0, 0.5, 20}};
  for (const auto& mask : cases::masks()) {
    print_call("mask " + std::string(mask.name), inputs, {.mask = mask.make(shape, 5)});
  }
  for (const auto& [name, bias] : biases()) print_call("bias " + name, inputs, {.bias = bias, .mask = causal()});
  print_call("scale", inputs, {.scale = -0.3});
  print_call("softcap", inputs, {.softcap = 0.5});
  print_call("dropout", inputs, {.dropout = Dropout{.p = 0.25, .seed = 3}});
  print_call("sinks", inputs, {.sinks = {-2, 0, 1, 20}});
  print_call("all options", inputs, all_options);
  print_call("extremes", with_extremes(), {.mask = causal()});
  for (const Stage stage :
       {Stage::raw, Stage::scaled, Stage::softcapped, Stage::biased, Stage::masked, Stage::weights, Stage::dropped}) {
    print("attention stage " + std::string(name_of(stage)), attention_stage(inputs.q, inputs.k, all_options, stage));
  }
}

}  // namespace qkv::digits
