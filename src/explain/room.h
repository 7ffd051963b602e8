// How much an explanation may hold.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "qkv/error.h"

namespace qkv::explain_detail {

/// Throws InvalidArgument naming `heads` for more than 2^27 weights of all heads: each step's are kept to be shown.
inline void require_few_weights(std::int64_t heads, std::int64_t queries, std::int64_t keys) {
  constexpr std::int64_t kMost = std::int64_t{1} << 27;
  const std::int64_t most = kMost / std::max<std::int64_t>(1, queries * keys);
  if (heads <= most) return;
  throw InvalidArgument("explain", "heads",
                        fmt::format("at most {} over {} × {} weights each, because every step's are kept to be shown",
                                    most, queries, keys),
                        fmt::format("{}", heads));
}

}  // namespace qkv::explain_detail
