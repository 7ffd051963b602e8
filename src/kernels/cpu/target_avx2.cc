#include "kernels/cpu/backward_worker.h"
#include "kernels/cpu/fma_gradients.h"
#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/tile_loops.h"
#include "kernels/cpu/workers.h"
#include "kernels/product/quantised_loops.h"
#include "kernels/vector_loops.h"

namespace qkv::kernels::cpu {

using Avx2Workers = Workers<Worker<InOrder<FmaProducts<avx2::Simd>>>, Worker<InOrder<RowProducts<avx2::Simd>>>>;

constinit const Target avx2::kTarget = {
    .name = "avx2",
    .blocks_a_task = Avx2Workers::blocks_a_task,
    .worker_bytes = Avx2Workers::worker_bytes,
    .run = Avx2Workers::run,
    .merge = Avx2Workers::merge,
    .multiply = TileLoops<avx2::Simd>::multiply,
    .weigh = TileLoops<avx2::Simd>::weigh,
    .backward = backward_target<FmaGradients<avx2::Simd>>(),
    .loops = &kernels::avx2::kLoops,
#if !defined(QKV_WITHOUT_QUANTISED)
    .quantised = &kernels::avx2::kQuantised,
#endif
};

}  // namespace qkv::kernels::cpu
