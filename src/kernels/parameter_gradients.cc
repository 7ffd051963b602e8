#include "kernels/parameter_gradients.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
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

// Sums of tasks, added in the order of the tasks, whichever ends first.
class OrderedSums {
 public:
  explicit OrderedSums(std::size_t cells) : total_(cells) {}

  void add(std::int64_t task, std::vector<double> cells) {
    const std::scoped_lock lock(mutex_);
    early_.emplace(task, std::move(cells));
    for (auto next = early_.begin(); next != early_.end() && next->first == next_; next = early_.erase(next), ++next_) {
      std::ranges::transform(total_, next->second, total_.begin(), std::plus());
    }
  }

  [[nodiscard]] const std::vector<double>& total() const { return total_; }

 private:
  std::mutex mutex_;
  std::int64_t next_ = 0;
  std::map<std::int64_t, std::vector<double>> early_;  // those that an earlier task is still missing before
  std::vector<double> total_;
};

// One term of the bias and its gradient. Where a query or a key selects elements, tasks own them; the others are few,
// and each task has its own sums.
struct Term {
  Term(const TermNode& term, Tensor& tensor)
      : node(term), axes(term.gradient_axes()), gradient(tensor.values<float>()) {
    if (!is_owned()) sums = std::make_unique<OrderedSums>(gradient.size());
  }

  [[nodiscard]] bool is_owned() const { return axes.query || axes.key; }
  /// Every pair has an element of its own.
  [[nodiscard]] bool has_every_axis() const { return axes.batch && axes.head && axes.query && axes.key; }

  const TermNode& node;
  GradientAxes axes;
  std::span<float> gradient;
  std::unique_ptr<OrderedSums> sums;
};

// What one task has of a term: the sums of the elements that its last tiles use.
class TermCells {
 public:
  explicit TermCells(const Term& term) : term_(term), sums_(term.is_owned() ? 0 : term.gradient.size()) {}

  void add(const Tile& tile, const double* d_scores, const MaskShape& shape) {
    const GradientWindow window = term_.node.gradient_window(tile, shape);
    if (cells_.empty() || window != window_) {
      flush();
      window_ = window;
      cells_.assign(static_cast<std::size_t>(window.cells()), 0);
    }
    term_.node.add_gradient(tile, d_scores, kTile, cells_.data(), shape);
  }

  void finish(std::int64_t task) {
    flush();
    if (!term_.is_owned()) term_.sums->add(task, std::move(sums_));
  }

 private:
  void flush() {
    const double* cell = cells_.data();
    for (std::int64_t row = 0; row < window_.rows && !cells_.empty(); ++row) {
      for (std::int64_t column = 0; column < window_.columns; ++column, ++cell) {
        const auto place =
            static_cast<std::size_t>(window_.offset + row * window_.row_stride + column * window_.column_stride);
        if (term_.is_owned()) {
          term_.gradient[place] = static_cast<float>(*cell);
        } else {
          sums_[place] += *cell;
        }
      }
    }
  }

  const Term& term_;
  GradientWindow window_;
  std::vector<double> cells_;  // of the window
  std::vector<double> sums_;   // of the whole gradient
};

// The tiles of one task, in order.
class Walk {
 public:
  Walk(std::span<const Entry> entries, std::span<const Term* const> terms, const cpu::Target& target)
      : entries_(entries), target_(target) {
    cells_.reserve(terms.size());
    for (const Term* term : terms) cells_.emplace_back(*term);
  }

  void run(const Part& part, std::int64_t task) {
    for (std::int64_t e = part.entries.begin; e < part.entries.end; ++e) {
      for (std::int64_t h = part.heads.begin; h < part.heads.end; ++h) {
        const std::int64_t blocks = blocks_of(entries_[static_cast<std::size_t>(e)].queries());
        for (std::int64_t i = part.query_blocks.begin; i < std::min(part.query_blocks.end, blocks); ++i) {
          set_queries(e, h, i);
          add_keys(part.key_blocks);
        }
      }
    }
    for (TermCells& cells : cells_) cells.finish(task);
  }

 private:
  void set_queries(std::int64_t e, std::int64_t h, std::int64_t block) {
    const Entry& entry = entries_[static_cast<std::size_t>(e)];
    const KeyRange queries = block_of(block, entry.queries());
    if (!tiles_ || problem_ != entry.problem) {
      lse_.emplace(entry.problem->problem, entry.problem->lse, LseRows::Kind::settled);
      tiles_.emplace(*entry.problem, &target_, *lse_);
    }
    problem_ = entry.problem;
    tile_ = {.b = problem_->problem.first_b + entry.b, .h = h, .i_begin = queries.begin, .i_end = queries.end};
    tiles_->set_queries(entry.b, h, queries.begin, queries.end);
  }

