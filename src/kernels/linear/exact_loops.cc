// Compiled without fusing products and sums: the digits of f64 are the same on every machine.
#define QKV_LOOPS exact
#define QKV_VECTOR_BYTES 16
#include "kernels/linear/linear-inl.h"
#include "kernels/vector_loops.h"

namespace qkv::kernels::linear {

template <>
const Loops<float>& loops_for<float>() {
  return chosen_loops().linear;
}

template <>
const Loops<double>& loops_for<double>() {
  return exact::kLoops<double>;
}

}  // namespace qkv::kernels::linear
