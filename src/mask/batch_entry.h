// The part of a mask or bias that applies to one batch entry.
#pragma once

#include "qkv/bias.h"
#include "qkv/mask.h"

namespace qkv {

/// A mask for shapes of B = 1 that answers for entry `b` of `B`, with the Tq and Tk of the shape, so that sequences of
/// different lengths get plans of their own. Returns `mask` itself if it does not vary by batch entry. The text form is
/// that of the whole mask. Throws InvalidArgument unless 0 <= b < B.
[[nodiscard]] Mask batch_entry(const Mask& mask, std::int64_t b, std::int64_t B);
[[nodiscard]] Bias batch_entry(const Bias& bias, std::int64_t b, std::int64_t B);

}  // namespace qkv
