// Sums over ranks.
#pragma once

#include <vector>

#include "qkv/cluster/transport.h"
#include "qkv/tensor.h"

namespace qkv::cluster {

/// Adds up dense f64 tensors of the same shapes over all ranks, in a binomial tree: the same bits on every rank, which
/// depend on the number of ranks alone.
void sum_over_ranks(Transport& transport, std::vector<Tensor>& tensors);

}  // namespace qkv::cluster
