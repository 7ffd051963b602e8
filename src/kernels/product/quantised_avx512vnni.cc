#include "kernels/product/quantised-inl.h"
#include "kernels/product/quantised_vectors_avx512.h"

namespace qkv::kernels::avx512vnni {
namespace {

// As text: GCC 12 moves the sums of its intrinsic from register to register.
struct Quantised : quantised::Avx512<Quantised> {
  [[gnu::always_inline]] static quantised::Ints dot(const quantised::Bytes& numbers, const quantised::Bytes& x) {
    quantised::Ints sums = {};
    add_dot(sums, numbers, x);
    return sums;
  }
  [[gnu::always_inline]] static void add_dot(quantised::Ints& sums, const quantised::Bytes& numbers,
                                             const quantised::Bytes& x) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(numbers), "vm"(x));
  }
  [[gnu::always_inline]] static void add_products(WideInts& sums, const WideBytes& numbers, const WideBytes& x) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(numbers), "vm"(x));
  }
  // Numbers from 0 to 255.
  static constexpr bool kTakesSigned = false;
};

}  // namespace

constinit const QuantisedLoops kQuantised = quantised::loops_of<Quantised>();

}  // namespace qkv::kernels::avx512vnni
