// What attention() over ranks sends and computes, counted without running it, and how long that takes by a model.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/cluster/shares.h"
#include "qkv/mask.h"

namespace qkv {

/// A block of one rank's keys and values, as another rank has it from the ring.
struct RingBlock {
  int source = 0;          // whose keys they are
  int from = 0;            // the rank that passes them on; of a rank's own block the rank itself
  std::int64_t rows = 0;   // of keys that come; none of a rank's own block
  std::int64_t tiles = 0;  // of 64 x 64, not skipped, that the rank computes with it, of every head and batch entry
};

/// One rank's part in the ring.
struct RankTraffic {
  std::int64_t messages = 0;           // that it sends, one for each block that it passes on
  std::int64_t rows = 0;               // of keys in them, its own and those of others
  std::int64_t tiles = 0;              // that it computes
  std::vector<RingBlock> blocks = {};  // that it computes with, in its order
};

struct RingTraffic {
  std::vector<RankTraffic> ranks;

  // Of all ranks, and of the rank with the most.

  [[nodiscard]] std::int64_t messages() const;
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t tiles() const;
  [[nodiscard]] std::int64_t most_rows() const;
  [[nodiscard]] std::int64_t most_tiles() const;
};

/// What attention() with Bits::of_ring and this mask, without ragged offsets, sends of keys and values over the ranks
/// of these shares, by the routes that it takes itself. shape is the whole call's: its Tq and Tk are the shares' T, its
/// H is Hq. A row that is sent is B x Hk x (D + Dv) elements of the keys' dtype, so that Transport::sent() grows by
/// rows times that, and by the small messages in which ranks agree on the call beforehand, which are not counted here.
///
/// Asks the mask for tiles, for each pair of pieces of two ranks. Allocates the blocks of all ranks, at most ranks² of
/// them for each way round, and the routes of one rank. Throws InvalidArgument naming queries, keys or the mask where
/// they do not fit.
[[nodiscard]] RingTraffic ring_traffic(const Mask& mask, const MaskShape& shape, const SequenceShares& queries,
                                       const SequenceShares& keys);

/// How long things take, in seconds.
struct RingPace {
  double tile = 0;     // to compute one, on one rank
  double row = 0;      // to send one, of keys with its values, over a rank's link
  double message = 0;  // until the first byte of a message is there
};

struct RingTime {
  double compute = 0;   // of the rank with the most tiles
  double transfer = 0;  // of the rank whose link is busy the longest with what it sends
  double together = 0;  // until the last rank has its rows
};

/// The ring's time by a model: each rank computes with one block after the other. A block comes once the rank before
/// has it, that rank's link is free and this rank computes with the block before it; it is passed on as soon as this
/// rank begins with it. Links carry one message each way at a time and disturb no other; merging, packing and agreeing
/// take no time. Allocates ranks² numbers. Throws InvalidArgument for a negative pace.
[[nodiscard]] RingTime ring_time(const RingTraffic& traffic, const RingPace& pace);

}  // namespace qkv
