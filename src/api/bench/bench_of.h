// The bench that a request asks for.
#pragma once

#include "api/studio/studio_questions.h"
#include "qkv/api/bench.h"
#include "qkv/explain/bench.h"

namespace qkv::api_detail {

/// Throws InvalidArgument naming the field.
[[nodiscard]] Bench bench_of(StudioState& state, const BenchRequest& request);

}  // namespace qkv::api_detail
