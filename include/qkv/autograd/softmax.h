// Softmax, log-softmax and cross-entropy.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/autograd/variable.h"

namespace qkv {

/// exp(x) / sum of exp(x) along an axis (negative: from the end), with the maximum subtracted first. As in attention, a
/// row of -inf alone gives zeros; one with NaN or +inf gives NaN. Throws InvalidArgument naming x or axis.
[[nodiscard]] Variable softmax(const Variable& x, int axis = -1);

/// x - log of the sum of exp(x) along an axis, likewise. A row of -inf alone gives -inf.
[[nodiscard]] Variable log_softmax(const Variable& x, int axis = -1);

struct CrossEntropyOptions {
  std::optional<std::int64_t> ignored = -100;  // positions with this target are left out
  double label_smoothing = 0.0;                // in [0, 1): this share of the target is spread evenly over all classes
};

/// The mean over counted positions of -log softmax(logits)[target], as torch.nn.functional.cross_entropy; NaN if none
/// is counted. logits [..., C]; targets [...] of i64 or i32. The result has rank 0: f64 for f64 logits, else f32. Never
/// stores the softmax: keeps the logits and two numbers per position. Throws InvalidArgument naming logits, targets or
/// label_smoothing. Label smoothing: Szegedy et al. 2016, section 7.
[[nodiscard]] Variable cross_entropy(const Variable& logits, const TensorView& targets,
                                     const CrossEntropyOptions& options = {});

}  // namespace qkv
