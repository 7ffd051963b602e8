#include "kernels/cpu/backward_worker.h"
#include "kernels/cpu/fma_gradients.h"
#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_neon.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/tile_loops.h"
#include "kernels/cpu/workers.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::cpu {

using NeonWorkers = Workers<Worker<InOrder<FmaProducts<neon::Simd>>>, Worker<InOrder<RowProducts<neon::Simd>>>>;

constinit const Target neon::kTarget = {.name = "neon",
                                        .blocks_a_task = NeonWorkers::blocks_a_task,
                                        .worker_bytes = NeonWorkers::worker_bytes,
                                        .run = NeonWorkers::run,
                                        .merge = NeonWorkers::merge,
                                        .multiply = TileLoops<neon::Simd>::multiply,
                                        .weigh = TileLoops<neon::Simd>::weigh,
                                        .backward = backward_target<FmaGradients<neon::Simd>>(),
                                        .quantised = &kernels::neon::kQuantised};

}  // namespace qkv::kernels::cpu
