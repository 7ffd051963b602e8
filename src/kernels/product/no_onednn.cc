// No product by oneDNN: product.cc's own loops do all of them. For a page, and for a build of the engine alone.
#include "kernels/product/onednn.h"

namespace qkv::kernels {

std::size_t onednn_packed_bytes(const ProductShape& /*shape*/) { return 0; }
void onednn_pack(const ProductShape& /*shape*/, const void* /*b*/, void* /*packed*/) {}
bool onednn_multiply(const ProductShape& /*shape*/, const void* /*a*/, const void* /*b*/, const void* /*bias*/,
                     void* /*c*/) {
  return false;
}

DType product_dtype(DType dtype) { return dtype == DType::f64 ? dtype : DType::f32; }

}  // namespace qkv::kernels
