// The loops of avx2vnni with AVX-512's form of its instruction, for machines that have that alone.
#include "kernels/product/quantised-inl.h"
#include "kernels/product/quantised_vectors_avx2vnni.h"

namespace qkv::kernels::quantised_test {
namespace {

struct Quantised : quantised::Avx2Vnni<Quantised> {};

}  // namespace

extern const QuantisedLoops kOtherForm;
constinit const QuantisedLoops kOtherForm = quantised::loops_of<Quantised>();

}  // namespace qkv::kernels::quantised_test
