// Attention as anyone would first write it in f32: the measure of how much rounding is fair.
#pragma once

#include <span>
#include <vector>

#include "cases/scores.h"

namespace qkv::cases {

/// Refers to what it is made of.
struct PlainCall {
  MaskShape shape;
  std::int64_t Hk = 1;
  std::int64_t D = 1;
  std::int64_t Dv = 0;
  DType dtype = DType::f32;   // what weights and out are rounded to
  std::span<const double> q;  // [B, Hq, Tq, D]
  std::span<const double> k;  // [B, Hk, Tk, D]
  std::span<const double> v;  // [B, Hk, Tk, Dv]
  const AttentionOptions& options;
};

[[nodiscard]] inline PlainCall plain_call(const Case& one, const Inputs& inputs, const Numbers& numbers) {
  return {.shape = one.shape(),
          .Hk = one.Hk,
          .D = one.D,
          .Dv = one.Dv,
          .dtype = one.dtype,
          .q = numbers.q,
          .k = numbers.k,
          .v = numbers.v,
          .options = inputs.options};
}

struct PlainResult {
  std::vector<double> out;  // [B, Hq, Tq, Dv]
  std::vector<double> lse;  // [B, Hq, Tq]
};

/// One query after the other.
class PlainRow {
 public:
  explicit PlainRow(const PlainCall& call);

  /// Writes out [Dv], rounded to the storage type; returns lse.
  float run(const Row& row, double* out);
  /// The scores alone.
  void score(const Row& row);
  /// Weights of scores; returns lse.
  float weigh(const Row& row);

  // Of the query that was scored last, [Tk]:
  /// -inf where forbidden.
  [[nodiscard]] const std::vector<float>& scores() const { return x_; }
  /// After weigh(): they sum to 1, beside the sink's.
  [[nodiscard]] const std::vector<float>& weights() const { return weights_; }
  [[nodiscard]] float sink_weight() const { return sink_weight_; }
  /// What dropout multiplies weights by.
  [[nodiscard]] const std::vector<float>& kept() const { return kept_; }
  /// The derivative of the softcap.
  [[nodiscard]] const std::vector<float>& slopes() const { return slopes_; }
  [[nodiscard]] float scale() const { return scale_; }

 private:
  [[nodiscard]] const double* key_row(std::span<const double> rows, const Row& row, std::int64_t j,
                                      std::int64_t width) const;

  PlainCall call_;
  const AttentionOptions& options_;
  float scale_;
  std::vector<float> x_;
  std::vector<float> weights_;
  std::vector<float> kept_;
  std::vector<float> slopes_;
  std::vector<float> sums_;  // [Dv]
  float sink_weight_ = 0;
};

[[nodiscard]] PlainResult run_plain(const PlainCall& call);

/// `value` as the storage type holds it.
[[nodiscard]] float rounded(float value, DType dtype);

}  // namespace qkv::cases
