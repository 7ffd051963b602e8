#include "score_mod.h"

#include <algorithm>

#include "arrays.h"

namespace qkv::python {
namespace {

void require_alone(std::string_view function, const OptionArguments& options) {
  const auto refuse = [&](std::string_view word, const std::string& expected, const std::string& got) {
    throw InvalidArgument(function, word, expected, got);
  };
  if (!options.dropout.is_none()) refuse("dropout", "none beside score_mod", "dropout");
  if (!options.ragged.is_none()) refuse("ragged", "none beside score_mod: call it for each document", "offsets");
  if (!options.within.is_none()) refuse("within", "none beside score_mod", "a window");
  const bool has_target = !options.target.is_none();
  if (has_target && shown_text(options.target) != "reference") {
    refuse("target", "\"reference\", which alone takes score_mod", shown_text(nb::repr(options.target)));
  }
}

nb::object numbers(const Tensor& tensor) {
  if (tensor.empty()) return nb::none();
  return numpy_array(Tensor(tensor.view(), DType::f64));
}

// Options of qkv.Probe.
nb::dict probe_options(const OptionArguments& options) {
  nb::dict words;
  words["mask"] = options.mask;
  words["bias"] = options.bias;
  words["scale"] = options.scale;
  words["softcap"] = options.softcap;
  words["target"] = "reference";
  return words;
}

nb::object sinks_of(std::string_view function, const Inputs& inputs, const OptionArguments& options) {
  if (options.sinks.is_none()) return nb::none();
  const std::vector<double> sinks = numbers_of(options.sinks, {function, "sinks"});
  if (static_cast<std::int64_t>(sinks.size()) != inputs.q().dim(1)) {
    throw InvalidArgument(function, "sinks", std::to_string(inputs.q().dim(1)) + " numbers, one for each query head",
                          std::to_string(sinks.size()));
  }
  Tensor array(DType::f64, {static_cast<std::int64_t>(sinks.size())});
  std::ranges::copy(sinks, static_cast<double*>(array.data()));
  return numpy_array(std::move(array));
}

// As the engine says what is wrong with q, k and v: a call without queries.
void require_shapes(const Tensor& q, const Tensor& k, const Tensor& v) {
  static_cast<void>(attention(q.slice(2, 0, 0), k, v));
}

nb::object module() { return nb::module_::import_("qkv._score"); }

Tensor back(nb::handle array, DType dtype) {
  return Tensor(tensor_of(array, {"attention", "score_mod"}).view(), dtype);
}

DType type_of_sums(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace

AttentionResult attention_with(nb::handle score_mod, const Inputs& inputs, const Tensor& k, const Tensor& v,
                               const OptionArguments& options) {
  constexpr std::string_view kFunction = "attention";
  require_alone(kFunction, options);
  require_shapes(inputs.q(), k, v);
  const nb::object result =
      module().attr("attention")(numbers(inputs.q()), numbers(k), numbers(v), sinks_of(kFunction, inputs, options),
                                 score_mod, probe_options(options));
  const DType dtype = inputs.q().dtype();
  return {.out = back(result[0], dtype), .lse = back(result[1], type_of_sums(dtype))};
}

AttentionGradients gradients_with(nb::handle score_mod, const Inputs& inputs, const BackwardTensors& tensors,
                                  const OptionArguments& options) {
  constexpr std::string_view kFunction = "attention_backward";
  require_alone(kFunction, options);
  require_shapes(inputs.q(), tensors.k, tensors.v);
  if (!options.bias.is_none()) {
    throw InvalidArgument(kFunction, "bias", "none beside score_mod: let the function add it", "a bias");
  }
  const nb::object result = module().attr("attention_backward")(
      numbers(tensors.d_out), numbers(inputs.q()), numbers(tensors.k), numbers(tensors.v), numbers(tensors.out),
      numbers(tensors.lse), numbers(tensors.d_lse), sinks_of(kFunction, inputs, options), score_mod,
      probe_options(options));
  const DType dtype = inputs.q().dtype();
  AttentionGradients gradients;
  gradients.d_q = back(result[0], dtype);
  gradients.d_k = back(result[1], dtype);
  gradients.d_v = back(result[2], dtype);
  const nb::object d_sinks = result[3];
  if (!d_sinks.is_none()) gradients.d_sinks = back(d_sinks, type_of_sums(dtype));
  return gradients;
}

}  // namespace qkv::python
