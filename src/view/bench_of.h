// The bench that a request asks for.
#pragma once

#include "qkv/explain/bench.h"
#include "qkv/view/bench.h"
#include "view/studio_questions.h"

namespace qkv::view_detail {

/// Throws InvalidArgument naming the field.
[[nodiscard]] Bench bench_of(StudioState& state, const BenchRequest& request);

}  // namespace qkv::view_detail
