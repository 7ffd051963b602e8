// The loops of one width of vectors: QKV_LOOPS names them, QKV_VECTOR_BYTES is the width.
#include "kernels/convert-inl.h"
#include "kernels/linear/linear-inl.h"
#include "kernels/product/few_rows-inl.h"
#include "kernels/product/panels-inl.h"
#include "kernels/vector_loops.h"

namespace qkv::kernels::QKV_LOOPS {

// NOLINTNEXTLINE(misc-definitions-in-headers): compiled once per width
constinit const VectorLoops kLoops = {.vectors = Vectors::QKV_LOOPS,
                                      .widen = widen,
                                      .narrow = narrow,
                                      .few_rows = few_rows,
                                      .panels = kPanels,
                                      .linear = linear::QKV_LOOPS::kLoops<float>};

}  // namespace qkv::kernels::QKV_LOOPS
