// The documents of a ragged batch.
#pragma once

#include <cstdint>

#include "kernels/problem.h"
#include "qkv/attention.h"

namespace qkv {

/// The range of a document in a ragged batch.
struct Document {
  KeyRange queries;
  KeyRange keys;
};

[[nodiscard]] std::int64_t documents_of(const Ragged& ragged);
[[nodiscard]] Document document_of(const Ragged& ragged, std::int64_t n);
[[nodiscard]] MaskShape document_shape(const kernels::Problem& whole, const Ragged& ragged, std::int64_t n);
/// The call of one document, taken from that of the whole batch with these options.
[[nodiscard]] kernels::Problem document_problem(const kernels::Problem& whole, const AttentionOptions& options,
                                                std::int64_t n);

}  // namespace qkv
