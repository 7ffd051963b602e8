#include "kernels/parameter_gradients.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "core/exact_math.h"
#include "core/parallel.h"
#include "kernels/gradient_tiles.h"
#include "mask/bias_node.h"

namespace qkv::kernels {
namespace {

using bias_detail::GradientAxes;
using bias_detail::GradientWindow;
using bias_detail::TermNode;

// One batch entry of one document.
struct Entry {
  const BackwardProblem* problem;
  std::int64_t b;  // batch index in the document's tensors

  [[nodiscard]] const MaskShape& shape() const { return problem->problem.shape; }
  [[nodiscard]] std::int64_t queries() const { return problem->problem.q.dim(2); }
};

std::vector<Entry> entries_of(Documents documents) {
  std::vector<Entry> entries;
  for (const BackwardProblem& problem : documents) {
    for (std::int64_t b = 0; b < problem.problem.q.dim(0); ++b) entries.push_back({&problem, b});
  }
  return entries;
}

// A half-open range.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t count() const { return end - begin; }
};

std::int64_t blocks_of(std::int64_t extent) { return (extent + kTile - 1) / kTile; }

KeyRange block_of(std::int64_t n, std::int64_t extent) { return {n * kTile, std::min((n + 1) * kTile, extent)}; }

// The pairs of a task, in blocks of kTile queries or keys. Blocks beyond the end of an entry are empty.
struct Part {
  Range entries;
  Range heads;
  Range query_blocks;
  Range key_blocks;
};

// Divides [0, count) into runs of `each`, or leaves it whole.
class Runs {
 public:
  Runs(std::int64_t count, std::int64_t each) : count_(count), each_(each) {}

  [[nodiscard]] std::int64_t runs() const { return (count_ + each_ - 1) / each_; }
  [[nodiscard]] Range operator[](std::int64_t n) const { return {n * each_, std::min((n + 1) * each_, count_)}; }

 private:
  std::int64_t count_;
  std::int64_t each_;
};

// The parts of the computation, numbered with key blocks fastest.
class Parts {
 public:
  Parts(Runs entries, Runs heads, Runs query_blocks, Runs key_blocks)
      : entries_(entries), heads_(heads), query_blocks_(query_blocks), key_blocks_(key_blocks) {}

  [[nodiscard]] std::int64_t count() const {
    return entries_.runs() * heads_.runs() * query_blocks_.runs() * key_blocks_.runs();
  }
  [[nodiscard]] Part operator[](std::int64_t n) const {
    const auto next = [&](const Runs& runs) {
      const Range range = runs[n % runs.runs()];
      n /= runs.runs();
      return range;
    };
    Part part;
    part.key_blocks = next(key_blocks_);
    part.query_blocks = next(query_blocks_);
    part.heads = next(heads_);
    part.entries = next(entries_);
    return part;
  }

 private:
  Runs entries_;
  Runs heads_;
  Runs query_blocks_;
  Runs key_blocks_;
};

// The tiles of one task, in order.
class Walk {
 public:
  Walk(std::span<const Entry> entries, const TermNode& term, const cpu::Target& target)
      : entries_(entries), term_(term), target_(target) {}

  // Adds the gradients of the term's elements from the tiles of a part to `cells`, the window of these elements.
  void add(const Part& part, double* cells) {
    for (std::int64_t e = part.entries.begin; e < part.entries.end; ++e) {
      for (std::int64_t h = part.heads.begin; h < part.heads.end; ++h) {
        const std::int64_t blocks = blocks_of(entries_[static_cast<std::size_t>(e)].queries());
        for (std::int64_t i = part.query_blocks.begin; i < std::min(part.query_blocks.end, blocks); ++i) {
          set_queries(e, h, i);
          add_keys(part.key_blocks, cells);
        }
      }
    }
  }

 private:
  void set_queries(std::int64_t e, std::int64_t h, std::int64_t block) {
    const Entry& entry = entries_[static_cast<std::size_t>(e)];
    const KeyRange queries = block_of(block, entry.queries());
    if (tiles_ && problem_ == entry.problem && tile_.b == problem_->problem.first_b + entry.b && tile_.h == h &&
        tile_.i_begin == queries.begin) {
      return;
    }
    if (!tiles_ || problem_ != entry.problem) {
      lse_.emplace(entry.problem->problem, entry.problem->lse, LseRows::Kind::settled);
      tiles_.emplace(*entry.problem, &target_, *lse_);
    }
    problem_ = entry.problem;
    tile_ = {.b = problem_->problem.first_b + entry.b, .h = h, .i_begin = queries.begin, .i_end = queries.end};
    tiles_->set_queries(entry.b, h, queries.begin, queries.end);
  }

