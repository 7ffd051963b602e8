#include "kernels/product/quantised-inl.h"
#include "kernels/product/quantised_vectors_avx2.h"

namespace qkv::kernels::avx2 {
namespace {

struct Quantised : quantised::Avx2<Quantised> {
  // Bytes of the weight, of few rows: Zen 3's own prefetchers stop at the end of a page. Zen 4 is as fast without.
  static constexpr std::int64_t kFetchedAhead = 4096;
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::loops_of<Quantised>();

}  // namespace qkv::kernels::avx2
