// For a build without oneDNN.
#include "kernels/product/onednn_product.h"

namespace qkv::kernels {

bool onednn_is_faster(DType /*dtype*/) { return false; }

void multiply_by_onednn(const MutableTensorView& /*out*/, const TensorView& /*a*/, const TensorView& /*b*/,
                        const TensorView* /*bias*/) {}

std::shared_ptr<const PackedWeight> onednn_weight(const TensorView& /*weight*/, DType /*dtype*/) { return nullptr; }

}  // namespace qkv::kernels
