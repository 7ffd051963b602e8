// A validated call, laid out for the fused kernels.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/cpu/forward.h"
#include "kernels/problem.h"
#include "qkv/attention.h"

namespace qkv {

/// A call for the fused kernels. Holds references: its arguments must outlive it.
struct FusedCall {
  const kernels::cpu::Target& target;
  const kernels::Problem& problem;
  const AttentionOptions& options;
};

/// Bytes of scratch that the call needs, at any alignment.
[[nodiscard]] std::size_t scratch_bytes(const FusedCall& call);

/// Writes out and lse. Allocates scratch unless options.scratch is given, and the plan of the mask, one for each length
/// of document, unless options.plan is. Throws InvalidArgument naming `function` and scratch if it is too small,
/// before anything is written.
void run_fused(std::string_view function, const FusedCall& call, const MutableTensorView& out,
               const MutableTensorView& lse);

}  // namespace qkv
