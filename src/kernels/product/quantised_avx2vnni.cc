#include "kernels/product/quantised-inl.h"
#include "kernels/product/quantised_vectors_avx2vnni.h"

namespace qkv::kernels::avx2vnni {
namespace {

struct Quantised : quantised::Avx2Vnni<Quantised> {};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::loops_of<Quantised>();

}  // namespace qkv::kernels::avx2vnni
