#include "qkv/autograd/attention.h"

#include <string>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "qkv/backward.h"

namespace qkv {
namespace {

using autograd::Gradients;
using autograd::Kept;
using autograd::Value;
using autograd::value_of;

constexpr std::string_view kOperation = "attention";

const Variable& numbers_of(const LearnedBias& term) {
  if (const auto* dense = std::get_if<LearnedDenseBias>(&term)) return dense->values;
  if (const auto* t5 = std::get_if<LearnedT5Bias>(&term)) return t5->table;
  return std::get<LearnedAlibi>(term).slopes;
}

Bias bias_of(const LearnedBias& term) {
  const TensorView& numbers = value_of(kOperation, "learned.bias", numbers_of(term)).view;
  if (std::holds_alternative<LearnedDenseBias>(term)) return dense_bias(numbers);
  if (const auto* t5 = std::get_if<LearnedT5Bias>(&term)) return t5_bias(numbers, t5->buckets, t5->align);
  if (numbers.rank() != 1) {
    throw InvalidArgument(kOperation, "learned.bias", "slopes [H]", numbers.shape().to_string());
  }
  return alibi(numbers.to_vector(), std::get<LearnedAlibi>(term).align);
}

// The options of the backward pass: without the plan and scratch of the forward call.
AttentionOptions kept_options(AttentionOptions options, DType dtype) {
  if (!options.target.empty()) options.target = attention_target(dtype, options);
  options.scratch = {};
  options.plan = nullptr;
  return options;
}

// [B, H, T, D] laid out as [B, T, H, D], so that merge_heads() shares it.
Value heads_side_by_side(DType dtype, const Shape& shape) {
  Value value = autograd::new_value(dtype, {shape[0], shape[2], shape[1], shape[3]});
  value.view = value.view.transpose(1, 2);
  return value;
}

struct Call {
  Kept q, k, v, out;
  Value lse;
  AttentionOptions options;
  std::size_t first_learned;  // of the terms of the bias
  std::size_t learned;
  bool sinks;
};

void give(Gradients& gradients, std::size_t input, Tensor gradient, DType dtype) {
  gradients.give(input, autograd::value_of(gradient.dtype() == dtype ? std::move(gradient) : gradient.to(dtype)));
}

void walk_back(const Call& call, const std::vector<DType>& dtypes, const Value& d_out, Gradients& gradients) {
  bool bias = false;
  for (std::size_t n = 0; n < call.learned; ++n) bias = bias || gradients.wanted(3 + n);
  const bool sinks = call.sinks && gradients.wanted(3 + call.learned);
  Value d_inputs[3];
  std::optional<MutableTensorView> places[3];
  const Kept* const inputs[] = {&call.q, &call.k, &call.v};
  for (std::size_t n = 0; n < 3; ++n) {
    if (!gradients.wanted(n)) continue;
    d_inputs[n] = heads_side_by_side(inputs[n]->value().dtype(), inputs[n]->value().shape());
    places[n] = d_inputs[n].writable();
  }
  AttentionGradients all = attention_backward(
      d_out.view, call.q.value().view, call.k.value().view, call.v.value().view, call.out.value().view, call.lse.view,
      call.options,
      {.wants =
           {.q = gradients.wanted(0), .k = gradients.wanted(1), .v = gradients.wanted(2), .bias = bias, .sinks = sinks},
       .into = {.d_q = places[0], .d_k = places[1], .d_v = places[2]}});
  for (std::size_t n = 0; n < 3; ++n) {
    if (gradients.wanted(n)) gradients.give(n, std::move(d_inputs[n]));
  }
  for (std::size_t n = 0; n < call.learned; ++n) {
    if (gradients.wanted(3 + n)) {
      give(gradients, 3 + n, std::move(all.d_bias[call.first_learned + n]), dtypes[3 + n]);
    }
  }
  if (sinks) give(gradients, 3 + call.learned, std::move(all.d_sinks), dtypes[3 + call.learned]);
}

}  // namespace

AttentionOptions options_with(const AttentionOptions& options, const LearnedTerms& learned) {
  AttentionOptions all = options;
  for (const LearnedBias& term : learned.bias) all.bias = all.bias + bias_of(term);
  if (learned.sinks.empty()) return all;
  if (!options.sinks.empty()) {
    throw InvalidArgument(kOperation, "learned.sinks", "none if options.sinks is given",
                          learned.sinks.shape().to_string());
  }
  if (learned.sinks.rank() != 1) {
    throw InvalidArgument(kOperation, "learned.sinks", "[Hq]", learned.sinks.shape().to_string());
  }
  all.sinks = learned.sinks.value().to_vector();
  return all;
}

AttentionRun attention_run(const Variable& q, const Variable& k, const Variable& v, const AttentionOptions& options,
                           const LearnedTerms& learned) {
  const Value& queries = value_of(kOperation, "q", q);
  const Value& keys = value_of(kOperation, "k", k);
  const Value& values = value_of(kOperation, "v", v);
  if (queries.view.rank() != 4) throw InvalidArgument(kOperation, "q", "[B, Hq, Tq, D]", queries.shape().to_string());
  if (values.view.rank() != 4) throw InvalidArgument(kOperation, "v", "[B, Hk, Tk, Dv]", values.shape().to_string());
  const AttentionOptions all = options_with(options, learned);
  const Shape& shape = queries.shape();
  Value out = heads_side_by_side(queries.dtype(), {shape[0], shape[1], shape[2], values.shape()[3]});
  const DType computed = queries.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Value lse = autograd::new_value(computed, {shape[0], shape[1], shape[2]});
  attention_into(out.writable(), lse.writable(), queries.view, keys.view, values.view, all);
  std::vector<Variable> inputs = {q, k, v};
  for (const LearnedBias& term : learned.bias) inputs.push_back(numbers_of(term));
  if (!learned.sinks.empty()) inputs.push_back(learned.sinks);
  std::vector<DType> dtypes;
  dtypes.reserve(inputs.size());
  for (const Variable& input : inputs) dtypes.push_back(input.dtype());
  const AttentionOptions kept = kept_options(all, queries.dtype());
  Call call{.q = Kept(kOperation, "q", queries),
            .k = Kept(kOperation, "k", keys),
            .v = Kept(kOperation, "v", values),
            .out = Kept(kOperation, "the result", out),
            .lse = lse,
            .options = kept,
            .first_learned = options.bias.terms().size(),
            .learned = learned.bias.size(),
            .sinks = !learned.sinks.empty()};
  Variable result = autograd::recorded(kOperation, std::move(out), inputs,
                                       [call = std::move(call), dtypes](const Value& d_out, Gradients& gradients) {
                                         walk_back(call, dtypes, d_out, gradients);
                                       });
  return {.out = std::move(result), .lse = autograd::constant(lse), .options = kept};
}

Variable attention(const Variable& q, const Variable& k, const Variable& v, const AttentionOptions& options,
                   const LearnedTerms& learned) {
  return attention_run(q, k, v, options, learned).out;
}

}  // namespace qkv
