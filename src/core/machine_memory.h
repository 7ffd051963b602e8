// How much memory there is.
#pragma once

#include <cstdint>

namespace qkv::core {

/// Bytes that a process may have here: the machine's, or what its container (cgroup v2) or its own limit of addresses
/// lets it have, if that is less.
[[nodiscard]] std::uint64_t machine_memory();

}  // namespace qkv::core
