#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/simd_avx512.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/worker.h"

namespace qkv::kernels::cpu {

using Avx512Worker = Worker<FmaProducts<avx512::Simd>>;

const Target kAvx512 = {.name = "avx512",
                        .blocks_a_task = Avx512Worker::blocks_a_task,
                        .worker_bytes = Avx512Worker::worker_bytes,
                        .run = Avx512Worker::run};

}  // namespace qkv::kernels::cpu
