// No product by oneDNN: autograd's own loops do all of them. Also where the tests build the engine alone.
#include "autograd/onednn.h"

namespace qkv::autograd {

std::size_t onednn_packed_bytes(const ProductShape& /*shape*/) { return 0; }
void onednn_pack(const ProductShape& /*shape*/, const void* /*b*/, void* /*packed*/) {}
bool onednn_multiply(const ProductShape& /*shape*/, const void* /*a*/, const void* /*b*/, const void* /*bias*/,
                     void* /*c*/) {
  return false;
}

DType product_dtype(DType dtype) { return dtype == DType::f64 ? dtype : DType::f32; }

}  // namespace qkv::autograd
