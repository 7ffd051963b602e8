// Arrays of a call, brought to four axes.
#pragma once

#include "arrays.h"
#include "qkv/attention.h"

namespace qkv::python {

/// q, k and v of [B, H, T, D], or of [H, T, D] or [T, D], which stand for B = 1, and B = H = 1.
class Inputs {
 public:
  Inputs(std::string_view function, nb::handle q, std::string_view name = "q")
      : function_(function), source_(q), q_(tensor_of(q, {function, name})) {
    rank_ = q_.rank();
    if (rank_ < 2 || rank_ > 4) {
      throw InvalidArgument(function, name, "[B, Hq, Tq, D], [Hq, Tq, D] or [Tq, D]", q_.shape().to_string());
    }
    q_ = with_four_axes(std::move(q_));
  }

  [[nodiscard]] const Tensor& q() const { return q_; }

  /// An array of the call with as many axes as q, or `fewer`: lse has one axis less. Given back with four, or four
  /// less.
  [[nodiscard]] Tensor read(nb::handle array, std::string_view name, int fewer = 0) const {
    Tensor tensor = tensor_of(array, {function_, name});
    if (tensor.rank() != rank_ - fewer) {
      throw InvalidArgument(function_, name, std::to_string(rank_ - fewer) + " axes, to go with q",
                            tensor.shape().to_string());
    }
    return with_four_axes(std::move(tensor));
  }

  /// The shape that masks and biases stand over.
  [[nodiscard]] MaskShape shape(const Tensor& k) const {
    return {.B = q_.dim(0), .H = q_.dim(1), .Tq = q_.dim(2), .Tk = k.dim(2)};
  }

  /// A result as q came: the same library, the same number of axes.
  [[nodiscard]] nb::object give(Tensor tensor) const {
    const int missing = 4 - rank_;
    if (missing > 0 && !tensor.empty()) {
      Shape shape = tensor.shape();
      for (int n = 0; n < missing; ++n) shape = shape.without(0);
      tensor = std::move(tensor).reshaped(shape);
    }
    return array_like(source_, std::move(tensor));
  }

  /// A result that has no axes of the batch, as q came.
  [[nodiscard]] nb::object give_whole(Tensor tensor) const { return array_like(source_, std::move(tensor)); }

 private:
  [[nodiscard]] Tensor with_four_axes(Tensor tensor) const {
    for (int n = rank_; n < 4; ++n) tensor = tensor.unsqueeze(0);
    return tensor;
  }

  std::string_view function_;
  nb::handle source_;
  Tensor q_;
  int rank_ = 4;
};

}  // namespace qkv::python
