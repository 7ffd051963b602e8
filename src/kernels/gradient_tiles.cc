#include "kernels/gradient_tiles.h"

#include <limits>
#include <type_traits>

#include "kernels/lse_rounding.h"

namespace qkv::kernels {
namespace {

template <class Real>
constexpr Real kForbidden = -std::numeric_limits<Real>::infinity();

}  // namespace

template <class Real>
GradientTiles<Real>::GradientTiles(const BackwardProblem& problem, const cpu::Target* target, const LseRows& lse)
    : problem_(problem),
      scores_(problem.problem, target),
      d_products_(problem.problem.v.dim(3), target),
      row_delta_(problem),
      lse_(lse) {}

template <class Real>
void GradientTiles<Real>::set_queries(std::int64_t b, std::int64_t h, std::int64_t i_begin, std::int64_t i_end) {
  b_ = b;
  key_head_ = h / problem_.problem.group;
  scores_.set_queries(b, h, i_begin, i_end);
  d_products_.set_queries(problem_.d_out, b, h, i_begin, i_end);
  std::array<double, kTile> lse{};
  lse_.read(scores_, b, h, i_begin, std::span(lse).first(static_cast<std::size_t>(queries())));
  set_scale(scores_, problem_.problem, h, lse, scale_);
  for (std::int64_t n = 0; n < queries(); ++n) {
    delta_[static_cast<std::size_t>(n)] = static_cast<Real>(row_delta_.of(b, h, i_begin + n));
  }
}

template <class Real>
bool GradientTiles<Real>::set_keys(const KeyRange& keys) {
  range_ = keys;
  return scores_.set_keys(keys);
}

template <class Real>
void GradientTiles<Real>::compute() {
  scores_.scores(Stage::masked, masked_);
  scores_.weigh(scale_, masked_, d_scores_);
  d_products_.set_keys(problem_.problem.v, b_, key_head_, range_);
  d_products_.multiply(d_weights_);
  scores_.drop_gradients(d_weights_);
  for (std::int64_t c = 0; c < keys(); ++c) {
    const Real* masked = masked_.data() + c * kTile;
    Real* d_weights = d_weights_.data() + c * kTile;
    Real* d_scores = d_scores_.data() + c * kTile;  // holds the weights until here
    for (std::size_t n = 0; n < kTile; ++n) {
      const Real d_score = d_scores[n] * (d_weights[n] - delta_[n]);
      d_scores[n] = masked[n] == kForbidden<Real> ? 0 : d_score;
      d_weights[n] = masked[n] == kForbidden<Real> ? 0 : d_weights[n];
    }
  }
}

template <class Real>
const ScoreTile<Real>& GradientTiles<Real>::by(Stage stage) {
  compute();
  if (stage == Stage::weights) return d_weights_;
  if (stage == Stage::dropped) {
    d_products_.multiply(d_weights_);
    for (std::size_t n = 0; n < d_weights_.size(); ++n) {
      if (masked_[n] == kForbidden<Real>) d_weights_[n] = 0;
    }
    return d_weights_;
  }
  if (stage <= Stage::scaled && problem_.problem.softcap) pass_softcap();
  if (stage == Stage::raw) {
    const double given = problem_.problem.scale;
    const auto scale = std::is_same_v<Real, double> ? static_cast<Real>(given) : static_cast<Real>(stored_scale(given));
    for (Real& d_score : d_scores_) d_score *= scale;
  }
  return d_scores_;
}

template <class Real>
void GradientTiles<Real>::pass_softcap() {
  ScoreTile<Real>& softcapped = d_weights_;
  scores_.scores(Stage::softcapped, softcapped);
  const auto cap = static_cast<Real>(*problem_.problem.softcap);
  for (std::size_t n = 0; n < d_scores_.size(); ++n) {
    const Real share = softcapped[n] / cap;
    const Real d_scaled = d_scores_[n] * (1 - share * share);
    d_scores_[n] = masked_[n] == kForbidden<Real> ? 0 : d_scaled;
  }
}

template class GradientTiles<float>;
template class GradientTiles<double>;

}  // namespace qkv::kernels
