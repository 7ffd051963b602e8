// The targets that this build holds: <name>::kTarget for each.
#pragma once

#include <cstdint>

#include "kernels/built_targets.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

#define QKV_DECLARE(name)      \
  namespace name {             \
  extern const Target kTarget; \
  }
QKV_BUILT_TARGETS(QKV_DECLARE)
#undef QKV_DECLARE

/// Up to how many queries a key head avx512vnni is the fastest target for bf16 queries over a cache of i8.
[[nodiscard]] std::int64_t most_queries_over_i8(const Forward& call);

}  // namespace qkv::kernels::cpu
