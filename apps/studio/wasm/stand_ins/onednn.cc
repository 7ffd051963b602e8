// No product by oneDNN: autograd's own loops do all of them.
#include "autograd/onednn.h"

namespace qkv::autograd {

bool onednn_has_f16() { return false; }
std::size_t onednn_packed_bytes(const ProductShape& /*shape*/) { return 0; }
void onednn_pack(const ProductShape& /*shape*/, const void* /*b*/, void* /*packed*/) {}
bool onednn_multiply(const ProductShape& /*shape*/, const void* /*a*/, const void* /*b*/, const void* /*bias*/,
                     void* /*c*/) {
  return false;
}

}  // namespace qkv::autograd
