// What a mask or a bias says of one entry of a batch, as a mask or bias of its own.
#pragma once

#include "qkv/bias.h"
#include "qkv/mask.h"

namespace qkv {

/// Stands over shapes of B = 1, and answers for entry `b` of `B`, each with the shape's own Tq and Tk: so sequences of
/// different lengths are planned one by one. `mask` itself where it does not vary by batch entry. The text form is that
/// of the whole and reads back as the whole. Throws InvalidArgument unless 0 <= b < B.
[[nodiscard]] Mask batch_entry(const Mask& mask, std::int64_t b, std::int64_t B);
[[nodiscard]] Bias batch_entry(const Bias& bias, std::int64_t b, std::int64_t B);

}  // namespace qkv
