#include "kernels/cpu/amx_elements.h"
#include "kernels/product/quantised_tiles-inl.h"
#include "kernels/product/quantised_vectors_avx512.h"

namespace qkv::kernels::amx {
namespace {

struct Quantised : quantised::Avx512<Quantised>, cpu::amx::Registers {
  [[gnu::always_inline]] static const QuantisedLoops& others() { return avx512vnni::kQuantised; }
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::tile_loops_of<Quantised>();

}  // namespace qkv::kernels::amx
