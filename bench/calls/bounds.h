// What the machine allows a call, by the rates that `ceilings --json` has measured.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "calls/cases.h"
#include "qkv/dtype.h"

namespace qkv::bench {

enum class Direction { forward, backward };

std::string_view name_of(Direction direction);

/// Two products of 2 D operations a score forward, five backward.
double flops_of(const Case& one, Direction direction);

/// Seconds below which the target cannot come; none where its ceiling is not known. One query is bound by reading K and
/// V.
std::optional<double> bound(const nlohmann::json& measured, const Case& one, Direction direction, DType dtype,
                            const std::string& target, int threads);

}  // namespace qkv::bench
