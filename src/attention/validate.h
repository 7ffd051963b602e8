// Checks a call of attention before any kernel sees it.
#pragma once

#include <string_view>

#include "kernels/problem.h"
#include "qkv/attention.h"

namespace qkv {

/// The scores' half of the call. Throws InvalidArgument as attention() does; `function` is the name it carries.
[[nodiscard]] kernels::Problem validated_batch(std::string_view function, const TensorView& q, const TensorView& k,
                                               const AttentionOptions& options);

/// The same for what has no answer to a ragged batch.
[[nodiscard]] kernels::Problem validated(std::string_view function, const TensorView& q, const TensorView& k,
                                         const AttentionOptions& options);

/// The options that are numbers: scale, softcap, dropout, sinks and threads.
void validate_numbers(std::string_view function, const AttentionOptions& options, std::int64_t Hq);

/// That the mask and bias can stand over batch entry b, or document b, of the lengths of `shape`.
void validate_entry(const AttentionOptions& options, std::int64_t b, const MaskShape& shape);

/// That v stands beside k.
void validate_values(std::string_view function, const TensorView& k, const TensorView& v);

}  // namespace qkv
