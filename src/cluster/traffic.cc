#include "qkv/cluster/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cluster/routes.h"
#include "cluster/tile_count.h"

namespace qkv {
namespace {

using cluster::Route;

std::int64_t sum_of(const std::vector<RankTraffic>& ranks, std::int64_t RankTraffic::* number) {
  return std::transform_reduce(ranks.begin(), ranks.end(), std::int64_t{0}, std::plus(),
                               [&](const RankTraffic& one) { return one.*number; });
}

std::int64_t most_of(const std::vector<RankTraffic>& ranks, std::int64_t RankTraffic::* number) {
  std::int64_t most = 0;
  for (const RankTraffic& one : ranks) most = std::max(most, one.*number);
  return most;
}

void require_fitting(const Mask& mask, const MaskShape& shape, const SequenceShares& queries,
                     const SequenceShares& keys) {
  const auto require = [](bool holds, std::string_view argument, std::int64_t expected, std::string_view of,
                          std::int64_t got) {
    if (!holds)
      throw InvalidArgument("ring_traffic", argument, fmt::format("{} {}", expected, of), fmt::to_string(got));
  };
  require(queries.T() == shape.Tq, "queries", shape.Tq, "positions, as shape.Tq says", queries.T());
  require(keys.T() == shape.Tk, "keys", shape.Tk, "positions, as shape.Tk says", keys.T());
  require(keys.ranks() == queries.ranks(), "keys", queries.ranks(), "ranks, as queries have", keys.ranks());
  mask.validate(shape);
}

// What a rank computes with a block.
std::int64_t tiles_with(const Mask& mask, const MaskShape& shape, const std::vector<SharePiece>& queries,
                        const std::vector<SharePiece>& keys) {
  std::int64_t tiles = 0;
  for (const SharePiece& rows : queries) {
    for (const SharePiece& columns : keys) tiles += cluster::tiles_of(mask, shape, rows, columns);
  }
  return tiles;
}

}  // namespace

std::int64_t RingTraffic::messages() const { return sum_of(ranks, &RankTraffic::messages); }
std::int64_t RingTraffic::rows() const { return sum_of(ranks, &RankTraffic::rows); }
std::int64_t RingTraffic::tiles() const { return sum_of(ranks, &RankTraffic::tiles); }
std::int64_t RingTraffic::most_rows() const { return most_of(ranks, &RankTraffic::rows); }
std::int64_t RingTraffic::most_tiles() const { return most_of(ranks, &RankTraffic::tiles); }

RingTraffic ring_traffic(const Mask& mask, const MaskShape& shape, const SequenceShares& queries,
                         const SequenceShares& keys) {
  require_fitting(mask, shape, queries, keys);
  AttentionOptions options;
  options.mask = mask;
  const cluster::WholeCall whole = {.options = options, .shape = shape};
  const int ranks = keys.ranks();
  RingTraffic traffic;
  traffic.ranks.resize(static_cast<std::size_t>(ranks));
  const auto add = [&](int reader, RingBlock block) {
    RankTraffic& rank = traffic.ranks[static_cast<std::size_t>(reader)];
    block.tiles = tiles_with(mask, shape, queries.pieces(reader), keys.pieces(block.source));
    rank.tiles += block.tiles;
    rank.blocks.push_back(block);
  };
  for (int source = 0; source < ranks; ++source) {
    const Route route(whole, queries, keys, source);
    if (cluster::count_of(route.needed(source)) > 0) add(source, {.source = source, .from = source});
    int holder = source;
    while (const std::optional<int> reader = route.next(holder)) {
      const std::int64_t rows = cluster::count_of(route.coming(*reader));
      RankTraffic& sender = traffic.ranks[static_cast<std::size_t>(holder)];
      ++sender.messages;
      sender.rows += rows;
      add(*reader, {.source = source, .from = holder, .rows = rows});
      holder = *reader;
    }
  }
  for (int reader = 0; reader < ranks; ++reader) {
    std::ranges::sort(traffic.ranks[static_cast<std::size_t>(reader)].blocks, {},
                      [&](const RingBlock& block) { return (reader - block.source + ranks) % ranks; });
  }
  return traffic;
}

RingTime ring_time(const RingTraffic& traffic, const RingPace& pace) {
  for (const double seconds : {pace.tile, pace.row, pace.message}) {
    if (!(seconds >= 0)) throw InvalidArgument("ring_time", "pace", "0 seconds or more", fmt::format("{}", seconds));
  }
  struct State {
    std::size_t next = 0;     // of its blocks
    double posted = 0;        // when it was ready for the next block
    double free = 0;          // when it has computed what it has
    double link_free = 0;     // when its link has sent what it was given
    std::vector<double> has;  // when it had the block of each source
  };
  const std::size_t ranks = traffic.ranks.size();
  std::vector<State> states(ranks, State{.has = std::vector<double>(ranks, 0)});
  RingTime time;
  // By steps behind the source: the rank that passes a block on is nearer to it, and was looked at before.
  for (std::size_t step = 0; step < ranks; ++step) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      State& own = states[rank];
      const std::vector<RingBlock>& blocks = traffic.ranks[rank].blocks;
      const std::size_t source = (rank + ranks - step) % ranks;
      if (own.next == blocks.size() || static_cast<std::size_t>(blocks[own.next].source) != source) continue;
      const RingBlock& block = blocks[own.next++];
      double begin = own.free;
      if (step > 0) {
        State& from = states[static_cast<std::size_t>(block.from)];
        const double sent = std::max({from.has[source], from.link_free, own.posted});
        const double taken = static_cast<double>(block.rows) * pace.row;
        from.link_free = sent + taken;
        begin = std::max(begin, sent + pace.message + taken);
      }
      own.posted = own.has[source] = begin;
      own.free = begin + static_cast<double>(block.tiles) * pace.tile;
      time.together = std::max(time.together, own.free);
    }
  }
  for (const RankTraffic& one : traffic.ranks) {
    time.compute = std::max(time.compute, static_cast<double>(one.tiles) * pace.tile);
    time.transfer = std::max(
        time.transfer, static_cast<double>(one.rows) * pace.row + static_cast<double>(one.messages) * pace.message);
  }
  return time;
}

}  // namespace qkv
