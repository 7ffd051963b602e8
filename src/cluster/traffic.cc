#include "qkv/cluster/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "cluster/routes.h"
#include "cluster/tile_count.h"

namespace qkv {
namespace {

using cluster::PieceRows;
using cluster::Route;
using cluster::Turn;

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

// What passes where all blocks go round one way.
class CountedTurn {
 public:
  CountedTurn(int ranks, Turn turn) : turn_(turn) { traffic_.ranks.resize(static_cast<std::size_t>(ranks)); }

  // `tiles` by rank.
  void add(int source, const std::vector<PieceRows>& needed, const std::vector<std::int64_t>& tiles) {
    const Route route(source, needed, turn_);
    const auto has = [&](int reader, int from, std::int64_t rows) {
      const std::int64_t computed = tiles[static_cast<std::size_t>(reader)];
      rank(reader).tiles += computed;
      rank(reader).blocks.push_back({.source = source, .from = from, .rows = rows, .tiles = computed});
    };
    if (cluster::count_of(route.needed(source)) > 0) has(source, source, 0);
    int holder = source;
    while (const std::optional<int> reader = route.next(holder)) {
      const std::int64_t rows = cluster::count_of(route.coming(*reader));
      ++rank(holder).messages;
      rank(holder).rows += rows;
      has(*reader, holder, rows);
      holder = *reader;
    }
  }

  [[nodiscard]] std::int64_t rows() const { return traffic_.rows(); }

  // With each rank's blocks in its order.
  [[nodiscard]] RingTraffic traffic() && {
    const auto ranks = static_cast<int>(traffic_.ranks.size());
    for (int reader = 0; reader < ranks; ++reader) {
      std::ranges::sort(rank(reader).blocks, {}, [&](const RingBlock& block) {
        return ((turn_ == Turn::behind ? reader - block.source : block.source - reader) + ranks) % ranks;
      });
    }
    return std::move(traffic_);
  }

 private:
  [[nodiscard]] RankTraffic& rank(int rank) { return traffic_.ranks[static_cast<std::size_t>(rank)]; }

  Turn turn_;
  RingTraffic traffic_;
};

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
  CountedTurn behind(ranks, Turn::behind);
  CountedTurn before(ranks, Turn::before);
  for (int source = 0; source < ranks; ++source) {
    const std::vector<PieceRows> needed = cluster::needed_rows(whole, queries, keys, source);
    std::vector<std::int64_t> tiles;
    for (int reader = 0; reader < ranks; ++reader) {
      const bool sees = cluster::count_of(needed[static_cast<std::size_t>(reader)]) > 0;
      tiles.push_back(sees ? cluster::tiles_of(mask, shape, queries.pieces(reader), keys.pieces(source)) : 0);
    }
    behind.add(source, needed, tiles);
    before.add(source, needed, tiles);
  }
  const Turn turn = cluster::shorter_turn(behind.rows(), before.rows());
  return turn == Turn::behind ? std::move(behind).traffic() : std::move(before).traffic();
}

RingTime ring_time(const RingTraffic& traffic, const RingPace& pace) {
  for (const double seconds : {pace.tile, pace.row, pace.message}) {
    if (!(seconds >= 0)) throw InvalidArgument("ring_time", "pace", "0 seconds or more", fmt::format("{}", seconds));
  }
  constexpr double kNever = std::numeric_limits<double>::infinity();
  struct State {
    std::size_t next = 0;     // of its blocks
    double posted = 0;        // when it was ready for the next block
    double free = 0;          // when it has computed what it has
    double link_free = 0;     // when its link has sent what it was given
    std::vector<double> has;  // when it has the block of each source
  };
  const std::size_t ranks = traffic.ranks.size();
  std::vector<State> states(ranks, State{.has = std::vector<double>(ranks, kNever)});
  for (std::size_t rank = 0; rank < ranks; ++rank) states[rank].has[rank] = 0;
  RingTime time;
  // In rounds, as the blocks go: a block that comes is one that another rank had in an earlier round.
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      State& own = states[rank];
      if (own.next == traffic.ranks[rank].blocks.size()) continue;
      const RingBlock& block = traffic.ranks[rank].blocks[own.next];
      const auto source = static_cast<std::size_t>(block.source);
      State& from = states[static_cast<std::size_t>(block.from)];
      if (from.has[source] == kNever) continue;
      double begin = own.free;
      if (&from != &own) {
        const double sent = std::max({from.has[source], from.link_free, own.posted});
        const double taken = static_cast<double>(block.rows) * pace.row;
        from.link_free = sent + taken;
        begin = std::max(begin, sent + pace.message + taken);
      }
      own.posted = own.has[source] = begin;
      own.free = begin + static_cast<double>(block.tiles) * pace.tile;
      time.together = std::max(time.together, own.free);
      ++own.next;
      goes_on = true;
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
