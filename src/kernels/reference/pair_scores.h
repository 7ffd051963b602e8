// The score of one pair, step by step, in float64.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/problem.h"

namespace qkv::kernels::reference {

struct PairScore {
  double raw = 0;
  double scaled = 0;
  double softcapped = 0;
  double biased = 0;
  double terms = 0;  // sum of |scale q_d k_d|
};

/// The scores of one query after the other.
class PairScores {
 public:
  explicit PairScores(const Problem& problem);

  /// `b` indexes the batch entries of q.
  void set_query(std::int64_t b, std::int64_t h, std::int64_t i);

  [[nodiscard]] double bias(std::int64_t j) const;
  /// True if the mask or a bias of -inf hides the pair.
  [[nodiscard]] bool hides(std::int64_t j, double bias) const;
  /// Reads k[j].
  [[nodiscard]] PairScore score(std::int64_t j, double bias);
  [[nodiscard]] bool drops(std::int64_t j) const;

  [[nodiscard]] std::span<const double> q() const { return q_; }
  /// Of the pair scored last.
  [[nodiscard]] std::span<const double> k() const { return k_; }

 private:
  // As masks and biases count.
  [[nodiscard]] Place place(std::int64_t j) const { return {problem_.first_b + b_, h_, i_, j}; }

  const Problem& problem_;
  std::int64_t b_ = 0;
  std::int64_t h_ = 0;
  std::int64_t i_ = 0;
  std::vector<double> q_;
  std::vector<double> k_;
};

}  // namespace qkv::kernels::reference
