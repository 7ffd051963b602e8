// A random call of attention and of its gradients on every target, held against the reference.
#pragma once

#include <string>

#include "cases/case.h"

namespace qkv::fuzz {

/// What is wrong with the case and, but over a cache, with its gradients or with it as a ragged batch, or nothing. A
/// call that throws is a fault.
[[nodiscard]] std::string fault_of(const cases::Case& one);

/// The fault of the smallest case that still fails, and the line that repeats it.
[[nodiscard]] std::string report(const cases::Case& failing);

}  // namespace qkv::fuzz
