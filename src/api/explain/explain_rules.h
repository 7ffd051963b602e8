// What the fields of the question explain mean beside each other.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/api/explain.h"

namespace qkv::api_detail {

/// Says of each field which others it needs, and beside which it has no meaning.
void say_company(Fields<ExplainRequest>& fields);

/// The layer and head that a request names; either may be left open.
struct HeadPlace {
  std::optional<std::int64_t> layer, head;
};
/// Throws InvalidArgument naming `head`.
[[nodiscard]] HeadPlace head_place(const ExplainRequest& request);

/// The explanation of a drawn model or of own tensors. Throws InvalidArgument naming the field, and `numbers` if it
/// would be told in more than `most_numbers`.
[[nodiscard]] Explanation drawn_explanation(const ExplainRequest& request, const ExplainedParts& parts,
                                            double most_numbers);

}  // namespace qkv::api_detail
