#include "kernels/reference/backward.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "core/exact_math.h"
#include "core/watched.h"
#include "kernels/lse_rounding.h"
#include "kernels/reference/pair_scores.h"
#include "kernels/reference/softmax.h"
#include "kernels/row_delta.h"
#include "mask/bias_node.h"

namespace qkv::kernels::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

Values values_of(std::int64_t size) { return Values(static_cast<std::size_t>(size)); }

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

void add_times(std::span<double> sums, double factor, std::span<const double> values) {
  for (std::size_t d = 0; d < sums.size(); ++d) sums[d] += factor * values[d];
}

// Gives the score gradients of a row to the terms of the bias.
class BiasSums {
 public:
  BiasSums(const Problem& problem, std::span<Tensor> gradients)
      : problem_(problem), gradients_(gradients), terms_(bias_detail::term_nodes(problem.bias)) {}

  // d_scores [Tk] of query i.
  void add(std::int64_t b, std::int64_t h, std::int64_t i, std::span<const double> d_scores) {
    const std::int64_t Tk = problem_.shape.Tk;
    for (std::int64_t j = 0; j < Tk; j += bias_detail::kBlock) {
      const Tile tile = {.b = problem_.first_b + b,
                         .h = h,
                         .i_begin = i,
                         .i_end = i + 1,
                         .j_begin = j,
                         .j_end = std::min(j + bias_detail::kBlock, Tk)};
      for (std::size_t n = 0; n < gradients_.size(); ++n) {
        add(*terms_[n], tile, &d_scores[static_cast<std::size_t>(j)], gradients_[n].values<double>());
      }
    }
  }

 private:
  void add(const bias_detail::TermNode& term, const Tile& tile, const double* d_scores, std::span<double> gradient) {
    const bias_detail::GradientWindow window = term.gradient_window(tile, problem_.shape);
    cells_.assign(static_cast<std::size_t>(window.cells()), 0);
    term.add_gradient(tile, d_scores, 0, cells_.data(), problem_.shape);
    const double* cell = cells_.data();
    for (std::int64_t row = 0; row < window.rows; ++row) {
      double* place = gradient.data() + window.offset + row * window.row_stride;
      for (std::int64_t column = 0; column < window.columns; ++column) {
        place[column * window.column_stride] += *cell++;
      }
    }
  }

  const Problem& problem_;
  std::span<Tensor> gradients_;
  std::vector<const bias_detail::TermNode*> terms_;
  Values cells_;
};

// The gradients of one key head and of the queries that read it, head after head.
class Backward {
 public:
  Backward(const BackwardProblem& problem, SharedGradients& shared)
      : problem_(problem),
        forward_(problem.problem),
        shared_(shared),
        pairs_(forward_),
        row_delta_(problem),
        bias_(forward_, shared.bias),
        value_(values_of(problem.problem.v.dim(3))),
        d_out_(value_),
        d_query_(values_of(forward_.q.dim(3))),
        scores_(values_of(forward_.shape.Tk)),
        d_scores_(scores_) {}

  void run(std::int64_t b, std::int64_t key_head) {
    const std::int64_t Tk = forward_.shape.Tk;
    d_keys_.assign(static_cast<std::size_t>(Tk), values_of(forward_.q.dim(3)));
    d_values_.assign(static_cast<std::size_t>(Tk), values_of(problem_.problem.v.dim(3)));
    for (std::int64_t h = key_head * forward_.group; h < (key_head + 1) * forward_.group; ++h) {
      for (std::int64_t i = 0; i < forward_.shape.Tq; ++i) {
        core::look();
        run_query(b, h, i);
      }
    }
    for (std::int64_t j = 0; j < Tk; ++j) {
      const std::array place = {b, key_head, j};
      if (problem_.d_k) problem_.d_k->store_row(place, d_keys_[static_cast<std::size_t>(j)]);
      if (problem_.d_v) problem_.d_v->store_row(place, d_values_[static_cast<std::size_t>(j)]);
    }
  }

 private:
  // Turns a score of a row, or its sink, into its weight.
  struct RowScale {
    double shift;
    double factor;

    [[nodiscard]] double weight(double score) const { return core::exp(score - shift) * factor; }
  };

