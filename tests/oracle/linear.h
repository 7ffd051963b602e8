// y = x W^T + b.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/tensor.h"

namespace qkv::oracle {

/// Weight [Dout, Din], bias [Dout] or none.
struct Linear {
  Tensor weight;
  std::optional<Tensor> bias = std::nullopt;

  /// x [..., Din] -> [..., Dout] in the dtype of `x`: f64 sums, bias included, rounded once. The weights may have
  /// another dtype.
  [[nodiscard]] Tensor forward(const TensorView& x) const;

  /// The map of outputs [begin, end) alone: one head of a packed projection. Copies the rows of the weight.
  [[nodiscard]] Linear slice(std::int64_t begin, std::int64_t end) const;
};

}  // namespace qkv::oracle
