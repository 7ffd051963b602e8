// A weight laid out for products, kept as long as the weight is not written.
#pragma once

#include <memory>
#include <vector>

#include "autograd/onednn.h"
#include "autograd/storage.h"

namespace qkv::autograd {

/// The columns of weight^T in a piece for each thread, as oneDNN likes it best for a middling number of rows. Holds the
/// weight's size in the dtype of the products.
class PackedWeight {
  struct Secret {};

 public:
  /// That of a dense weight [N, K] for products in this dtype, which its storage keeps. Packing takes as long as a few
  /// products, so it is done when a weight is asked for the second time since it was written. Null the first time, and
  /// where oneDNN has no such product.
  [[nodiscard]] static std::shared_ptr<const PackedWeight> of(const Value& weight, DType dtype);

  PackedWeight(Secret secret, const Value& weight, DType dtype);

  /// out [M, N], dense, of the dtype of x, = x [M, K] weight^T + bias [N], dense, of f32 or the dtype of x; null for
  /// none. Allocates, for each thread, its piece of rows; where x is not of the products' dtype, copies of x and out.
  void multiply(Value& out, const TensorView& x, const Value* bias) const;

 private:
  struct Piece {
    std::int64_t column;
    ProductShape shape;  // of any M
    Value laid;
  };

  enum class State : std::uint8_t { met, packed, impossible };

  void pack(const Value& weight);
  void multiply_in_own(Value& out, const TensorView& x, const Value* bias) const;

  State state_ = State::met;
  std::uint64_t version_;  // of the weight's storage
  DType dtype_;
  std::vector<Piece> pieces_;
};

}  // namespace qkv::autograd
