// Shares of about equal work, from the plan of a mask.
#include <algorithm>
#include <numeric>
#include <utility>

#include "cluster/rows.h"
#include "cluster/tile_count.h"
#include "cluster/windows.h"
#include "qkv/cluster/shares.h"
#include "qkv/tile_plan.h"

namespace qkv {
namespace {

constexpr std::int64_t kMostRows = 2048;     // of tiles in a plan
constexpr std::int64_t kMostStretches = 32;  // of a rank
constexpr double kEven = 1.015;
constexpr double kEvenEnough = 1.02;
constexpr int kMostSwaps = 2000;

// The work of rows of queries, in tiles of 64 x 64.
class RowWork {
 public:
  RowWork(const Mask& mask, const MaskShape& shape) : T_(shape.Tq) {
    const std::int64_t tiles = (std::max(shape.Tq, shape.Tk) + cluster::kTile - 1) / cluster::kTile;
    side_ = std::max<std::int64_t>(1, (tiles + kMostRows - 1) / kMostRows) * cluster::kTile;
    const TilePlan plan(mask, shape, {.queries = side_, .keys = side_});
    const std::int64_t B = mask.varies_by_batch() ? shape.B : 1;
    const std::int64_t H = mask.varies_by_head() ? shape.H : 1;
    sums_.push_back(0);
    for (std::int64_t row = 0; row < plan.rows(); ++row) {
      double work = 0;
      for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < H; ++h) work += work_of(plan, b, h, row);
      }
      sums_.push_back(sums_.back() + work);
    }
  }

  [[nodiscard]] double of(const SharePiece& piece) const {
    return below(piece.first + piece.count) - below(piece.first);
  }

 private:
  [[nodiscard]] double work_of(const TilePlan& plan, std::int64_t b, std::int64_t h, std::int64_t row) const {
    const auto small = static_cast<double>(side_ / cluster::kTile);  // tiles of 64 along a side
    const KeyRange columns = plan.columns_of(b, h, row);
    double work = 0;
    for (std::int64_t column = columns.begin; column < columns.end; ++column) {
      const TileClass is = plan.tile(b, h, row, column);
      if (is == TileClass::full) work += small * small;
      if (is != TileClass::partial) continue;
      // Of the small tiles of a larger one, those that its pairs fill, and a row of them along an edge.
      const auto kept = static_cast<double>(plan.pairs_kept(b, h, row, column));
      work += small == 1 ? 1 : std::min(kept / (cluster::kTile * cluster::kTile) + small / 2, small * small);
    }
    return work;
  }

  // Of the queries before `position`.
  [[nodiscard]] double below(std::int64_t position) const {
    const auto row = static_cast<std::size_t>(position / side_);
    const std::int64_t rows_in_it = std::min(side_, T_ - static_cast<std::int64_t>(row) * side_);
    if (row + 1 >= sums_.size() || rows_in_it <= 0) return sums_.back();
    const double share = static_cast<double>(position % side_) / static_cast<double>(rows_in_it);
    return sums_[row] + share * (sums_[row + 1] - sums_[row]);
  }

  std::int64_t T_;
  std::int64_t side_ = 0;
  std::vector<double> sums_;
};

// Stretches dealt to ranks, as many to each.
class Deal {
 public:
  Deal(const RowWork& work, std::int64_t T, int ranks, std::int64_t each)
      : hands_(static_cast<std::size_t>(ranks)), loads_(hands_.size()), each_(static_cast<std::size_t>(each)) {
    std::vector<Stretch> all;
    for (std::int64_t n = 0; n < ranks * each; ++n) {
      const SharePiece piece = cluster::stretch(T, ranks * each, n);
      all.push_back({.piece = piece, .work = work.of(piece)});
    }
    // Equal ones in their order. Not by stable_sort: Clang warns of libstdc++ 12's.
    const auto heaviest_first = [](const Stretch& one) { return std::pair(-one.work, one.piece.first); };
    if (each > 1) std::ranges::sort(all, {}, heaviest_first);
    for (const Stretch& one : all) give(one);
    for (int n = 0; n < kMostSwaps && each > 1 && swap(); ++n) continue;
  }

