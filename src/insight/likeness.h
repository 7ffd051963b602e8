// Whether a head looks at tokens like the one that looks.
#pragma once

#include <span>
#include <vector>

#include "qkv/tensor.h"

namespace qkv::insight {

/// f64 [T, T]: the cosines between rows of embeddings [T, D]; of a row of zeros 0.
[[nodiscard]] Tensor cosines_between(const TensorView& embeddings);

/// The place of each among all by size, from 0, the mean for equals; NaN comes last.
[[nodiscard]] std::vector<double> ranks_of(std::span<const double> values);

/// Pearson's correlation of two lists of ranks of one length, which is Spearman's of what they are ranks of; 0 where
/// one of them is constant.
[[nodiscard]] double correlation_of_ranks(std::span<const double> left, std::span<const double> right);

}  // namespace qkv::insight
