#include "kernels/cpu/backward_worker.h"
#include "kernels/cpu/fma_gradients.h"
#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_wasm.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/tile_loops.h"
#include "kernels/cpu/workers.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::cpu {

using WasmWorkers = Workers<Worker<InOrder<FmaProducts<wasm::Simd>>>, Worker<InOrder<RowProducts<wasm::Simd>>>>;

constinit const Target simd128::kTarget = {.name = "simd128",
                                           .blocks_a_task = WasmWorkers::blocks_a_task,
                                           .worker_bytes = WasmWorkers::worker_bytes,
                                           .run = WasmWorkers::run,
                                           .merge = WasmWorkers::merge,
                                           .multiply = TileLoops<wasm::Simd>::multiply,
                                           .weigh = TileLoops<wasm::Simd>::weigh,
                                           .backward = backward_target<FmaGradients<wasm::Simd>>(),
                                           .quantised = &kernels::simd128::kQuantised};

}  // namespace qkv::kernels::cpu
