// What a pass leaves, read while it runs: one layer at a time, however many there are.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "qkv/nn/trace.h"

namespace qkv::insight {

/// Calls `read` when this layer of this stack has run, its attentions and values being in the trace, and then lets go
/// of the attentions, each of which keeps q, k, v and out.
void read_layer(Trace& trace, const std::string& stack, std::size_t layer, std::function<void()> read);

}  // namespace qkv::insight
