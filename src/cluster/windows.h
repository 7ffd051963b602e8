// The call of some of the queries with some of the keys of a whole call.
#pragma once

#include <cstdint>

#include "qkv/attention.h"
#include "qkv/cluster/shares.h"

namespace qkv::cluster {

inline constexpr std::int64_t kTile = 64;

[[nodiscard]] MatrixWindow window_of(std::int64_t Tq, std::int64_t Tk, const SharePiece& queries,
                                     const SharePiece& keys);

/// Rows [rows.begin, rows.end) of a piece.
[[nodiscard]] SharePiece part_of(const SharePiece& piece, const KeyRange& rows);

/// What all ranks ask together.
struct WholeCall {
  const AttentionOptions& options;
  MaskShape shape;  // of the whole matrix; of a ragged batch, of all documents end to end
};

/// The options of the call of these queries with these keys alone: without sinks, which count once.
[[nodiscard]] AttentionOptions options_of(const WholeCall& whole, const SharePiece& queries, const SharePiece& keys);

/// Of the keys' rows a range that has all that a query sees, from one multiple of 64 to another or to the end; empty if
/// no query sees a key. The same on every rank. Asks the mask for tiles, in less than a thousand steps for each head
/// that has a mask of its own.
[[nodiscard]] KeyRange seen_keys(const WholeCall& whole, const SharePiece& queries, const SharePiece& keys);

}  // namespace qkv::cluster
