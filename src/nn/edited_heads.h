// Heads whose scores or weights a trace changes: plain products in place of the fused path, for those heads alone.
#pragma once

#include <string>

#include "nn/trace_record.h"
#include "qkv/autograd/attention.h"

namespace qkv::nn {

/// run.out [B, Hq, Tq, Dv] with the edited heads' rows made anew; leaves the edited matrices in the record.
[[nodiscard]] Variable with_edited_heads(trace_detail::Record& record, const std::string& attention, const Variable& q,
                                         const Variable& k, const Variable& v, const AttentionRun& run);

}  // namespace qkv::nn
