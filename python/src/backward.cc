#include "qkv/backward.h"

#include "inputs.h"
#include "options.h"
#include "score_mod.h"
#include "signals.h"

namespace qkv::python {
namespace {

GradientWants wants_of(const std::optional<std::vector<std::string>>& names) {
  if (!names) return {};
  GradientWants wants = {.q = false, .k = false, .v = false, .bias = false, .sinks = false};
  for (const std::string& name : *names) {
    bool* one = name == "q"       ? &wants.q
                : name == "k"     ? &wants.k
                : name == "v"     ? &wants.v
                : name == "bias"  ? &wants.bias
                : name == "sinks" ? &wants.sinks
                                  : nullptr;
    if (one == nullptr) {
      throw InvalidArgument("attention_backward", "wants", "q, k, v, bias or sinks", "\"" + name + "\"");
    }
    *one = true;
  }
  return wants;
}

nb::object given(const Inputs& inputs, Tensor gradient) {
  return gradient.empty() ? nb::none() : inputs.give(std::move(gradient));
}

nb::object gradients_of(const Inputs& inputs, AttentionGradients gradients) {
  nb::list d_bias;
  for (Tensor& one : gradients.d_bias) d_bias.append(inputs.give_whole(std::move(one)));
  nb::object d_sinks = nb::none();
  if (!gradients.d_sinks.empty()) d_sinks = inputs.give_whole(std::move(gradients.d_sinks));
  static const nb::handle kType = nb::object(nb::module_::import_("qkv._results").attr("AttentionGradients")).release();
  return kType(given(inputs, std::move(gradients.d_q)), given(inputs, std::move(gradients.d_k)),
               given(inputs, std::move(gradients.d_v)), d_bias, d_sinks);
}

AttentionGradients only(const GradientWants& wants, AttentionGradients gradients) {
  if (!wants.q) gradients.d_q = {};
  if (!wants.k) gradients.d_k = {};
  if (!wants.v) gradients.d_v = {};
  if (!wants.sinks) gradients.d_sinks = {};
  return gradients;
}

nb::object backward_of(nb::handle d_out, nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle lse,
                       const nb::object& mask, const nb::object& bias, std::optional<double> scale,
                       std::optional<double> softcap, const nb::object& dropout, const nb::object& sinks,
                       const nb::object& ragged, std::optional<int> threads, const nb::object& target,
                       const nb::object& within, const nb::object& d_lse,
                       const std::optional<std::vector<std::string>>& wants, const nb::object& score_mod) {
  const Inputs inputs("attention_backward", q);
  const Tensor keys = inputs.read(k, "k");
  const Tensor values = inputs.read(v, "v");
  const Tensor results = inputs.read(out, "out");
  const Tensor sums = inputs.read(lse, "lse", 1);
  const Tensor d_results = inputs.read(d_out, "d_out");
  const OptionArguments given = {mask, bias, scale, softcap, dropout, sinks, ragged, threads, target, within};
  const GradientWants wanted = wants_of(wants);
  Tensor d_sums;
  if (!d_lse.is_none()) d_sums = inputs.read(d_lse, "d_lse", 1);
  if (!score_mod.is_none()) {
    const BackwardTensors tensors = {d_results, keys, values, results, sums, d_sums};
    return gradients_of(inputs, only(wanted, gradients_with(score_mod, inputs, tensors, given)));
  }
  AttentionOptions options = options_of("attention_backward", given, inputs.shape(keys));
  options.watch = signal_watch();
  BackwardOptions backward = {.wants = wanted};
  if (!d_lse.is_none()) backward.d_lse = d_sums.view();
  AttentionGradients gradients;
  {
    const nb::gil_scoped_release free;
    gradients = attention_backward(d_results, inputs.q(), keys, values, results, sums, options, backward);
  }
  return gradients_of(inputs, std::move(gradients));
}

constexpr const char* kBackward = R"doc(The gradients of a loss with respect to the inputs of attention(q, k, v, …).

d_out is the gradient with respect to out; out and lse are the results of that call, and the options are its options.
d_lse [B, Hq, Tq] is the gradient with respect to lse, where the loss reads it too. wants names the gradients to compute,
of "q", "k", "v", "bias" and "sinks"; all if None. score_mod is a pair (function, its derivative by the score), each of
(score, b, h, q_idx, k_idx), where attention() had one; a bias beside it is refused. within is as of
attention(); out and lse are then those of the whole rows, and gradients add up over windows, of which d_bias has the shape
of the whole bias.

Returns AttentionGradients (d_q, d_k, d_v, d_bias, d_sinks): None for those not computed; d_bias a list with one array for
each summand of the bias. Raises as attention() does.)doc";

}  // namespace

void add_backward(nb::module_& module) {
  module.def("attention_backward", &backward_of, nb::arg("d_out"), nb::arg("q"), nb::arg("k"), nb::arg("v"),
             nb::arg("out"), nb::arg("lse"), nb::kw_only(), nb::arg("mask") = nb::none(), nb::arg("bias") = nb::none(),
             nb::arg("scale") = nb::none(), nb::arg("softcap") = nb::none(), nb::arg("dropout") = nb::none(),
             nb::arg("sinks") = nb::none(), nb::arg("ragged") = nb::none(), nb::arg("threads") = nb::none(),
             nb::arg("target") = nb::none(), nb::arg("within") = nb::none(), nb::arg("d_lse") = nb::none(),
             nb::arg("wants") = nb::none(), nb::arg("score_mod") = nb::none(), kBackward);
}

}  // namespace qkv::python
