// Initial values of parameters.
#pragma once

#include "qkv/autograd/variable.h"
#include "qkv/random.h"

namespace qkv {

/// Layers ask for their parameters in a fixed order, that of parameters(). A generator draws them as PyTorch's layers
/// do; undrawn() leaves them to be assigned later: each is a single zero, broadcast to its shape, so that making a
/// model of any size takes no time and no memory. Cheap to copy. Every function throws InvalidArgument for a dtype that
/// is not floating.
class Init {
 public:
  /// The generator must outlive the layer's constructor.
  Init(Generator& generator) : generator_(&generator) {}  // NOLINT(google-explicit-constructor): pass a generator
  [[nodiscard]] static Init undrawn() { return Init(nullptr); }

  /// Uniform on (-bound, bound), as torch.nn.init.uniform_ draws: in f64 for f64, else in f32 and rounded.
  [[nodiscard]] Variable uniform(const Shape& shape, double bound, DType dtype) const;
  /// Normal about 0, as torch.nn.init.normal_ of deviation 1, times `deviation`.
  [[nodiscard]] Variable normal(const Shape& shape, double deviation, DType dtype) const;
  /// Draws nothing.
  [[nodiscard]] Variable constant(const Shape& shape, double value, DType dtype) const;

 private:
  explicit Init(Generator* generator) : generator_(generator) {}

  Generator* generator_;  // null: nothing is drawn
};

}  // namespace qkv
