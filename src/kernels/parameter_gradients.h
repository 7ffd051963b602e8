// The gradients of a bias's own numbers and of sinks, by a walk of their own over the tiles.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/backward_problem.h"
#include "kernels/cpu/forward.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// The documents of a ragged batch, or the one problem of a batch that is none, all with the same options. Their lse is
/// that of settled_lse().
using Documents = std::span<const BackwardProblem>;

/// Writes the gradient of term `term` of the bias, f32 and zero so far. Tiles of scores are made again in f32, with the
/// target's vectors, and added in f64. A task owns cells of the gradient, or adds up sums of its own where there are
/// few: the result does not depend on `threads`. A thread keeps a few tiles and 64 rows of q, k, v and d_out.
void write_bias_gradient(Documents documents, std::size_t term, const cpu::Target& target, int threads,
                         Tensor& gradient);

/// Writes the gradient of the sinks [Hq], f32, without any tile. The same for any `threads`.
void write_sink_gradient(Documents documents, int threads, Tensor& gradient);

}  // namespace qkv::kernels
