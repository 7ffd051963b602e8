// How much memory the machine has.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace qkv::core {

inline std::uint64_t machine_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

}  // namespace qkv::core
