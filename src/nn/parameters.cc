#include "qkv/nn/parameters.h"

#include <algorithm>
#include <set>

namespace qkv {

void append(Parameters& to, std::string_view prefix, const Parameters& more) {
  for (const Parameter& parameter : more) {
    to.push_back({std::string(prefix) + "." + parameter.name, parameter.value});
  }
}

std::int64_t parameter_count(const Parameters& parameters) {
  std::set<const autograd::Body*> seen;
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters) {
    if (seen.insert(parameter.value.body().get()).second) count += parameter.value.size();
  }
  return count;
}

void assign(const Parameters& parameters, std::string_view name, const TensorView& value) {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  if (found == parameters.end()) {
    throw InvalidArgument("assign", "name", "the name of a parameter", "\"" + std::string(name) + "\"");
  }
  if (!(found->value.shape() == value.shape())) {
    throw InvalidArgument("assign", name, found->value.shape().to_string(), value.shape().to_string());
  }
  found->value.replace_value(Tensor(value, found->value.dtype()));
}

void clear_gradients(std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) parameter.value.clear_gradient();
}

Dropout dropout_at(const Dropout& dropout, std::uint64_t n) {
  std::uint64_t state = dropout.seed + (n + 1) * 0x9E3779B97F4A7C15U;
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
  return {.p = dropout.p, .seed = state ^ (state >> 31U)};
}

}  // namespace qkv
