#include "kernels/product/quantised-inl.h"
#include "kernels/product/quantised_vectors_avx2.h"

namespace qkv::kernels::avx2 {
namespace {

struct Quantised : quantised::Avx2<Quantised> {};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::loops_of<Quantised>();

}  // namespace qkv::kernels::avx2
