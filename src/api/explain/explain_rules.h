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

/// Throws InvalidArgument naming `numbers` if a drawn model would be told in more of them than a studio tells.
void require_few_numbers(const ExplainRequest& request);

}  // namespace qkv::api_detail
