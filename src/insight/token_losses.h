// The losses of tokens out of the states that the output map reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/product/packed_weight.h"
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

  /// What the map reads and gives at the places that ask.
  struct Known {
    Tensor rows;                 // [places, d_model], f32
    std::vector<Tensor> scores;  // of each piece of the map
  };
  /// Of one pass over `targets`: states [B, T, d_model]. Allocates the scores of all places and, the first time, a copy
  /// of the map in bf16.
  [[nodiscard]] Known known(const TensorView& states, const TensorView& targets);

  /// -log of the share of each target, summed over each of N texts: states [N, T, d_model] f32; targets [B, T] of i64
  /// stand there N / B times over, and those below 0 do not count.
  [[nodiscard]] std::vector<double> sums(const TensorView& states, const TensorView& targets) const;
  /// The same, the map multiplied only by how far states are from those of `known`, rounded to bf16
  /// (kernels/product/known_product.h), where the machine has such products.
  [[nodiscard]] std::vector<double> sums(const TensorView& states, const TensorView& targets, const Known& known) const;

 private:
  // Scores [rows, tokens] of piece `n`.
  using ScoresOf = std::function<Variable(const Variable& rows, std::size_t n)>;
  [[nodiscard]] std::vector<double> sums_of(const TensorView& states, const TensorView& targets,
                                            const ScoresOf& scores) const;
  TokenLosses(std::string states_name, const Variable& map, double factor);

  std::string states_name_;
  std::vector<Variable> pieces_;                                       // of the map's rows
  std::vector<std::shared_ptr<const kernels::PackedWeight>> rounded_;  // the same in bf16, once known() has run
  double factor_;
};

}  // namespace qkv::insight
