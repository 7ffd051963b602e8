// Scores of positions: what a query's content says to the distance of a key, and a key's to that of a query (He et al.
// 2021, DeBERTa, section 3.1).
#pragma once

#include <cstdint>

#include "qkv/autograd/variable.h"

namespace qkv {

/// Which rows of a table of distances there are, and what reads them.
struct RelativeScores {
  std::int64_t span = 0;     // distances on each side: the table has 2 * span rows; 0: there are no such scores
  std::int64_t buckets = 0;  // distances from half of them on are counted by their logarithm; 0: one by one
  std::int64_t longest = 0;  // the distance of the last of `buckets`
  bool of_queries = true;    // a query's content with the distance: "c2p"
  bool of_keys = true;       // a key's content with it: "p2c"
  bool has_maps = false;     // rows are projected by maps of their own; else by those of k and q

  bool operator==(const RelativeScores&) const = default;
};

/// The row of the table for a key `distance` places before its query (negative: behind it).
[[nodiscard]] std::int64_t relative_row(const RelativeScores& options, std::int64_t distance);

/// Of the rows of distances from T - 1 to 1 - T.
enum class DistanceOrder : std::uint8_t { falling, rising };
/// Those rows of a table [2 * span, width]: [1, 2 T - 1, width].
[[nodiscard]] Variable relative_rows(const RelativeScores& options, const Variable& table, std::int64_t T,
                                     DistanceOrder order);

/// x [B, H, T, D] times rows [1, H, 2 T - 1, D], one row for each distance -> [B, H, T, T], where place (i, j) has row
/// j - i + T - 1. Allocates [B, H, T, 2 T - 1]. Throws InvalidArgument naming rows.
[[nodiscard]] Variable scores_of_distances(const Variable& x, const Variable& rows);

}  // namespace qkv
