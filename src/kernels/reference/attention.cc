#include "kernels/reference/attention.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/watched.h"
#include "kernels/lse_rounding.h"
#include "kernels/reference/pair_scores.h"
#include "kernels/reference/softmax.h"

namespace qkv::kernels::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

Values row_of(std::int64_t size) { return Values(static_cast<std::size_t>(size)); }

// The scores of one query, one row of Tk numbers for each stage.
class Row {
 public:
  explicit Row(const Problem& problem) : problem_(problem), pairs_(problem) { stages_.fill(row_of(problem.shape.Tk)); }

  [[nodiscard]] Values& operator[](Stage stage) { return stages_[static_cast<std::size_t>(stage)]; }

  // For attention(): does not read the key of a hidden pair. b is the batch entry of q.
  void score_visible(std::int64_t b, std::int64_t h, std::int64_t i) {
    pairs_.set_query(b, h, i);
    for (std::int64_t j = 0; j < problem_.shape.Tk; ++j) {
      const double bias = pairs_.bias(j);
      if (pairs_.hides(j, bias)) {
        (*this)[Stage::masked][static_cast<std::size_t>(j)] = -kInfinity;
      } else {
        score_pair(j, bias);
      }
    }
  }

  // For attention_stage(): the score of every pair, hidden ones too.
  void score_all(std::int64_t b, std::int64_t h, std::int64_t i) {
    pairs_.set_query(b, h, i);
    for (std::int64_t j = 0; j < problem_.shape.Tk; ++j) {
      const double bias = pairs_.bias(j);
      score_pair(j, bias);
      if (pairs_.hides(j, bias)) (*this)[Stage::masked][static_cast<std::size_t>(j)] = -kInfinity;
    }
  }

  // Applies softmax and dropout to the masked scores. Returns lse.
  double weigh(std::int64_t h) {
    const Values& weights = (*this)[Stage::weights];
    const double lse = softmax_row((*this)[Stage::masked], (*this)[Stage::weights], sink_of(h));
    Values& dropped = (*this)[Stage::dropped];
    dropped = weights;
    if (!problem_.dropout) return lse;
    for (std::int64_t j = 0; j < problem_.shape.Tk; ++j) {
      double& weight = dropped[static_cast<std::size_t>(j)];
      weight = pairs_.drops(j) ? 0 * weight : weight / (1 - problem_.dropout->p);  // NaN stays
    }
    return lse;
  }

 private:
  [[nodiscard]] std::optional<double> sink_of(std::int64_t h) const {
    if (problem_.sinks.empty()) return std::nullopt;
    return problem_.sinks[static_cast<std::size_t>(h)];
  }

  void score_pair(std::int64_t j, double bias) {
    const PairScore pair = pairs_.score(j, bias);
    const auto at = static_cast<std::size_t>(j);
    (*this)[Stage::raw][at] = pair.raw;
    (*this)[Stage::scaled][at] = pair.scaled;
    (*this)[Stage::softcapped][at] = pair.softcapped;
    (*this)[Stage::masked][at] = (*this)[Stage::biased][at] = pair.biased;
  }

  const Problem& problem_;
  PairScores pairs_;
  std::array<Values, kStages> stages_;
};

template <class Body>
void for_each_row(const Problem& problem, const Body& body) {
  for (std::int64_t b = 0; b < problem.q.dim(0); ++b) {
    for (std::int64_t h = 0; h < problem.shape.H; ++h) {
      for (std::int64_t i = 0; i < problem.shape.Tq; ++i) {
        core::look();
        body(b, h, i);
      }
    }
  }
}

}  // namespace

void forward(const Problem& problem, const MutableTensorView& out, const MutableTensorView& lse) {
  Row row(problem);
  Values value = row_of(problem.v.dim(-1));
  Values sum = value;
  for_each_row(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    row.score_visible(b, h, i);           // pass 1: scores, softcap, bias, mask
    const double row_lse = row.weigh(h);  // pass 2: softmax and dropout
    sum.assign(sum.size(), 0);            // pass 3: the weighted sum of the values
    for (std::int64_t j = 0; j < problem.shape.Tk; ++j) {
      if (row[Stage::masked][static_cast<std::size_t>(j)] == -kInfinity) continue;
      const double weight = row[Stage::dropped][static_cast<std::size_t>(j)];
      problem.v.load_row(std::array<std::int64_t, 3>{b, h / problem.group, j}, value);
      for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += weight * value[d];
    }
    out.store_row(std::array<std::int64_t, 3>{b, h, i}, sum);
    lse.set({b, h, i}, lse.dtype() == DType::f64 ? row_lse : static_cast<double>(stored_lse(row_lse)));
  });
}

void write_stages(const Problem& problem, std::span<const Stage> stages, std::span<Tensor> results) {
  Row row(problem);
  for_each_row(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    row.score_all(b, h, i);
    static_cast<void>(row.weigh(h));
    for (std::size_t n = 0; n < stages.size(); ++n) {
      results[n].store_row(std::array<std::int64_t, 3>{b, h, i}, row[stages[n]]);
    }
  });
}

}  // namespace qkv::kernels::reference
