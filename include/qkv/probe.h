// Any part of the T x T matrix, made again from q, k and lse when it is asked for: the matrix itself is never stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "qkv/attention.h"

namespace qkv {

namespace probe_detail {
struct State;
}

/// One query head of one batch entry.
struct HeadPlace {
  std::int64_t b = 0;
  std::int64_t h = 0;
};

/// How far a walk over the tiles has come, in pairs of a query and a key.
struct ProbeProgress {
  std::int64_t done = 0;
  std::int64_t total = 0;
};

enum class Proceed : std::uint8_t { go_on, stop };

/// Called now and then during a walk, never twice at once; `stop` ends it with Cancelled.
using ProbeWatch = std::function<Proceed(const ProbeProgress&)>;

/// A watch has said stop.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// How the weights of a cell of a map become one number.
enum class Reduce : std::uint8_t { mean, max };

struct MapSize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// A matrix of weights made small. Cell (r, c) stands for the queries [r * Tq / rows, (r + 1) * Tq / rows) and the keys
/// [c * Tk / columns, (c + 1) * Tk / columns), divisions rounded down.
struct WeightMap {
  Tensor weights;  // f64 [rows, columns]: mean or largest weight; hidden pairs count as 0
  Tensor visible;  // f64 [rows, columns]: share of the cell's pairs that are visible
};

/// The keys of largest weight, largest first; among equals the lower key first, NaN before all.
struct TopKeys {
  Tensor keys;     // i64 [Tq, count]
  Tensor weights;  // [Tq, count], f64 where computed in it, else f32
};

/// What the rows of one head look like. Of a row that sees nothing all numbers are 0, and the means leave it out.
struct RowStatistics {
  Tensor visible;             // i64 [Tq]: keys that the query sees
  Tensor mass;                // f64 [Tq]: sum of the weights: 1, or less where the head has a sink
  Tensor entropy;             // f64 [Tq]: -sum of w log w, in nats
  Tensor normalised_entropy;  // f64 [Tq]: entropy / log(visible); 0 where at most one key is visible
  Tensor distance;            // f64 [Tq]: sum of w |p - j|, p the query's position
  Tensor largest;             // f64 [Tq]: the largest weight
  Tensor first;               // f64 [Tq]: the weight of key 0
  Tensor diagonal;            // f64 [Tq]: the weight of key p; 0 where there is none

  /// The mean of one of the above over the rows that see something; 0 where none does.
  [[nodiscard]] double mean(const Tensor& column) const;
};

/// Shows what attention(q, k, …, options) weighs. Keeps views of q, k and lse, which must outlive it. Where
/// attention_target() is "reference", as for f64 tensors, everything is computed in f64; elsewhere scores and weights
/// are f32, sums over tiles f64. Results do not depend on the number of threads, which is that of the options. Several
/// threads may call one Probe at once.
///
/// q [B, Hq, Tq, D] and k [B, Hk, Tk, D] as attention() takes them; `lse` [B, Hq, Tq], f32 or f64, as it gives them.
/// Without lse, a head's is computed when first needed, by a walk of its own, and kept. A walk needs the scratch of a
/// few tiles for each thread beside its result: O(T * D) in all. Tiles that the mask hides cost nothing. A predicate
/// mask is asked by several threads at once.
///
/// Throws InvalidArgument as attention() does, and naming lse for another shape or type, or ragged. Every function
/// throws InvalidArgument for a place outside of the tensors. Recomputing scores from q, k and lse: Dao et al. 2022,
/// section 3.2.
class Probe {
 public:
  Probe(const TensorView& q, const TensorView& k, const AttentionOptions& options = {},
        std::optional<TensorView> lse = std::nullopt);
  Probe(Probe&&) noexcept;
  Probe& operator=(Probe&&) noexcept;
  ~Probe();

  [[nodiscard]] const MaskShape& shape() const noexcept;

  /// Part of an intermediate, [queries, keys] of f64 where computed in it, else f32. For stages before `masked` hidden
  /// pairs hold their true numbers. Weights want their rows' lse: where it is not known, those rows are walked first.
  [[nodiscard]] Tensor tile(const Tile& tile, Stage stage = Stage::weights) const;

  /// One query's, [Tk].
  [[nodiscard]] Tensor row(HeadPlace head, std::int64_t i, Stage stage = Stage::weights) const;

  /// f64 [Tq]: as given, or computed.
  [[nodiscard]] Tensor lse(HeadPlace head, const ProbeWatch& watch = {}) const;

  /// The matrix of weights in size.rows x size.columns cells, 1 <= rows <= Tq and 1 <= columns <= Tk.
  [[nodiscard]] WeightMap map(HeadPlace head, const MapSize& size, Reduce reduce = Reduce::mean,
                              const ProbeWatch& watch = {}) const;

  /// The same of the mean of several heads' matrices of one batch entry.
  [[nodiscard]] WeightMap map(std::int64_t b, std::span<const std::int64_t> heads, const MapSize& size,
                              Reduce reduce = Reduce::mean, const ProbeWatch& watch = {}) const;

  /// For each query the `count` keys of largest weight, 0 <= count <= Tk. Keys that a query does not see weigh 0.
  [[nodiscard]] TopKeys top_keys(HeadPlace head, std::int64_t count, const ProbeWatch& watch = {}) const;

  /// The sum over queries of the weight on each key, f64 [Tk].
  [[nodiscard]] Tensor key_totals(HeadPlace head, const ProbeWatch& watch = {}) const;

  /// `align` says where the queries stand among the keys, for distance and diagonal.
  [[nodiscard]] RowStatistics statistics(HeadPlace head, Align align = Align::bottom_right,
                                         const ProbeWatch& watch = {}) const;

 private:
  std::unique_ptr<const probe_detail::State> state_;
};

}  // namespace qkv
