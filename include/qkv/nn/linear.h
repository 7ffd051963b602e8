// y = x W^T + b.
#pragma once

#include <cstdint>

#include "qkv/nn/init.h"
#include "qkv/nn/parameters.h"

namespace qkv {

struct LinearOptions {
  std::int64_t in = 0;   // Din
  std::int64_t out = 0;  // Dout
  bool bias = true;
  DType dtype = DType::f32;
};

/// An affine map of the last axis. The weight is [Dout, Din], as PyTorch and its checkpoints keep it. Parameters:
/// weight and, if it has one, bias. Copies of a layer share its parameters; this holds for all layers.
class Linear {
 public:
  /// Weight and then bias uniform on (-1/sqrt(Din), 1/sqrt(Din)): the same numbers as torch.nn.Linear draws from the
  /// same generator. Throws InvalidArgument naming in or out if it is not positive, or dtype if it is not floating.
  Linear(const LinearOptions& options, const Init& init);
  /// Weight [Dout, Din], bias [Dout] or empty. Throws InvalidArgument naming weight or bias.
  explicit Linear(Variable weight, Variable bias = {});

  /// x [..., Din] -> [..., Dout], as linear() of autograd/matmul.h. Throws InvalidArgument naming x.
  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;

  [[nodiscard]] std::int64_t in() const { return weight_.dim(1); }
  [[nodiscard]] std::int64_t out() const { return weight_.dim(0); }
  [[nodiscard]] const Variable& weight() const noexcept { return weight_; }
  /// Empty if there is none.
  [[nodiscard]] const Variable& bias() const noexcept { return bias_; }

 private:
  Variable weight_;
  Variable bias_;
};

}  // namespace qkv