  void add_keys(const Range& blocks, double* cells) {
    const std::int64_t Tk = problem_->problem.shape.Tk;
    const KeyRange seen = tiles_->seen();
    const std::int64_t first = std::max(blocks.begin, seen.begin / kTile);
    const std::int64_t last = std::min(blocks.end, blocks_of(std::min(seen.end, Tk)));
    for (std::int64_t j = first; j < last; ++j) {
      const KeyRange keys = block_of(j, Tk);
      if (!tiles_->set_keys(keys)) continue;
      tiles_->compute();
      tile_.j_begin = keys.begin;
      tile_.j_end = keys.end;
      add_tile(cells);
    }
  }

  void add_tile(double* cells) {
    const ScoreTile<float>& d_scores = tiles_->d_scores();
    for (std::int64_t n = 0; n < tiles_->queries(); ++n) {
      for (std::int64_t c = 0; c < tiles_->keys(); ++c) {
        rows_[static_cast<std::size_t>(n * kTile + c)] =
            static_cast<double>(d_scores[static_cast<std::size_t>(c * kTile + n)]);
      }
    }
    term_.add_gradient(tile_, rows_.data(), kTile, cells, problem_->problem.shape);
  }

  std::span<const Entry> entries_;
  const TermNode& term_;
  const cpu::Target& target_;
  const BackwardProblem* problem_ = nullptr;
  std::optional<LseRows> lse_;
  std::optional<GradientTiles<float>> tiles_;
  Tile tile_;
  std::array<double, kTile * kTile> rows_{};
};

// The gradient of one term.
class TermGradient {
 public:
  TermGradient(Documents documents, const TermNode& term, const cpu::Target& target, int threads, Tensor& gradient)
      : entries_(entries_of(documents)),
        heads_(documents.front().problem.shape.H),
        term_(term),
        axes_(term.gradient_axes()),
        target_(target),
        threads_(threads),
        gradient_(gradient.values<float>()) {
    for (const Entry& entry : entries_) {
      query_blocks_ = std::max(query_blocks_, blocks_of(entry.queries()));
      key_blocks_ = std::max(key_blocks_, blocks_of(entry.shape().Tk));
    }
  }

  void write() {
    if (axes_.query || axes_.key) {
      write_cells();
    } else {
      add_sums();
    }
  }

 private:
  // Each task owns some cells.
  void write_cells() {
    // If the gradient has every head and batch entry, q is packed once for several blocks of keys.
    const std::int64_t run = axes_.batch && axes_.head && axes_.query && axes_.key ? 16 : 1;
    const auto split = [](bool owned, std::int64_t count, std::int64_t each) {
      return Runs(count, owned ? each : std::max<std::int64_t>(count, 1));
    };
    const Parts parts(split(axes_.batch, entry_count(), 1), split(axes_.head, heads_, 1),
                      split(axes_.query, query_blocks_, 1), split(axes_.key, key_blocks_, run));
    core::parallel_for(threads_, parts.count(), [&](int, std::int64_t n) {
      Walk walk(entries_, term_, target_);
      std::vector<double> cells;
      Part part = parts[n];
      const Range keys = part.key_blocks;
      for (std::int64_t j = keys.begin; j < (axes_.key ? keys.end : keys.begin + 1); ++j) {
        if (axes_.key) part.key_blocks = {j, j + 1};
        const GradientWindow window = window_of(part);
        cells.assign(static_cast<std::size_t>(window.cells()), 0);
        walk.add(part, cells.data());
        store(window, cells);
      }
    });
  }

  // Few cells: each task has its own sums, which are added in the order of the tasks.
  void add_sums() {
    constexpr std::int64_t kBlocksOfTask = 4;
    const Parts parts(Runs(entry_count(), 1), Runs(heads_, 1), Runs(query_blocks_, kBlocksOfTask),
                      Runs(key_blocks_, std::max<std::int64_t>(key_blocks_, 1)));
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(parts.count()));
    core::parallel_for(threads_, parts.count(), [&](int, std::int64_t n) {
      std::vector<double>& cells = sums[static_cast<std::size_t>(n)];
      cells.resize(static_cast<std::size_t>(window_of(parts[n]).cells()));
      Walk(entries_, term_, target_).add(parts[n], cells.data());
    });
    std::vector<double> total(gradient_.size());
    for (std::int64_t n = 0; n < parts.count(); ++n) {
      each_cell(window_of(parts[n]),
                [&](std::size_t place, std::size_t cell) { total[place] += sums[static_cast<std::size_t>(n)][cell]; });
    }
    std::ranges::transform(total, gradient_.begin(), [](double sum) { return static_cast<float>(sum); });
  }

  [[nodiscard]] std::int64_t entry_count() const { return static_cast<std::int64_t>(entries_.size()); }

