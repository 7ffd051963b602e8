// y = x W^T + b.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/random.h"
#include "qkv/tensor.h"

namespace qkv {

struct LinearOptions {
  std::int64_t in = 0;   // Din
  std::int64_t out = 0;  // Dout
  bool bias = true;
  DType dtype = DType::f32;
};

/// An affine map of the last axis. The weight is [Dout, Din], as PyTorch and its checkpoints keep it.
class Linear {
 public:
  /// Weight and then bias uniform on (-1/sqrt(Din), 1/sqrt(Din)): the same numbers as torch.nn.Linear draws from the
  /// same generator. Throws InvalidArgument naming in or out where it is not positive, or dtype where not floating.
  Linear(const LinearOptions& options, Generator& generator);

  /// Weight [Dout, Din], bias [Dout] or none. Throws InvalidArgument naming weight or bias.
  explicit Linear(Tensor weight, std::optional<Tensor> bias = std::nullopt);

  /// x [..., Din] -> [..., Dout] in the dtype of `x`: f64 sums, bias included, rounded once. The weights may have
  /// another dtype. Throws InvalidArgument naming x. Allocates as matmul() does.
  [[nodiscard]] Tensor forward(const TensorView& x) const;

  /// The map of outputs [begin, end) alone: one head of a packed projection. Copies the rows of the weight.
  [[nodiscard]] Linear slice(std::int64_t begin, std::int64_t end) const;

  [[nodiscard]] std::int64_t in() const { return weight_.dim(1); }
  [[nodiscard]] std::int64_t out() const { return weight_.dim(0); }
  [[nodiscard]] const Tensor& weight() const noexcept { return weight_; }
  [[nodiscard]] const std::optional<Tensor>& bias() const noexcept { return bias_; }

 private:
  Tensor weight_;
  std::optional<Tensor> bias_;
};

}  // namespace qkv
