// What ranks have, put together on rank 0 and told to all.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "qkv/cluster/transport.h"
#include "qkv/tensor.h"

namespace qkv::cluster {

/// Up a binomial tree to rank 0: a rank takes what those behind it have, the nearest first, and then sends its own.
/// `own` gives a message of `bytes` bytes.
void send_up(Transport& transport, int tag, std::size_t bytes, const std::function<std::vector<std::byte>()>& own,
             const std::function<void(const std::vector<std::byte>&)>& take);

/// Adds up dense f64 tensors of the same shapes over all ranks, in a binomial tree: the same bits on every rank, which
/// depend on the number of ranks alone.
void sum_over_ranks(Transport& transport, std::vector<Tensor>& tensors);

}  // namespace qkv::cluster
