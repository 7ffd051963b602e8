// The gradients of the elements of biases and of sinks, in a separate pass over the tiles.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/backward_problem.h"
#include "kernels/cpu/forward.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// The documents of a ragged batch, or the single problem of another call, all with the same options. Their lse comes
/// from settled_lse().
using Documents = std::span<const BackwardProblem>;

/// Writes the gradients of all terms of the bias, f32 and zero so far. Tiles of scores are recomputed in f32, with the
/// target's vectors, and summed in f64. A task owns elements of the gradients, or, of terms with few elements, has sums
/// of its own: the result does not depend on `threads`. Terms share a walk over the tiles, unless they repeat along
/// different axes of queries, keys, heads and entries. A thread keeps a few tiles and 64 rows of q, k, v and d_out.
void write_bias_gradients(Documents documents, const cpu::Target& target, int threads, std::span<Tensor> gradients);

/// Writes the gradient of the sinks [Hq], f32, without any tile. The same for any `threads`.
void write_sink_gradient(Documents documents, const cpu::Target& target, int threads, Tensor& gradient);

}  // namespace qkv::kernels
