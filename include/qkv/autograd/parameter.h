// What a model learns: variables with names.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "qkv/autograd/variable.h"

namespace qkv {

/// A variable that an optimiser changes, under the name that a checkpoint has it by: "blocks.0.attention.q.weight".
struct Parameter {
  std::string name;
  Variable variable;
};

/// How many numbers they hold together.
[[nodiscard]] std::int64_t number_count(std::span<const Parameter> parameters);

/// Forgets the gradients of all.
void clear_gradients(std::span<const Parameter> parameters);

}  // namespace qkv
