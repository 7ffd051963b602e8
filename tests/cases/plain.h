// Attention as anyone would first write it in f32: the measure of how much rounding is fair.
#pragma once

#include <vector>

#include "cases/scores.h"

namespace qkv::cases {

struct PlainResult {
  std::vector<double> out;
  std::vector<double> lse;
};

/// One query after the other.
class PlainRow {
 public:
  PlainRow(const Case& one, const Inputs& inputs, const Numbers& numbers);

  /// Writes out [Dv], rounded to the storage type; returns lse.
  float run(const Row& row, double* out);
  /// The scores alone.
  void score(const Row& row);

  // Of the query that was scored last, [Tk]:
  /// -inf where forbidden.
  [[nodiscard]] const std::vector<float>& scores() const { return x_; }
  /// What dropout multiplies weights by.
  [[nodiscard]] const std::vector<float>& kept() const { return kept_; }
  /// The derivative of the softcap.
  [[nodiscard]] const std::vector<float>& slopes() const { return slopes_; }
  [[nodiscard]] float scale() const { return scale_; }

 private:
  float weigh(const Row& row);

  const Case& one_;
  const AttentionOptions& options_;
  const Numbers& numbers_;
  float scale_;
  std::vector<float> x_;
  std::vector<float> weights_;
  std::vector<float> kept_;
  std::vector<float> slopes_;
};

[[nodiscard]] PlainResult run_plain(const Case& one, const Inputs& inputs, const Numbers& numbers);

/// `value` as the storage type holds it.
[[nodiscard]] float rounded(float value, DType dtype);

}  // namespace qkv::cases