  // The window of the first tile of a part, which is that of all its tiles.
  [[nodiscard]] GradientWindow window_of(const Part& part) const {
    const Entry& entry = entries_[static_cast<std::size_t>(part.entries.begin)];
    const KeyRange queries = block_of(part.query_blocks.begin, entry.queries());
    const KeyRange keys = block_of(part.key_blocks.begin, entry.shape().Tk);
    return term_.gradient_window({.b = entry.problem->problem.first_b + entry.b,
                                  .h = part.heads.begin,
                                  .i_begin = queries.begin,
                                  .i_end = queries.end,
                                  .j_begin = keys.begin,
                                  .j_end = keys.end},
                                 entry.shape());
  }

  // Calls body(index in the gradient, index in the window).
  template <class Body>
  static void each_cell(const GradientWindow& window, const Body& body) {
    std::size_t cell = 0;
    for (std::int64_t row = 0; row < window.rows; ++row) {
      for (std::int64_t column = 0; column < window.columns; ++column) {
        body(static_cast<std::size_t>(window.offset + row * window.row_stride + column * window.column_stride), cell++);
      }
    }
  }

  void store(const GradientWindow& window, const std::vector<double>& cells) {
    each_cell(window, [&](std::size_t place, std::size_t cell) { gradient_[place] = static_cast<float>(cells[cell]); });
  }

  std::vector<Entry> entries_;
  std::int64_t heads_;
  const TermNode& term_;
  GradientAxes axes_;
  const cpu::Target& target_;
  int threads_;
  std::span<float> gradient_;
  std::int64_t query_blocks_ = 0;
  std::int64_t key_blocks_ = 0;
};

// The sink's share of the weights of a head's rows.
class SinkWeights {
 public:
  SinkWeights(const Entry& entry, std::int64_t h, const cpu::Target& target)
      : problem_(entry.problem->problem),
        b_(entry.b),
        h_(h),
        target_(target),
        sink_(problem_.sinks[static_cast<std::size_t>(h)]),
        lse_(entry.problem->lse) {}

  /// Of up to kTile queries. Where an lse has lost the logarithm of its sum, from the scores.
  [[nodiscard]] std::array<double, kTile> of(const KeyRange& queries) const {
    std::array<double, kTile> lse{};
    std::array<double, kTile> weights{};
    const auto rows = std::span(lse).first(static_cast<std::size_t>(queries.end - queries.begin));
    for (std::size_t n = 0; n < rows.size(); ++n) {
      rows[n] = lse_.at({b_, h_, queries.begin + static_cast<std::int64_t>(n)});
      weights[n] = core::exp(sink_ - rows[n]);
    }
    if (std::ranges::none_of(rows, is_coarse<float>)) return weights;
    ScoreTiles<float> tiles(problem_, &target_);
    tiles.set_queries(b_, h_, queries.begin, queries.end);
    WeightScale<float> scale;
    set_scale(tiles, problem_, h_, rows, scale);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      if (!is_coarse<float>(rows[n])) continue;
      weights[n] = core::exp(sink_ - static_cast<double>(scale.shift[n]) - scale.rest[n]);
    }
    return weights;
  }

 private:
  const Problem& problem_;
  std::int64_t b_;
  std::int64_t h_;
  const cpu::Target& target_;
  double sink_;
  TensorView lse_;
};

}  // namespace

void write_bias_gradient(Documents documents, std::size_t term, const cpu::Target& target, int threads,
                         Tensor& gradient) {
  if (documents.empty() || gradient.size() == 0) return;
  const TermNode& node = *bias_detail::term_nodes(documents.front().problem.bias)[term];
  TermGradient(documents, node, target, threads, gradient).write();
}

void write_sink_gradient(Documents documents, const cpu::Target& target, int threads, Tensor& gradient) {
  const std::vector<Entry> entries = entries_of(documents);
  const std::int64_t H = gradient.dim(0);
  std::vector<double> sums(entries.size() * static_cast<std::size_t>(H));
  core::parallel_for(threads, static_cast<std::int64_t>(sums.size()), [&](int, std::int64_t n) {
    const Entry& entry = entries[static_cast<std::size_t>(n / H)];
    const std::int64_t h = n % H;
    const SinkWeights sinks(entry, h, target);
    RowDelta delta(*entry.problem);
    double sum = 0;
    for (std::int64_t block = 0; block < blocks_of(entry.queries()); ++block) {
      const KeyRange queries = block_of(block, entry.queries());
      const std::array<double, kTile> weights = sinks.of(queries);
      for (std::int64_t i = queries.begin; i < queries.end; ++i) {
        sum -= weights[static_cast<std::size_t>(i - queries.begin)] * delta.of(entry.b, h, i);
      }
    }
    sums[static_cast<std::size_t>(n)] = sum;
  });
  std::vector<double> total(static_cast<std::size_t>(H));
  for (std::size_t n = 0; n < sums.size(); ++n) total[n % total.size()] += sums[n];
  std::ranges::transform(total, gradient.values<float>().begin(), [](double sum) { return static_cast<float>(sum); });
}

}  // namespace qkv::kernels
