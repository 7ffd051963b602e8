// The lse that a probe is given: read, and held against what the other fields give.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/fields/refuse.h"
#include "api/probe/probe_parts.h"
#include "core/unit_roundoff.h"
#include "qkv/files.h"
#include "qkv/probe.h"

namespace qkv::api_detail {
namespace {

constexpr double kInfinity = HUGE_VAL;

struct RowScores {
  double lse = -kInfinity;
  double largest = 0;  // magnitude of a score that is finite
};

// Log of the sum of exp of the scores and of the sink.
RowScores sum_up(const std::vector<double>& scores, double sink) {
  RowScores row;
  double most = sink;
  for (const double score : scores) {
    if (score > most || std::isnan(score)) most = score;
    if (std::isfinite(score)) row.largest = std::max(row.largest, std::fabs(score));
  }
  if (std::isfinite(sink)) row.largest = std::max(row.largest, std::fabs(sink));
  if (most == -kInfinity) return row;
  double sum = std::exp(sink - most);
  for (const double score : scores) sum += std::exp(score - most);
  row.lse = most + std::log(sum);
  return row;
}

double norm(const TensorView& row) {
  double squares = 0;
  for (const double x : row.to_vector()) squares += x * x;
  return std::sqrt(squares);
}

// Compares rows of one head.
class HeadCheck {
 public:
  HeadCheck(const AttentionProblem& problem, const Probe& probe, const Tensor& lse, HeadPlace head)
      : problem_(problem), probe_(probe), lse_(lse), head_(head) {
    const std::int64_t group = problem.q.dim(1) / problem.k.dim(1);
    const TensorView keys = problem.k.view().select(0, head.b).select(0, head.h / group);
    for (std::int64_t j = 0; j < keys.dim(0); ++j) longest_key_ = std::max(longest_key_, norm(keys.select(0, j)));
  }

  void check(const std::string& source, std::int64_t i) const {
    const auto& sinks = problem_.options.sinks;
    const double sink = sinks.empty() ? -kInfinity : sinks[static_cast<std::size_t>(head_.h)];
    const RowScores row = sum_up(probe_.row(head_, i, Stage::masked).to_vector(), sink);
    const double got = lse_.at({head_.b, head_.h, i});
    if (got == row.lse || std::isnan(row.lse)) return;  // a NaN score makes a NaN row, which is seen anyway
    const double allowed = std::isfinite(row.lse) ? tolerance(i, row) : 0;
    // Of a hidden NaN nothing is known of how far rounding goes.
    if (std::isnan(allowed) || std::fabs(got - row.lse) <= allowed) return;
    refuse("lse",
           fmt::format("what these q, k and options give: {:.9g} at [{}, {}, {}] (within {:.1g})", row.lse, head_.b,
                       head_.h, i, allowed),
           fmt::format("{:.9g} in {}", got, source));
  }

 private:
  // Twice what one computation may be off. A score: rounding of a product of D terms, at most |q| |k| long (Cauchy and
  // Schwarz), and of what is done to it. The sum: tiles of 64 keys, one after the other, its exp and its log. Weights
  // of half precision may have been rounded before they were summed.
  [[nodiscard]] double tolerance(std::int64_t i, const RowScores& row) const {
    const auto width = static_cast<double>(problem_.q.dim(3));
    const auto keys = static_cast<double>(problem_.k.dim(2));
    const double scale = std::fabs(problem_.options.scale.value_or(1 / std::sqrt(width)));
    const double product =
        scale * norm(problem_.q.view().select(0, head_.b).select(0, head_.h).select(0, i)) * longest_key_;
    const DType dtype = problem_.q.dtype();
    const double unit = dtype == DType::f64 ? std::max(0x1p-53, core::unit_roundoff(lse_.dtype())) : 0x1p-24;
    const double score = (width + 8) * (product + row.largest);
    const double sum = 64 + keys / 64 + 8 + std::fabs(row.lse);
    const double weights = is_half(dtype) ? core::unit_roundoff(dtype) : 0;
    return 2 * (unit * (score + sum) + weights);
  }

  [[nodiscard]] static bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

  const AttentionProblem& problem_;
  const Probe& probe_;
  const Tensor& lse_;
  HeadPlace head_;
  double longest_key_ = 0;
};

}  // namespace

Tensor load_lse(const std::string& text, const AttentionProblem& problem) {
  if (text.empty()) return {};
  const Shape shape = problem.q.shape().without(3);
  Tensor lse = with_all_axes(api_detail::read_field("lse", text), problem);
  if (lse.shape() != shape) {
    refuse("lse", "[B, Hq, Tq] of q, " + shape.to_string(), lse.shape().to_string());
  }
  if (lse.dtype() != DType::f32 && lse.dtype() != DType::f64) {
    refuse("lse", "f32 or f64", name_of(lse.dtype()));
  }
  return lse;
}

void check_lse(const std::string& source, const Tensor& lse, const AttentionProblem& problem, std::int64_t b,
               const std::vector<std::int64_t>& heads) {
  constexpr std::int64_t kFewPairs = 1 << 20;
  constexpr std::int64_t kSampled = 16;
  const std::int64_t Tq = problem.q.dim(2);
  const std::int64_t Tk = problem.k.dim(2);
  const std::int64_t rows = Tk == 0 || Tq <= kFewPairs / Tk ? Tq : std::min(Tq, kSampled);
  const Probe probe(problem.q, problem.k, problem.options);
  for (const std::int64_t h : heads) {
    const HeadCheck head(problem, probe, lse, {b, h});
    for (std::int64_t n = 0; n < rows; ++n) head.check(source, rows < 2 ? 0 : n * (Tq - 1) / (rows - 1));
  }
}

}  // namespace qkv::api_detail
