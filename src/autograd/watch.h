// Reports results and gradients of operations to a NonFiniteWatch.
#pragma once

#include <string>
#include <string_view>

#include "autograd/storage.h"

namespace qkv::autograd {

/// Whether this thread has a watch; cheap.
[[nodiscard]] bool is_watched() noexcept;
void watch_result(std::string_view operation, const Value& result);
/// `scope` is that of the operation when it was recorded.
void watch_gradient(std::string_view operation, const std::string& scope, const Value& gradient);

/// No NaN and no infinity. In f64 by a copy: for a watch only.
[[nodiscard]] bool is_finite(const TensorView& values);

}  // namespace qkv::autograd
