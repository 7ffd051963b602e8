// A packed weight, kept as long as the weight is not written.
#pragma once

#include <cstdint>
#include <memory>

#include "autograd/storage.h"
#include "kernels/product/packed_weight.h"

namespace qkv::autograd {

class KeptWeight {
  struct Secret {};

 public:
  /// A dense weight [N, K] packed for products in this dtype, which its storage keeps. Packing takes as long as a few
  /// products, so it is done when a weight is asked for the second time since it was written. Null the first time.
  [[nodiscard]] static std::shared_ptr<const kernels::PackedWeight> of(const Value& weight, DType dtype);

  KeptWeight(Secret /*secret*/, const Value& weight, DType dtype)
      : version_(weight.storage->version()), dtype_(dtype) {}

 private:
  std::uint64_t version_;  // of the weight's storage
  DType dtype_;
  std::shared_ptr<const kernels::PackedWeight> packed_;
};

}  // namespace qkv::autograd
