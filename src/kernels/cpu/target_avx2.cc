#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/worker.h"

namespace qkv::kernels::cpu {

using Avx2Worker = Worker<FmaProducts<avx2::Simd>>;

const Target kAvx2 = {.name = "avx2",
                      .blocks_a_task = Avx2Worker::blocks_a_task,
                      .worker_bytes = Avx2Worker::worker_bytes,
                      .run = Avx2Worker::run};

}  // namespace qkv::kernels::cpu
