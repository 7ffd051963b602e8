// Checks a call of attention before any kernel sees it.
#pragma once

#include <string_view>

#include "kernels/problem.h"
#include "qkv/attention.h"

namespace qkv {

/// The inputs and options of a call, checked once: kernels and the scheduler read the result. Throws InvalidArgument as
/// attention() does, naming `function`.
[[nodiscard]] kernels::Problem validated_batch(std::string_view function, const TensorView& q, const TensorView& k,
                                               const TensorView& v, const AttentionOptions& options);

/// The same without v, for functions of scores, which do not take a ragged batch.
[[nodiscard]] kernels::Problem validated(std::string_view function, const TensorView& q, const TensorView& k,
                                         const AttentionOptions& options);

/// Throws InvalidArgument naming `function` and ragged if there is one.
void require_no_ragged(std::string_view function, const AttentionOptions& options);

/// Checks scale, softcap, dropout, sinks and threads.
void validate_numbers(std::string_view function, const AttentionOptions& options, std::int64_t Hq);

/// Checks that there is no window, one, or one for each of so many documents or sequences, which `what` names.
void validate_windows(std::string_view function, const AttentionOptions& options, std::int64_t count,
                      std::string_view what);

/// Checks that mask and bias fit document or sequence b of the lengths of `shape`, which its window holds.
void validate_entry(std::string_view function, const AttentionOptions& options, std::int64_t b, const MaskShape& shape);

/// Where document or sequence b of the lengths of `shape` lies. validate_windows() has been called.
[[nodiscard]] MatrixWindow window_of(const AttentionOptions& options, std::int64_t b, const MaskShape& shape);

/// Gives a problem the mask and the bias of the options, within its windows if there are any.
void set_mask_and_bias(const AttentionOptions& options, kernels::Problem& problem);

/// Checks v against k.
void validate_values(std::string_view function, const TensorView& k, const TensorView& v);

}  // namespace qkv