  // The largest load over the mean.
  [[nodiscard]] double evenness() const {
    const double sum = std::reduce(loads_.begin(), loads_.end());
    return sum == 0 ? 1 : *std::ranges::max_element(loads_) * static_cast<double>(loads_.size()) / sum;
  }

  [[nodiscard]] SequenceShares shares() const {
    std::vector<std::vector<SharePiece>> pieces;
    for (const std::vector<Stretch>& hand : hands_) {
      std::vector<SharePiece> own;
      for (const Stretch& one : hand) own.push_back(one.piece);
      std::ranges::sort(own, {}, &SharePiece::first);
      pieces.push_back(std::move(own));
    }
    return SequenceShares(std::move(pieces));
  }

 private:
  struct Stretch {
    SharePiece piece;
    double work;
  };

  // To the rank with the least work among those that have room.
  void give(const Stretch& one) {
    std::size_t least = hands_.size();
    for (std::size_t rank = 0; rank < hands_.size(); ++rank) {
      if (hands_[rank].size() == each_) continue;
      if (least == hands_.size() || loads_[rank] < loads_[least]) least = rank;
    }
    hands_[least].push_back(one);
    loads_[least] += one.work;
  }

  // Trades a stretch of the rank with the most work for a lighter one of another, so that the larger of the two loads
  // falls the most. False if no trade helps.
  bool swap() {
    const auto most = static_cast<std::size_t>(std::ranges::max_element(loads_) - loads_.begin());
    double best = loads_[most] * (1 - 1e-9);
    Stretch* given = nullptr;
    Stretch* taken = nullptr;
    std::size_t other = 0;
    for (std::size_t rank = 0; rank < hands_.size(); ++rank) {
      if (rank == most) continue;
      for (Stretch& mine : hands_[most]) {
        for (Stretch& theirs : hands_[rank]) {
          const double less = mine.work - theirs.work;
          const double larger = std::max(loads_[most] - less, loads_[rank] + less);
          if (less <= 0 || larger >= best) continue;
          best = larger;
          given = &mine;
          taken = &theirs;
          other = rank;
        }
      }
    }
    if (given == nullptr) return false;
    loads_[most] -= given->work - taken->work;
    loads_[other] += given->work - taken->work;
    std::swap(*given, *taken);
    return true;
  }

  std::vector<std::vector<Stretch>> hands_;
  std::vector<double> loads_;
  std::size_t each_;
};

}  // namespace

SequenceShares SequenceShares::planned(const Mask& mask, const MaskShape& shape, int ranks) {
  if (ranks < 1) throw InvalidArgument("SequenceShares::planned", "ranks", "1 or more", std::to_string(ranks));
  const RowWork work(mask, shape);
  double best = Deal(work, shape.Tq, ranks, 1).evenness();
  SequenceShares shares = contiguous(shape.Tq, ranks);
  for (std::int64_t each = 2; each <= kMostStretches && best > kEven; each *= 2) {
    if (each > 2 && shape.Tq / (ranks * each) < cluster::kTile) break;
    const Deal deal(work, shape.Tq, ranks, each);
    if (deal.evenness() >= best) continue;
    best = deal.evenness();
    shares = deal.shares();
  }
  return best <= kEvenEnough ? shares : striped(shape.Tq, ranks);
}

std::vector<std::int64_t> tiles_of_ranks(const Mask& mask, const MaskShape& shape, const SequenceShares& queries,
                                         const SequenceShares& keys) {
  const MaskShape whole = {.B = shape.B, .H = shape.H, .Tq = queries.T(), .Tk = keys.T()};
  std::vector<std::int64_t> tiles;
  for (int rank = 0; rank < queries.ranks(); ++rank) {
    std::int64_t own = 0;
    for (int source = 0; source < keys.ranks(); ++source) {
      own += cluster::tiles_of(mask, whole, queries.pieces(rank), keys.pieces(source));
    }
    tiles.push_back(own);
  }
  return tiles;
}

}  // namespace qkv
