// The options of a call, from what Python gives.
#pragma once

#include <string_view>

#include "arrays.h"
#include "python.h"
#include "qkv/attention.h"

// How the options of a probe are written in its stub.
#define QKV_PROBE_OPTIONS                                                                                          \
  "mask: qkv._types.MaskSource | None = None, bias: qkv._types.BiasSource | None = None, "                         \
  "scale: float | None = None, softcap: float | None = None, dropout: qkv._types.Dropout | None = None, "          \
  "sinks: qkv._types.Numbers | None = None, threads: int | None = None, target: qkv._types.Target | None = None, " \
  "within: qkv._types.Window | None = None"

namespace qkv::python {

/// As attention() of Python has them; each may be None.
struct OptionArguments {
  nb::object mask;
  nb::object bias;
  std::optional<double> scale;
  std::optional<double> softcap;
  nb::object dropout;
  nb::object sinks;
  nb::object ragged;
  std::optional<int> threads;
  nb::object target;
  nb::object within;
};

/// Throws TypeError or InvalidArgument naming `function` and the option. A function of Python for mask or bias is
/// called once, for `shape`, or for the matrix of which that is a window. The target is a view of the text of
/// arguments.target, which must outlive the options.
[[nodiscard]] AttentionOptions options_of(std::string_view function, const OptionArguments& arguments,
                                          const MaskShape& shape);

/// A mask from a Mask, a text, an array or a function; a bias likewise. For operands: no function without a shape.
[[nodiscard]] Mask mask_of(std::string_view function, nb::handle mask, const MaskShape* shape);
[[nodiscard]] Bias bias_of(std::string_view function, nb::handle bias, const MaskShape* shape);

/// Whether a mask, or a bias, can be combined with `other` without a shape: another one, a text or an array.
template <class Value>
[[nodiscard]] bool is_operand(nb::handle other) {
  return nb::isinstance<Value>(other) || nb::isinstance<nb::str>(other) || is_array(other);
}

[[nodiscard]] Align align_of(std::string_view function, std::string_view word);
[[nodiscard]] Stage stage_of(std::string_view function, std::string_view word);

}  // namespace qkv::python
