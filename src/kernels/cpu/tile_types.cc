#include "kernels/cpu/tile_types.h"

#include <algorithm>

#include "qkv/info.h"

namespace qkv::kernels::cpu {
namespace {

bool offers_f16() {
#if defined(QKV_EMULATE_TILES)
  return true;
#else
  static const bool kOffers = std::ranges::count(cpu_instructions(), "amx-fp16") > 0;
  return kOffers;
#endif
}

}  // namespace

bool tiles_multiply(DType dtype) { return dtype == DType::bf16 || (dtype == DType::f16 && offers_f16()); }

}  // namespace qkv::kernels::cpu