  // Fills scores_. If lse is the row's own, uses the row's sum instead of the rounded lse, so that weights sum to 1.
  RowScale scale_of(std::int64_t b, std::int64_t h, std::int64_t i) {
    RowLse row = {.given = problem_.lse.at({b, h, i}),
                  .unit = problem_.lse.dtype() == DType::f64 ? 0x1p-53 : 0x1p-24,
                  .D = forward_.q.dim(3),
                  .Tk = forward_.shape.Tk,
                  .of_more_keys = forward_.has_part_of_keys()};
    for (std::int64_t j = 0; j < forward_.shape.Tk; ++j) {
      double& x = scores_[static_cast<std::size_t>(j)];
      const double bias = pairs_.bias(j);
      x = -kInfinity;
      if (pairs_.hides(j, bias)) continue;
      const PairScore score = pairs_.score(j, bias);
      x = score.biased;
      row.terms = std::max(row.terms, score.terms);
    }
    std::optional<double> sink;
    if (!forward_.sinks.empty()) sink = forward_.sinks[static_cast<std::size_t>(h)];
    const RowSum sum = sum_row(scores_, sink);
    const double own = sum.lse();
    if (!is_of_own_keys(row, own)) return {.shift = row.given, .factor = 1};
    if (sum.sum == 0 || is_fine_enough(row)) return {.shift = own, .factor = 1};
    return {.shift = sum.max, .factor = 1 / sum.sum};
  }

  void run_query(std::int64_t b, std::int64_t h, std::int64_t i) {
    const std::array place = {b, h, i};
    pairs_.set_query(b, h, i);
    problem_.d_out.load_row(place, d_out_);
    const RowScale scale = scale_of(b, h, i);  // pass 1: scores and their softmax
    const double delta = row_delta_.of(b, h, i);
    std::ranges::fill(d_query_, 0);
    std::ranges::fill(d_scores_, 0);
    for (std::int64_t j = 0; j < forward_.shape.Tk; ++j) {  // pass 2: the gradients of each visible pair
      if (scores_[static_cast<std::size_t>(j)] == -kInfinity) continue;
      const PairScore score = pairs_.score(j, pairs_.bias(j));
      run_pair(b, h, j, score, scale.weight(score.biased), delta);
    }
    if (problem_.d_q) problem_.d_q->store_row(place, d_query_);
    if (!shared_.bias.empty()) bias_.add(b, h, i, d_scores_);
    if (!shared_.sinks.empty()) {
      const auto head = static_cast<std::size_t>(h);
      shared_.sinks[head] -= scale.weight(forward_.sinks[head]) * delta;
    }
  }

  void run_pair(std::int64_t b, std::int64_t h, std::int64_t j, const PairScore& score, double weight, double delta) {
    const auto key = static_cast<std::size_t>(j);
    problem_.problem.v.load_row(std::array{b, h / forward_.group, j}, value_);
    const double kept = !forward_.dropout ? 1 : pairs_.drops(j) ? 0 : 1 / (1 - forward_.dropout->p);
    const double d_weight = kept == 0 ? 0 : kept * dot(d_out_, value_);
    const double d_score = weight * (d_weight - delta);
    double d_raw = forward_.scale * d_score;
    if (forward_.softcap) {
      const double share = score.softcapped / *forward_.softcap;
      d_raw *= 1 - share * share;
    }
    d_scores_[key] = d_score;
    add_times(d_values_[key], kept * weight, d_out_);
    add_times(d_keys_[key], d_raw, pairs_.q());
    add_times(d_query_, d_raw, pairs_.k());
  }

  const BackwardProblem& problem_;
  const Problem& forward_;
  SharedGradients& shared_;
  PairScores pairs_;
  RowDelta row_delta_;
  BiasSums bias_;
  Values value_;
  Values d_out_;
  Values d_query_;
  Values scores_;  // -inf where forbidden
  Values d_scores_;
  std::vector<Values> d_keys_;    // [Tk][D]
  std::vector<Values> d_values_;  // [Tk][Dv]
};

}  // namespace

void backward(const BackwardProblem& problem, SharedGradients& shared) {
  Backward heads(problem, shared);
  for (std::int64_t b = 0; b < problem.problem.q.dim(0); ++b) {
    for (std::int64_t key_head = 0; key_head < problem.problem.k.dim(1); ++key_head) heads.run(b, key_head);
  }
}

}  // namespace qkv::kernels::reference
