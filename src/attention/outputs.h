// Checks the memory that a call writes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/backward_problem.h"
#include "qkv/backward.h"
#include "qkv/tensor.h"

namespace qkv {

/// The byte range of a tensor, from its lowest byte to past its highest.
struct Reach {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
[[nodiscard]] Reach reach_of(const TensorView& view);
[[nodiscard]] Reach reach_of(std::span<const std::byte> bytes);

/// An input by the name that a message gives it.
using NamedReach = std::pair<std::string_view, Reach>;

/// The memory that a call writes; out is [B, Hq, Tq, Dv] for q [B, Hq, Tq, D].
struct OutputMemory {
  TensorView q;
  std::int64_t Dv;
  MutableTensorView out;
  MutableTensorView lse;
  std::span<std::byte> scratch;
};

/// f64 if q is, else f32.
[[nodiscard]] DType lse_dtype(DType dtype);

/// Throws InvalidArgument naming `function` and out, lse or scratch, as attention_into() does. Allocates nothing.
void validate_outputs(std::string_view function, const OutputMemory& memory, std::span<const NamedReach> inputs);

/// The same check for further inputs: none may overlap what is written.
void validate_apart(std::string_view function, const OutputMemory& memory, std::span<const NamedReach> inputs);

/// Throws InvalidArgument naming `function` and out or lse, as merge_attention_into() does. The parts are valid.
void validate_merged(std::string_view function, const MutableTensorView& out, const MutableTensorView& lse,
                     std::span<const PartialAttention> parts);

/// Throws InvalidArgument naming into.d_q, into.d_k, into.d_v or scratch, as attention_backward() does.
void validate_places(std::string_view function, const kernels::BackwardProblem& problem,
                     const BackwardOptions& backward);

}  // namespace qkv
