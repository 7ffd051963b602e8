// Which ranks need which rows of whose keys, and in which order a block of keys goes round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/windows.h"
#include "qkv/cluster/shares.h"

namespace qkv::cluster {

/// Rows of each piece of a rank's keys.
using PieceRows = std::vector<KeyRange>;

[[nodiscard]] std::int64_t count_of(const PieceRows& rows);

/// Which way blocks go round: to the rank behind the one that has them, or to the one before it.
enum class Turn : std::uint8_t { behind, before };

/// The rank that is so many steps on the way round.
[[nodiscard]] int rank_after(int rank, std::size_t steps, std::size_t ranks, Turn turn);

/// The way round on which fewer rows are sent, `behind` where both send as many.
[[nodiscard]] Turn shorter_turn(std::int64_t rows_behind, std::int64_t rows_before);

/// The rows of a source's keys that each rank needs, by rank.
[[nodiscard]] std::vector<PieceRows> needed_rows(const WholeCall& whole, const SequenceShares& queries,
                                                 const SequenceShares& keys, int source);

/// The way of one rank's block: from one rank that needs it to the next one on the way round, with the rows that this
/// and later ones need. Ranks that need nothing of it do not see it.
class Route {
 public:
  /// `needed` by rank.
  Route(int source, const std::vector<PieceRows>& needed, Turn turn);

  /// The rows that are sent, from all ranks.
  [[nodiscard]] std::int64_t rows() const;
  /// The rows that `reader` needs.
  [[nodiscard]] const PieceRows& needed(int reader) const { return needed_[steps(reader)]; }
  /// The rows that come to `reader`: those that it and later ones need.
  [[nodiscard]] const PieceRows& coming(int reader) const { return coming_[steps(reader)]; }
  /// The rows of which gradients leave `reader`: those that it and earlier ones needed, but for the source.
  [[nodiscard]] const PieceRows& leaving(int reader) const { return leaving_[steps(reader)]; }
  /// The rank to which `holder` passes the block, and the one from which it has it; none at the ends.
  [[nodiscard]] std::optional<int> next(int holder) const;
  [[nodiscard]] std::optional<int> previous(int holder) const;
  /// The last rank on the way that needs the block.
  [[nodiscard]] std::optional<int> last() const;

 private:
  [[nodiscard]] int after(std::size_t steps) const { return rank_after(source_, steps, ranks_, turn_); }
  [[nodiscard]] std::size_t steps(int holder) const {
    const int way = turn_ == Turn::behind ? holder - source_ : source_ - holder;
    return (static_cast<std::size_t>(way) + ranks_) % ranks_;
  }
  [[nodiscard]] bool is_needed(std::size_t steps) const { return count_of(needed_[steps]) > 0; }

  int source_;
  std::size_t ranks_;
  Turn turn_;
  std::vector<PieceRows> needed_;  // by steps from the source
  std::vector<PieceRows> coming_;
  std::vector<PieceRows> leaving_;
};

/// The ring: the routes of all ranks' blocks, which all go round the same way, that on which fewer rows are sent. All
/// ranks compute the same.
class Routes {
 public:
  Routes(const WholeCall& whole, const SequenceShares& queries, const SequenceShares& keys);

  [[nodiscard]] static Routes everywhere(const SequenceShares& keys);

  // Of the route of `source`.

  [[nodiscard]] const PieceRows& needed(int source, int reader) const { return of(source).needed(reader); }
  [[nodiscard]] const PieceRows& coming(int source, int reader) const { return of(source).coming(reader); }
  [[nodiscard]] const PieceRows& leaving(int source, int reader) const { return of(source).leaving(reader); }
  [[nodiscard]] std::optional<int> next(int source, int holder) const { return of(source).next(holder); }
  [[nodiscard]] std::optional<int> previous(int source, int holder) const { return of(source).previous(holder); }
  [[nodiscard]] std::optional<int> last(int source) const { return of(source).last(); }

  /// The sources of the blocks that a rank needs, in its order: its own, and then those that come to it one step after
  /// the other.
  [[nodiscard]] std::vector<int> sources(int reader) const;

 private:
  Routes() = default;
  [[nodiscard]] const Route& of(int source) const { return routes_[static_cast<std::size_t>(source)]; }

  Turn turn_ = Turn::behind;
  std::vector<Route> routes_;
};

}  // namespace qkv::cluster
