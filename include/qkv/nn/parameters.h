// What a layer learns, by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/random.h"

namespace qkv {

/// A parameter and where it stands: "blocks.0.attn.q.weight". The handle is that of the layer.
struct Parameter {
  std::string name;
  Variable value;
};

/// In the order in which the layer was drawn, which is fixed: that of checkpoints and of optimisers' states.
using Parameters = std::vector<Parameter>;

/// Adds `more` under `prefix` and a dot.
void append(Parameters& to, std::string_view prefix, const Parameters& more);

/// Elements of all of them; one that stands under two names (a tied embedding) counts once.
[[nodiscard]] std::int64_t parameter_count(const Parameters& parameters);

/// Gives the parameter of that name a copy of these values in its own dtype; views of the former ones end. Throws
/// InvalidArgument naming a parameter that is not there or has another shape.
void assign(const Parameters& parameters, std::string_view name, const TensorView& value);

/// The dropout of the n-th place inside what `dropout` stands for: the same p, a seed of its own (splitmix64, Steele et
/// al. 2014). A pure function, so a checkpoint's second run drops the same.
[[nodiscard]] Dropout dropout_at(const Dropout& dropout, std::uint64_t n);

}  // namespace qkv
