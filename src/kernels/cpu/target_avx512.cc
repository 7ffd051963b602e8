#include "kernels/cpu/backward_worker.h"
#include "kernels/cpu/fma_gradients.h"
#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/register_row_products.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_avx512.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/tile_loops.h"
#include "kernels/cpu/workers.h"
#include "kernels/product/quantised_loops.h"
#include "kernels/vector_loops.h"

namespace qkv::kernels::cpu {

using Avx512FewWorkers =
    Either<Worker<InOrder<RegisterRowProducts<avx512::Simd>>>, Worker<InOrder<RowProducts<avx512::Simd>>>>;
using Avx512Workers = Workers<Worker<InOrder<FmaProducts<avx512::Simd>>>, Avx512FewWorkers>;

constinit const Target avx512::kTarget = {
    .name = "avx512",
    .blocks_a_task = Avx512Workers::blocks_a_task,
    .worker_bytes = Avx512Workers::worker_bytes,
    .run = Avx512Workers::run,
    .merge = Avx512Workers::merge,
    .multiply = TileLoops<avx512::Simd>::multiply,
    .weigh = TileLoops<avx512::Simd>::weigh,
    .backward = backward_target<FmaGradients<avx512::Simd>>(),
    .loops = &kernels::avx512::kLoops,
#if !defined(QKV_WITHOUT_QUANTISED)
    .quantised = &kernels::avx512::kQuantised,
#endif
};

}  // namespace qkv::kernels::cpu
