// What the tolerance of a row follows from: its scores, how large their terms are, and the values that it sees.
#pragma once

#include <limits>
#include <vector>

#include "cases/inputs.h"

namespace qkv::cases {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// q, k, v of a case as plain numbers.
struct Numbers {
  explicit Numbers(const Inputs& inputs);

  std::vector<double> q;  // [B, Hq, Tq, D]
  std::vector<double> k;  // [B, Hk, Tk, D]
  std::vector<double> v;  // [B, Hk, Tk, Dv]
};

struct Row {
  std::int64_t b = 0;
  std::int64_t h = 0;
  std::int64_t i = 0;
};

/// The softmax weights, in f64, of one query, before dropout.
struct RowScores {
  std::vector<double> x;        // [Tk], masked: -inf where forbidden
  std::vector<double> dropped;  // [Tk], the weights after dropout
  double size = 0;              // the largest sum of |scale q_d k_d| plus |bias| of a visible pair, softcap left out
  double raw_size = 0;          // the same of |q_d k_d| alone
  double value = 0;             // the largest finite |v| of a visible key
};

/// Everything about a row that a bound on its error needs.
class ScoreReader {
 public:
  ScoreReader(const Case& one, const Inputs& inputs, const Numbers& numbers);

  [[nodiscard]] const RowScores& read(const Row& row);

 private:
  double score(const Row& row, std::int64_t j, double bias);
  void weigh(const Row& row);

  const Case& one_;
  const AttentionOptions& options_;
  const Numbers& numbers_;
  double scale_;
  std::vector<double> values_;  // [B, Hk, Tk], the largest finite |v| of each key
  RowScores scores_;
};

template <class Body>
void for_each_row(const Case& one, const Body& body) {
  for (std::int64_t b = 0; b < one.B; ++b) {
    for (std::int64_t h = 0; h < one.Hq(); ++h) {
      for (std::int64_t i = 0; i < one.Tq; ++i) body(Row{.b = b, .h = h, .i = i});
    }
  }
}

/// Where row `t` of head `h` starts in [B, H, T, width].
[[nodiscard]] inline std::size_t place_of(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t H,
                                          std::int64_t T, std::int64_t width) {
  return static_cast<std::size_t>(((b * H + h) * T + t) * width);
}

}  // namespace qkv::cases
