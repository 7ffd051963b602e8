#include "kernels/cpu/backward_worker.h"
#include "kernels/cpu/fma_gradients.h"
#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/simd_scalar.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/tile_loops.h"
#include "kernels/cpu/worker.h"

namespace qkv::kernels::cpu {

using ScalarWorker = Worker<InOrder<FmaProducts<scalar::Simd>>>;

constinit const Target scalar::kTarget = {.name = "scalar",
                                          .blocks_a_task = ScalarWorker::blocks_a_task,
                                          .worker_bytes = ScalarWorker::worker_bytes,
                                          .run = ScalarWorker::run,
                                          .merge = ScalarWorker::merge,
                                          .multiply = TileLoops<scalar::Simd>::multiply,
                                          .weigh = TileLoops<scalar::Simd>::weigh,
                                          .backward = backward_target<FmaGradients<scalar::Simd>>()};

}  // namespace qkv::kernels::cpu
