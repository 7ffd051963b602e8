// Any case at all, and the smallest one that still fails.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cases/case.h"

namespace qkv::cases {

/// Bytes that one case is made from; fewer stand for zeros, which are small extents and plain options.
inline constexpr std::size_t kCaseBytes = 48;

[[nodiscard]] Case case_from(std::span<const std::uint8_t> bytes);

/// A case for which `fault` still says something, and of which no field can be made simpler.
[[nodiscard]] Case shrunk(Case failing, const std::function<std::string(const Case&)>& fault);

}  // namespace qkv::cases
