// A gated recurrent unit: one state of fixed size, changed by each token in turn (Cho et al. 2014, section 2.3).
#pragma once

#include <cstdint>

#include "qkv/nn/init.h"
#include "qkv/nn/parameters.h"

namespace qkv {

struct GruOptions {
  std::int64_t in = 0;     // Din
  std::int64_t width = 0;  // H, of the state
  DType dtype = DType::f32;
};

/// One step of the unit, as torch.nn.GRUCell has it. With (xr, xz, xn) = x Wx^T + bx and (hr, hz, hn) = h Wh^T + bh:
///   r = sigmoid(xr + hr), z = sigmoid(xz + hz), n = tanh(xn + r hn), next = n + z (h - n).
/// Parameters: x.weight [3 H, Din], h.weight [3 H, H], x.bias and h.bias [3 H]. A trace does not see it.
class GruCell {
 public:
  /// All four uniform on (-1/sqrt(H), 1/sqrt(H)), in this order: the numbers of torch.nn.GRUCell. Throws
  /// InvalidArgument naming in, width or dtype.
  GruCell(const GruOptions& options, const Init& init);

  /// x [B, Din] and the state h [B, H] -> the next state [B, H]. Throws InvalidArgument naming x or h.
  [[nodiscard]] Variable forward(const Variable& x, const Variable& h) const;
  [[nodiscard]] Parameters parameters() const;

  [[nodiscard]] std::int64_t in() const { return x_weight_.dim(1); }
  [[nodiscard]] std::int64_t width() const { return h_weight_.dim(1); }

 private:
  Variable x_weight_;
  Variable h_weight_;
  Variable x_bias_;
  Variable h_bias_;
};

}  // namespace qkv
