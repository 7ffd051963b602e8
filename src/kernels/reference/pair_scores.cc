#include "kernels/reference/pair_scores.h"

#include <array>
#include <cmath>

#include "core/exact_math.h"
#include "mask/bias_node.h"

namespace qkv::kernels::reference {

PairScores::PairScores(const Problem& problem)
    : problem_(problem),
      q_(static_cast<std::size_t>(problem.q.dim(-1))),
      k_(static_cast<std::size_t>(problem.k.dim(-1))) {}

void PairScores::set_query(std::int64_t b, std::int64_t h, std::int64_t i) {
  b_ = b;
  h_ = h;
  i_ = i;
  problem_.q.load_row(std::array{b, h, i}, q_);
}

double PairScores::bias(std::int64_t j) const {
  return bias_detail::as_taken(problem_.bias.at(place(j), problem_.shape), problem_.q.dtype());
}

bool PairScores::hides(std::int64_t j, double bias) const {
  return bias == -INFINITY || !problem_.mask.allows(place(j), problem_.shape);
}

PairScore PairScores::score(std::int64_t j, double bias) {
  problem_.k.load_row(std::array{b_, h_ / problem_.group, j}, k_);
  double raw = 0;
  double terms = 0;
  for (std::size_t d = 0; d < q_.size(); ++d) {
    const double term = q_[d] * k_[d];
    raw += term;
    terms += std::fabs(term);
  }
  const double scaled = problem_.scale * raw;
  const double softcapped = problem_.softcap ? *problem_.softcap * core::tanh(scaled / *problem_.softcap) : scaled;
  return {.raw = raw,
          .scaled = scaled,
          .softcapped = softcapped,
          .biased = softcapped + bias,
          .terms = std::fabs(problem_.scale) * terms};
}

bool PairScores::drops(std::int64_t j) const {
  return problem_.dropout && !dropout_keeps(problem_.dropout->seed, problem_.dropout->p, problem_.whole(b_, h_, i_, j));
}

}  // namespace qkv::kernels::reference
