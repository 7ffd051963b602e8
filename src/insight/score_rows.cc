#include "insight/score_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/rows.h"
#include "autograd/special.h"
#include "core/exact_math.h"
#include "core/parallel.h"
#include "qkv/threads.h"

namespace qkv::insight {
namespace {

bool is_read_in_place(const TensorView& scores) {
  return (scores.dtype() == DType::f32 || scores.dtype() == DType::f64) && scores.strides()[1] == 1;
}

}  // namespace

template <class Real>
ScoreRows::Row ScoreRows::read(const Real* scores, std::int64_t width, std::int64_t own) {
  constexpr Real kLowest = -std::numeric_limits<Real>::infinity();
  Real all = kLowest, tokens = kLowest, sum = 0;
  autograd::vectorised<Real>([&]() QKV_INLINED {
    const auto score = [&](std::int64_t n) QKV_INLINED { return scores[n]; };
    all = autograd::largest_of(width, kLowest, score);
    tokens = own < width ? autograd::largest_of(own, kLowest, score) : all;
    const Real most = all == kLowest ? Real{0} : all;
    sum = autograd::sum_of<Real>(width,
                                 [&](std::int64_t n) QKV_INLINED { return autograd::exponential(scores[n] - most); });
  });
  return {.most = all == kLowest ? 0.0 : static_cast<double>(all),
          .sum = static_cast<double>(sum),
          .likeliest = static_cast<std::int32_t>(std::find(scores, scores + own, tokens) - scores)};
}

ScoreRows::ScoreRows(const TensorView& scores, std::int64_t own)
    : copied_(is_read_in_place(scores) ? Tensor() : Tensor(scores, DType::f32)),
      scores_(is_read_in_place(scores) ? scores : copied_.view()),
      rows_(static_cast<std::size_t>(scores.dim(0))) {
  const std::int64_t width = scores_.dim(1);
  const std::int64_t tokens = std::min(own, width);
  core::parallel_for(threads(), size(), [&](int /*worker*/, std::int64_t row) {
    const TensorView one = scores_.select(0, row);
    rows_[static_cast<std::size_t>(row)] = scores_.dtype() == DType::f64 ? read(one.data_as<double>(), width, tokens)
                                                                         : read(one.data_as<float>(), width, tokens);
  });
}

bool ScoreRows::are_numbers() const {
  return std::ranges::none_of(rows_, [](const Row& row) { return std::isnan(row.sum); });
}

double ScoreRows::share(std::int64_t row, std::int32_t token) const {
  const Row& of = at(row);
  return of.sum == 0 ? 0 : core::exp(scores_.at({row, token}) - of.most) * (1 / of.sum);
}

TokenScore ScoreRows::score(std::int64_t row, std::int32_t token) const {
  const std::vector<double> all = scores_.select(0, row).to_vector();
  const double own = all[static_cast<std::size_t>(token)];
  const auto above = std::ranges::count_if(all, [own](double score) { return score > own; });
  return {.logit = own, .probability = share(row, token), .rank = 1 + above};
}

}  // namespace qkv::insight
