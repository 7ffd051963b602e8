#include "model/require_finite.h"

#include <cmath>
#include <limits>
#include <optional>

#include "qkv/error.h"

namespace qkv {
namespace {

// "NaN" or "an infinity"; nullopt for numbers alone.
std::optional<std::string> fault_in(const TensorView& values) {
  std::optional<std::string> fault;
  for (const double value : values.to_vector()) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) fault = "an infinity";
  }
  return fault;
}

}  // namespace

bool can_be_answers(std::span<const double> values) noexcept {
  bool all = true;
  for (const double value : values) all &= value < std::numeric_limits<double>::infinity();
  return all;
}

void fail_not_finite(const Model& model, std::string_view function, std::string_view what) {
  const std::string begin = std::string(function) + ": " + std::string(what) + " are not all numbers: ";
  for (const Parameter& parameter : model.parameters()) {
    if (const auto fault = fault_in(parameter.value.value())) throw Error(begin + parameter.name + " holds " + *fault);
  }
  throw Error(begin + "no parameter holds NaN or an infinity, so that the pass itself left the range of " +
              std::string(name_of(model.dtype())));
}

void require_numbers(const Model& model, std::string_view function, std::string_view what,
                     std::span<const double> values) {
  if (!can_be_answers(values)) fail_not_finite(model, function, what);
}

}  // namespace qkv
