#include "kernels/cpu/beside.h"
#include "kernels/cpu/targets.h"
#include "kernels/product/quantised_loops.h"

namespace qkv::kernels::cpu {

// Products with quantised weights; NEON does the rest.
namespace neondot {
namespace {

struct Own {};

using Rest = LeftTo<neon::kTarget, Own>;

}  // namespace
}  // namespace neondot

constinit const Target neondot::kTarget = {.name = "neondot",
                                           .blocks_a_task = neondot::Rest::blocks_a_task,
                                           .worker_bytes = neondot::Rest::worker_bytes,
                                           .run = neondot::Rest::run,
                                           .merge = neondot::Rest::merge,
                                           .multiply = neondot::Rest::multiply,
                                           .weigh = neondot::Rest::weigh,
                                           .backward = neondot::Rest::backward(),
                                           .quantised = &kernels::neondot::kQuantised};

}  // namespace qkv::kernels::cpu
