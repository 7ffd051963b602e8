// The losses of tokens out of the states that the output map reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/model/model.h"

namespace qkv::insight {

/// Multiplies some rows of the output map at a time, so that the scores of a large vocabulary stay in the caches and
/// are never whole. Keeps a copy of the map as products like it best.
class TokenLosses {
 public:
  /// Of a decoder alone. None where whole scores cost little, or are more than a product of f32: a small vocabulary, a
  /// bias, a cap.
  [[nodiscard]] static std::optional<TokenLosses> of(const Model& model);

  /// Where a trace has what the map reads.
  [[nodiscard]] const std::string& states_name() const { return states_name_; }

  /// -log of the share of each target, summed over each of N texts: states [N, T, d_model] f32; targets [B, T] of i64
  /// stand there N / B times over, and those below 0 do not count.
  [[nodiscard]] std::vector<double> sums(const TensorView& states, const TensorView& targets) const;

 private:
  TokenLosses(std::string states_name, const Variable& map, double factor);

  std::string states_name_;
  std::vector<Variable> pieces_;  // of the map's rows
  double factor_;
};

}  // namespace qkv::insight
