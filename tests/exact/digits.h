// The digits of f64 results, each result as one line of text.
#pragma once

#include <string>

#include "qkv/random.h"
#include "qkv/tensor.h"

namespace qkv::digits {

/// Prints `name` and a hash of the numbers' bits (FNV-1a); every NaN counts as the same, since processors differ in the
/// one that they make.
void print(const std::string& name, const TensorView& numbers);

/// f64 from a normal distribution, `seed` telling them apart.
[[nodiscard]] inline Tensor normal(const Shape& shape, std::uint64_t seed) {
  return Generator(seed).randn(shape, DType::f64);
}

// Each prints what it is named for.
void print_functions();
void print_draws();
void print_positions();
void print_attention();
void print_linear_attention();
void print_probes();
void print_operations();
void print_transformer_steps();

}  // namespace qkv::digits
