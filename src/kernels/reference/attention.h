// Attention as plain float64 loops: the specification of every other kernel, and the oracle of its tests.
#pragma once

#include <span>

#include "kernels/problem.h"
#include "qkv/stage.h"
#include "qkv/tensor.h"

namespace qkv::kernels::reference {

/// Writes out [B, Hq, Tq, Dv] and lse [B, Hq, Tq]. One row at a time; a forbidden pair's k and v are not read.
/// Allocates a few rows.
void forward(const Problem& problem, const MutableTensorView& out, const MutableTensorView& lse);

/// Writes stages[n] into results[n], each [B, Hq, Tq, Tk]. Reads k of hidden pairs too, for the stages before the mask.
void write_stages(const Problem& problem, std::span<const Stage> stages, std::span<Tensor> results);

}  // namespace qkv::kernels::reference
