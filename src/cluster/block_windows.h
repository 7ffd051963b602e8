// A block of keys as windows: each piece of this rank's queries with each piece of the block that it sees.
#pragma once

#include "cluster/call.h"
#include "cluster/ring.h"

namespace qkv::cluster {

struct BlockWindow {
  std::size_t piece = 0;  // of the block
  KeyRange seen;          // rows of the block's piece
  KeyRange rows;          // of this rank's queries
  SharePiece queries;
  SharePiece keys;  // those that are seen, with k and v
  TensorView k;
  TensorView v;
};

/// body(window) for each that is not empty, one piece of queries after the other.
template <class Body>
void for_each_window(const RankCall& call, const Block& block, const Body& body) {
  const std::vector<SharePiece>& sources = call.cluster().keys.pieces(block.source);
  std::int64_t row = 0;
  for (const SharePiece& queries : call.pieces()) {
    for (std::size_t n = 0; n < sources.size(); ++n) {
      const SharePiece keys = part_of(sources[n], block.rows[n]);
      const KeyRange seen = seen_keys(call.whole(), queries, keys);
      if (seen.begin >= seen.end) continue;
      body(BlockWindow{.piece = n,
                       .seen = seen,
                       .rows = {row, row + queries.count},
                       .queries = queries,
                       .keys = part_of(keys, seen),
                       .k = block.k[n].slice(2, seen.begin, seen.end),
                       .v = block.v[n].slice(2, seen.begin, seen.end)});
    }
    row += queries.count;
  }
}

}  // namespace qkv::cluster
