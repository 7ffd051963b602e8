// Which ranks need which rows of whose keys, and in which order a block of keys goes round.
#pragma once

#include <optional>
#include <vector>

#include "cluster/windows.h"
#include "qkv/cluster/shares.h"

namespace qkv::cluster {

/// Rows of each piece of a rank's keys.
using PieceRows = std::vector<KeyRange>;

[[nodiscard]] std::int64_t count_of(const PieceRows& rows);

/// The ring: a rank's block goes from one rank that needs it to the next one behind it, with the rows that this and
/// later ones need. Ranks that need nothing of it do not see it. All ranks compute the same routes.
class Routes {
 public:
  Routes(const WholeCall& whole, const SequenceShares& queries, const SequenceShares& keys);

  /// All rows of every block go to every rank.
  [[nodiscard]] static Routes everywhere(const SequenceShares& keys);

  /// The rows of `source` that `reader` needs.
  [[nodiscard]] const PieceRows& needed(int source, int reader) const { return needed_[place(source, reader)]; }
  /// The rows that come to `reader`: those that it and later ones need.
  [[nodiscard]] const PieceRows& coming(int source, int reader) const { return coming_[place(source, reader)]; }
  /// The rows of which gradients leave `reader`: those that it and earlier ones needed, but for the source.
  [[nodiscard]] const PieceRows& leaving(int source, int reader) const { return leaving_[place(source, reader)]; }
  /// The rank to which `holder` passes the block of `source`, and the one from which it has it; none at the ends.
  [[nodiscard]] std::optional<int> next(int source, int holder) const;
  [[nodiscard]] std::optional<int> previous(int source, int holder) const;
  /// The last rank behind the source that needs its block.
  [[nodiscard]] std::optional<int> last(int source) const;
  /// The sources of the blocks that a rank needs, in its order: its own, and then those of the ranks before it.
  [[nodiscard]] std::vector<int> sources(int reader) const;

 private:
  explicit Routes(int ranks) : ranks_(ranks) {}
  [[nodiscard]] std::size_t place(int source, int reader) const {
    return static_cast<std::size_t>(source) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(reader);
  }
  [[nodiscard]] int behind(int source, int steps) const { return (source + steps) % ranks_; }
  [[nodiscard]] int steps(int source, int holder) const { return (holder - source + ranks_) % ranks_; }

  int ranks_;
  std::vector<PieceRows> needed_;
  std::vector<PieceRows> coming_;
  std::vector<PieceRows> leaving_;
};

}  // namespace qkv::cluster
