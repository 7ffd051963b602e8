// Any part of the T x T matrix of weights, computed on demand from q, k and lse. The matrix is never stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "qkv/attention.h"
#include "qkv/cancel.h"

namespace qkv {

namespace probe_detail {
struct State;
}

/// One query head of one batch entry.
struct HeadPlace {
  std::int64_t b = 0;
  std::int64_t h = 0;
};

/// The queries begin, begin + step, … before `end`.
struct QueryRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};

/// Progress of a pass over the tiles, in pairs of a query and a key.
struct ProbeProgress {
  std::int64_t done = 0;
  std::int64_t total = 0;
};

/// Called now and then during a pass, by one thread at a time; `stop` ends the pass with Cancelled.
using ProbeWatch = std::function<Proceed(const ProbeProgress&)>;

/// In cells.
struct MapSize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Half-open rectangle of queries and keys.
struct MapArea {
  std::int64_t i_begin = 0;
  std::int64_t i_end = 0;
  std::int64_t j_begin = 0;
  std::int64_t j_end = 0;
};

/// Maps of each head, or one of the mean of their matrices.
enum class MapOf : std::uint8_t { each, mean };

/// A part of the matrices of some heads of one batch entry, in cells.
struct MapRequest {
  std::int64_t b = 0;
  std::vector<std::int64_t> heads = {};  // none: all
  MapSize size;
  std::optional<MapArea> area = {};  // the whole matrix if not given
  MapOf of = MapOf::each;
};

/// Matrices of numbers from 0 on, downsampled. With I queries and J keys in the area, cell (r, c) stands for the
/// queries i_begin + [r * I / rows, (r + 1) * I / rows) and the keys j_begin + [c * J / columns, (c + 1) * J /
/// columns), divisions rounded down. Hidden pairs count as 0. All are f64 [maps, rows, columns].
struct CellMaps {
  Tensor mean;
  Tensor largest;
  Tensor visible;  // share of the cell's pairs that are visible
};

/// The keys of largest weight, largest first; among equals the lower key first, NaN before all.
struct TopKeys {
  Tensor keys;     // i64 [Tq, count]
  Tensor weights;  // [Tq, count], f64 where computed in it, else f32
};

/// Statistics of the rows of one head. They are 0 for a row that sees nothing, and means leave such rows out.
struct RowStatistics {
  Tensor visible;             // i64 [Tq]: keys that the query sees
  Tensor mass;                // f64 [Tq]: sum of the weights: 1, or less if the head has a sink
  Tensor entropy;             // f64 [Tq]: -sum of w log w, in nats
  Tensor normalised_entropy;  // f64 [Tq]: entropy / log(visible); 0 where at most one key is visible
  Tensor distance;            // f64 [Tq]: sum of w |p - j|, p the query's position; both in the whole matrix
  Tensor largest;             // f64 [Tq]: the largest weight
  Tensor first;               // f64 [Tq]: the weight of key 0
  Tensor diagonal;            // f64 [Tq]: the weight of key p; 0 where there is none

  /// The mean of one of the above over the rows that see something; 0 if there is none.
  [[nodiscard]] double mean(const Tensor& column) const;
};

/// The weights of attention(q, k, …, options). In a window (options.within) queries and keys are counted as in q and k,
/// weights are those of the whole rows if `lse` is, and p and j of the statistics are places in the whole matrix; a
/// lse that is computed is of the window's keys. Keeps views of q, k and lse, which must outlive it. If
/// attention_target() is "reference", as for f64 tensors, everything is computed in f64; else scores and weights are
/// f32, sums over tiles f64. options.threads does not change results.
/// Several threads may call one Probe at once.
///
/// q [B, Hq, Tq, D] and k [B, Hk, Tk, D] as for attention(); `lse` [B, Hq, Tq], f32 or f64, its result. If lse is
/// not given, the lse of a row is computed when first needed, in a separate pass, and kept. A pass allocates its
/// result and a few tiles for each thread: O(T * D) in all. Hidden tiles cost nothing. Several threads may evaluate a
/// predicate mask at once.
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

  /// Tq counts the queries of this probe.
  [[nodiscard]] const MaskShape& shape() const noexcept;

  /// A probe of some of the queries: its n-th is query begin + n * step of this one, before `end`. They keep their
  /// places in the mask, the bias and the sequence, and the lse that is known. 0 <= begin < end <= Tq, 1 <= step.
  [[nodiscard]] Probe of_queries(const QueryRange& queries) const;

  /// Part of an intermediate, [queries, keys], f64 if computed in f64, else f32. In stages before `masked`, hidden
  /// pairs hold their scores. Weights need the lse of their rows, which is computed first if it is not known.
  [[nodiscard]] Tensor tile(const Tile& tile, Stage stage = Stage::weights) const;

  /// One query's, [Tk].
  [[nodiscard]] Tensor row(HeadPlace head, std::int64_t i, Stage stage = Stage::weights) const;

  /// f64 [Tq]: as given, or computed.
  [[nodiscard]] Tensor lse(HeadPlace head, const ProbeWatch& watch = {}) const;

  /// The matrices of weights in cells, as many maps as `request` asks for, 1 <= size.rows <= queries and 1 <=
  /// size.columns <= keys of the area. One pass over its tiles; only the lse of its queries is computed.
  [[nodiscard]] CellMaps map(const MapRequest& request, const ProbeWatch& watch = {}) const;

  /// The `count` keys of largest weight for each query, 0 <= count <= Tk. Hidden keys have weight 0.
  [[nodiscard]] TopKeys top_keys(HeadPlace head, std::int64_t count, const ProbeWatch& watch = {}) const;

  /// The sum over queries of the weight on each key, f64 [Tk].
  [[nodiscard]] Tensor key_totals(HeadPlace head, const ProbeWatch& watch = {}) const;

  /// `align` gives the positions of the queries among the keys, for distance and diagonal.
  [[nodiscard]] RowStatistics statistics(HeadPlace head, Align align = Align::bottom_right,
                                         const ProbeWatch& watch = {}) const;

 private:
  explicit Probe(std::unique_ptr<const probe_detail::State> state);

  std::unique_ptr<const probe_detail::State> state_;
};

}  // namespace qkv
