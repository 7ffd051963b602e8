#include "kernels/cpu/beside.h"
#include "kernels/cpu/targets.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::cpu {

// Products with quantised weights; NEON does the rest.
namespace neoni8mm {
namespace {

struct Own {};

using Rest = LeftTo<neon::kTarget, Own>;

}  // namespace
}  // namespace neoni8mm

constinit const Target neoni8mm::kTarget = {.name = "neoni8mm",
                                           .blocks_a_task = neoni8mm::Rest::blocks_a_task,
                                           .worker_bytes = neoni8mm::Rest::worker_bytes,
                                           .run = neoni8mm::Rest::run,
                                           .merge = neoni8mm::Rest::merge,
                                           .multiply = neoni8mm::Rest::multiply,
                                           .weigh = neoni8mm::Rest::weigh,
                                           .backward = neoni8mm::Rest::backward(),
                                           .quantised = &kernels::neoni8mm::kQuantised};

}  // namespace qkv::kernels::cpu
