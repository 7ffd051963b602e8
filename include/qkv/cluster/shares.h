// Which positions of a sequence each rank holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/mask.h"
#include "qkv/tensor.h"

namespace qkv {

class Transport;

/// Positions first, first + step, …: `count` of them.
struct SharePiece {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;

  [[nodiscard]] constexpr std::int64_t position(std::int64_t n) const noexcept { return first + n * step; }
  [[nodiscard]] bool operator==(const SharePiece&) const = default;
};

/// Where a position is: row `row` of what rank `rank` holds.
struct ShareRow {
  int rank = 0;
  std::int64_t row = 0;

  [[nodiscard]] bool operator==(const ShareRow&) const = default;
};

/// Positions 0 to T - 1 of a sequence, each on one of N ranks. A rank's rows are those of its pieces, one piece after
/// the other, and each piece is a MatrixWindow's queries or keys. Ranks may hold different numbers of rows, or none. An
/// immutable value; copies share the pieces.
class SequenceShares {
 public:
  /// One rank, no positions.
  SequenceShares();
  /// The pieces of each rank. Pieces without rows are dropped. Throws InvalidArgument naming pieces unless each
  /// position from 0 on is in exactly one.
  explicit SequenceShares(std::vector<std::vector<SharePiece>> pieces);

  // Each throws InvalidArgument naming T, ranks or lengths. A boundary is a multiple of 64 where pieces are that long
  // and it can be, so that tiles of a window are those of the whole matrix.

  /// Rank r holds the r-th of N equal stretches.
  [[nodiscard]] static SequenceShares contiguous(std::int64_t T, int ranks);
  /// Rank r holds the next lengths[r] positions.
  [[nodiscard]] static SequenceShares contiguous(const std::vector<std::int64_t>& lengths);
  /// Of 2 N equal stretches rank r holds those numbered r and 2 N - 1 - r: under causal() all have the same work
  /// (Zhu 2024, ring-flash-attention; Llama 3, Grattafiori et al. 2024, section 3.3.2).
  [[nodiscard]] static SequenceShares zig_zag(std::int64_t T, int ranks);
  /// Rank r holds positions r, r + N, … (Brandon et al. 2023, Striped Attention).
  [[nodiscard]] static SequenceShares striped(std::int64_t T, int ranks);
  /// Whole documents, packed end to end, the one with the most pairs first to the rank with the fewest so far (Graham
  /// 1969). Nothing of a document's keys then goes to another rank.
  [[nodiscard]] static SequenceShares by_documents(const std::vector<std::int64_t>& lengths, int ranks);

  /// The shares of queries, and of keys where Tq = Tk, under which the ranks compute about the same number of tiles of
  /// the mask: contiguous ones where these are within 1.5 %, for they send the least; else each rank gets as many of
  /// 2 N, 4 N, … 32 N equal stretches as all others, so chosen that its tiles are as many; striped ones where no such
  /// choice is within 2 %. shape.Tq is the sequence's length. Allocates the plan of the mask, in tiles of 64 x 64, or
  /// larger ones where there are more than 2,048 rows of them. Throws InvalidArgument as TilePlan does, and naming
  /// ranks.
  [[nodiscard]] static SequenceShares planned(const Mask& mask, const MaskShape& shape, int ranks);

  [[nodiscard]] std::int64_t T() const noexcept { return length_; }
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(pieces_.size()); }
  [[nodiscard]] const std::vector<SharePiece>& pieces(int rank) const;
  /// The rows of a rank.
  [[nodiscard]] std::int64_t rows(int rank) const;

  /// Throw InvalidArgument for what is not there.
  [[nodiscard]] ShareRow place_of(std::int64_t position) const;
  [[nodiscard]] std::int64_t position_of(const ShareRow& place) const;

  /// A rank's rows of a whole tensor, along `axis` (2 in [B, H, T, D]; a negative one counts from the end), as a new
  /// dense one. Throws InvalidArgument unless that axis has T places.
  [[nodiscard]] Tensor rows_of(const TensorView& whole, int rank, int axis = 2) const;
  /// The counterpart: writes a rank's rows to where they lie in the whole.
  void put_rows(const TensorView& rows, int rank, const MutableTensorView& whole, int axis = 2) const;

  [[nodiscard]] bool operator==(const SequenceShares&) const = default;

 private:
  std::vector<std::vector<SharePiece>> pieces_;
  std::int64_t length_ = 0;
};

/// Each rank's rows of a tensor that the root holds; other ranks' `whole` is not read. `rows` [B, H, rows of this rank,
/// D] says shape and dtype, and is written. All ranks call it. Throws ClusterError, and InvalidArgument naming whole or
/// rows.
void scatter(Transport& transport, int root, const SequenceShares& shares, const TensorView& whole,
             const MutableTensorView& rows, int axis = 2);
/// The counterpart: `whole` is written on the root alone.
void gather(Transport& transport, int root, const SequenceShares& shares, const TensorView& rows,
            const MutableTensorView& whole, int axis = 2);

/// How many tiles of 64 x 64 that are not skipped each rank computes: those of each of its pieces of queries with each
/// piece of keys of all ranks, for every head and batch entry. shape.Tq and shape.Tk are the shares' T.
[[nodiscard]] std::vector<std::int64_t> tiles_of_ranks(const Mask& mask, const MaskShape& shape,
                                                       const SequenceShares& queries, const SequenceShares& keys);

}  // namespace qkv
