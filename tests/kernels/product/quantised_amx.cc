// The quantised products of the target amx with its tile unit done in plain arithmetic: what a machine without one can
// test. Needs AVX-512 with VNNI, for fewer rows.
#include "kernels/cpu/emulated_registers.h"
#include "kernels/product/quantised_tiles-inl.h"
#include "kernels/product/quantised_vectors_avx512.h"

namespace qkv::kernels::quantised_test {
namespace amx {
namespace {

struct Quantised : quantised::Avx512<Quantised>, cpu::amx::EmulatedRegisters {
  [[gnu::always_inline]] static const QuantisedLoops& others() { return avx512vnni::kQuantised; }
};

}  // namespace
}  // namespace amx

extern const QuantisedLoops kEmulatedTiles;
constinit const QuantisedLoops kEmulatedTiles = quantised::tile_loops_of<amx::Quantised>();

}  // namespace qkv::kernels::quantised_test
