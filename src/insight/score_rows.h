// The likeliest token and the share of a token in each row of a model's scores, without a table of shares.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/insight/change.h"
#include "qkv/tensor.h"

namespace qkv::insight {

class ScoreRows {
 public:
  /// scores [T, vocabulary], of which the first `own` are tokens. Reads f32 and f64 in place while they are dense, and
  /// copies what is neither into f32. Shares are computed in f32, or in f64 for f64. Allocates three numbers a row.
  ScoreRows(const TensorView& scores, std::int64_t own);

  /// Whether no score is NaN or infinity; -infinity is the score of what cannot be said.
  [[nodiscard]] bool are_numbers() const;

  [[nodiscard]] std::int64_t size() const { return std::ssize(rows_); }
  /// The first of the largest that is a token.
  [[nodiscard]] std::int32_t likeliest(std::int64_t row) const { return at(row).likeliest; }
  [[nodiscard]] double share(std::int64_t row, std::int32_t token) const;
  [[nodiscard]] TokenScore score(std::int64_t row, std::int32_t token) const;

 private:
  struct Row {
    double most = 0;
    double sum = 0;  // of exp(score - most)
    std::int32_t likeliest = 0;
  };
  template <class Real>
  [[nodiscard]] static Row read(const Real* scores, std::int64_t width, std::int64_t own);
  [[nodiscard]] const Row& at(std::int64_t row) const { return rows_[static_cast<std::size_t>(row)]; }

  Tensor copied_;  // empty where the scores are read in place
  TensorView scores_;
  std::vector<Row> rows_;
};

}  // namespace qkv::insight
