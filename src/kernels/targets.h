// The target that serves a call.
#pragma once

#include <string_view>

#include "qkv/dtype.h"

namespace qkv::kernels::cpu {

struct SplitLoops;

}  // namespace qkv::kernels::cpu

namespace qkv::kernels {

/// The name of the target that a call on `dtype` runs on: `wanted`, or the chosen one (cpu_targets) where `wanted` is
/// empty; f64 always runs on "reference". Throws InvalidArgument naming `function` and target for one that is unknown,
/// not compiled in or not possible here, and as cpu_targets() does. The machine is queried once; nothing is
/// allocated.
[[nodiscard]] std::string_view target_for(std::string_view function, DType dtype, std::string_view wanted);

/// The name of the target whose kernels run attention on q, k and v of `dtype` when `target` is asked for: itself, or
/// the first along its substitutes (target_list.cc) that serves the dtype. Over a cache of i8, what the substitute has
/// for it also serves a target of bf16 where there are few queries, or queries that are not bf16.
[[nodiscard]] std::string_view serving_target(std::string_view target, DType dtype);

/// The loops of f32 products on a unit that multiplies bf16, where the chosen target has one; else null.
[[nodiscard]] const cpu::SplitLoops* chosen_split();

}  // namespace qkv::kernels
