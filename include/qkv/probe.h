// Any part of the T x T matrix of weights, computed on demand from q, k and lse. The matrix is never stored.
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

/// Progress of a pass over the tiles, in pairs of a query and a key.
struct ProbeProgress {
  std::int64_t done = 0;
  std::int64_t total = 0;
};

enum class Proceed : std::uint8_t { go_on, stop };

/// Called now and then during a pass, by one thread at a time; `stop` ends the pass with Cancelled.
using ProbeWatch = std::function<Proceed(const ProbeProgress&)>;

/// A ProbeWatch returned `stop`.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// How a map reduces the weights of a cell.
enum class Reduce : std::uint8_t { mean, max };

struct MapSize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// A matrix of weights, downsampled. Cell (r, c) stands for the queries [r * Tq / rows, (r + 1) * Tq / rows) and the
/// keys [c * Tk / columns, (c + 1) * Tk / columns), divisions rounded down.
struct WeightMap {
  Tensor weights;  // f64 [rows, columns]: mean or largest weight; hidden pairs count as 0
  Tensor visible;  // f64 [rows, columns]: share of the cell's pairs that are visible
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
  Tensor distance;            // f64 [Tq]: sum of w |p - j|, p the query's position
  Tensor largest;             // f64 [Tq]: the largest weight
  Tensor first;               // f64 [Tq]: the weight of key 0
  Tensor diagonal;            // f64 [Tq]: the weight of key p; 0 where there is none

  /// The mean of one of the above over the rows that see something; 0 if there is none.
  [[nodiscard]] double mean(const Tensor& column) const;
};

/// The weights of attention(q, k, …, options). Keeps views of q, k and lse, which must outlive it. If
/// attention_target() is "reference", as for f64 tensors, everything is computed in f64; else scores and weights are
/// f32, sums over tiles f64. options.threads does not change results.
/// Several threads may call one Probe at once.
///
/// q [B, Hq, Tq, D] and k [B, Hk, Tk, D] as for attention(); `lse` [B, Hq, Tq], f32 or f64, its result. If lse is
/// not given, the lse of a head is computed when first needed, in a separate pass, and kept. A pass allocates its
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

  [[nodiscard]] const MaskShape& shape() const noexcept;

  /// Part of an intermediate, [queries, keys], f64 if computed in f64, else f32. In stages before `masked`, hidden
  /// pairs hold their scores. Weights need the lse of their rows, which is computed first if it is not known.
  [[nodiscard]] Tensor tile(const Tile& tile, Stage stage = Stage::weights) const;

  /// One query's, [Tk].
  [[nodiscard]] Tensor row(HeadPlace head, std::int64_t i, Stage stage = Stage::weights) const;

  /// f64 [Tq]: as given, or computed.
  [[nodiscard]] Tensor lse(HeadPlace head, const ProbeWatch& watch = {}) const;

  /// The matrix of weights in size.rows x size.columns cells, 1 <= rows <= Tq and 1 <= columns <= Tk.
  [[nodiscard]] WeightMap map(HeadPlace head, const MapSize& size, Reduce reduce = Reduce::mean,
                              const ProbeWatch& watch = {}) const;

  /// The same for the mean of the matrices of several heads of one batch entry.
  [[nodiscard]] WeightMap map(std::int64_t b, std::span<const std::int64_t> heads, const MapSize& size,
                              Reduce reduce = Reduce::mean, const ProbeWatch& watch = {}) const;

  /// The `count` keys of largest weight for each query, 0 <= count <= Tk. Hidden keys have weight 0.
  [[nodiscard]] TopKeys top_keys(HeadPlace head, std::int64_t count, const ProbeWatch& watch = {}) const;

  /// The sum over queries of the weight on each key, f64 [Tk].
  [[nodiscard]] Tensor key_totals(HeadPlace head, const ProbeWatch& watch = {}) const;

  /// `align` gives the positions of the queries among the keys, for distance and diagonal.
  [[nodiscard]] RowStatistics statistics(HeadPlace head, Align align = Align::bottom_right,
                                         const ProbeWatch& watch = {}) const;

 private:
  std::unique_ptr<const probe_detail::State> state_;
};

}  // namespace qkv
