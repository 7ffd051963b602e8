// The parameters of a layer or model, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/random.h"

namespace qkv {

/// A parameter and its name, such as "blocks.0.attn.q.weight". `value` is the layer's own handle.
struct Parameter {
  std::string name;
  Variable value;
};

/// In a fixed order: that in which the layer draws them, also used by checkpoints and optimisers.
using Parameters = std::vector<Parameter>;

/// Adds `more` under `prefix` and a dot.
void append(Parameters& to, std::string_view prefix, const Parameters& more);

/// The number of elements of all parameters. One with two names (a tied embedding) counts once.
[[nodiscard]] std::int64_t parameter_count(const Parameters& parameters);

/// Copies `value` into the parameter of that name, in the parameter's dtype; views of the old value become invalid.
/// Throws InvalidArgument if there is no such parameter or it has another shape.
void assign(const Parameters& parameters, std::string_view name, const TensorView& value);

/// Forgets the gradients of all.
void clear_gradients(std::span<const Parameter> parameters);

/// Dropout for the n-th of several uses of `dropout`: the same p, a seed derived from n (splitmix64, Steele et al.
/// 2014). A pure function, so the second run of a checkpoint drops the same elements.
[[nodiscard]] Dropout dropout_at(const Dropout& dropout, std::uint64_t n);

}  // namespace qkv