  void add_keys(const Range& blocks) {
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
      add_tile();
    }
  }

  void add_tile() {
    const ScoreTile<float>& d_scores = tiles_->d_scores();
    for (std::int64_t n = 0; n < tiles_->queries(); ++n) {
      for (std::int64_t c = 0; c < tiles_->keys(); ++c) {
        rows_[static_cast<std::size_t>(n * kTile + c)] =
            static_cast<double>(d_scores[static_cast<std::size_t>(c * kTile + n)]);
      }
    }
    for (TermCells& cells : cells_) cells.add(tile_, rows_.data(), problem_->problem.shape);
  }

  std::span<const Entry> entries_;
  std::vector<TermCells> cells_;
  const cpu::Target& target_;
  const BackwardProblem* problem_ = nullptr;
  std::optional<LseRows> lse_;
  std::optional<GradientTiles<float>> tiles_;
  Tile tile_;
  std::array<double, kTile * kTile> rows_{};
};

// The gradients of all terms, in as few walks over the tiles as there are kinds of tasks that own elements.
class BiasGradients {
 public:
  BiasGradients(Documents documents, const cpu::Target& target, int threads)
      : entries_(entries_of(documents)), heads_(documents.front().problem.shape.H), target_(target), threads_(threads) {
    for (const Entry& entry : entries_) {
      query_blocks_ = std::max(query_blocks_, blocks_of(entry.queries()));
      key_blocks_ = std::max(key_blocks_, blocks_of(entry.shape().Tk));
    }
  }

  void write(std::span<const Term> terms) const {
    for (const std::vector<const Term*>& group : groups_of(terms)) {
      const Parts parts = parts_of(*group.front());
      core::parallel_for(threads_, parts.count(),
                         [&](int, std::int64_t n) { Walk(entries_, group, target_).run(parts[n], n); });
    }
    for (const Term& term : terms) {
      if (term.is_owned()) continue;
      std::ranges::transform(term.sums->total(), term.gradient.begin(),
                             [](double sum) { return static_cast<float>(sum); });
    }
  }

 private:
  // Terms whose elements the same tasks can own, the one that decides on the tasks first. An element of a single pair,
  // or one of few, fits any tasks.
  static std::vector<std::vector<const Term*>> groups_of(std::span<const Term> terms) {
    std::vector<std::vector<const Term*>> groups;
    std::vector<const Term*> of_pairs;
    std::vector<const Term*> of_few;
    for (const Term& term : terms) {
      if (term.gradient.empty()) continue;
      const auto fits = [&](const auto& group) { return group.front()->axes == term.axes; };
      const auto group = std::ranges::find_if(groups, fits);
      if (term.has_every_axis()) {
        of_pairs.push_back(&term);
      } else if (!term.is_owned()) {
        of_few.push_back(&term);
      } else if (group == groups.end()) {
        groups.push_back({&term});
      } else {
        group->push_back(&term);
      }
    }
    if (groups.empty() && !(of_pairs.empty() && of_few.empty())) groups.emplace_back();
    for (const auto& others : {of_pairs, of_few}) {
      if (!others.empty()) groups.front().insert(groups.front().end(), others.begin(), others.end());
    }
    return groups;
  }

  [[nodiscard]] Parts parts_of(const Term& term) const {
    const GradientAxes& axes = term.axes;
    const auto entries = static_cast<std::int64_t>(entries_.size());
    if (!term.is_owned()) {
      constexpr std::int64_t kBlocksOfTask = 4;
      return {Runs(entries, 1), Runs(heads_, 1), Runs(query_blocks_, kBlocksOfTask),
              Runs(key_blocks_, std::max<std::int64_t>(key_blocks_, 1))};
    }
    // If every pair has its own element, q is packed once for several blocks of keys.
    const std::int64_t run = term.has_every_axis() ? 16 : 1;
    const auto split = [](bool owned, std::int64_t count, std::int64_t each) {
      return Runs(count, owned ? each : std::max<std::int64_t>(count, 1));
    };
    return {split(axes.batch, entries, 1), split(axes.head, heads_, 1), split(axes.query, query_blocks_, 1),
            split(axes.key, key_blocks_, run)};
  }

  std::vector<Entry> entries_;
  std::int64_t heads_;
  const cpu::Target& target_;
  int threads_;
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

void write_bias_gradients(Documents documents, const cpu::Target& target, int threads, std::span<Tensor> gradients) {
  if (documents.empty()) return;
  const std::vector<const TermNode*> nodes = bias_detail::term_nodes(documents.front().problem.bias);
  std::vector<Term> terms;
  terms.reserve(gradients.size());
  for (std::size_t n = 0; n < gradients.size(); ++n) terms.emplace_back(*nodes[n], gradients[n]);
  BiasGradients(documents, target, threads).write(terms);
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
