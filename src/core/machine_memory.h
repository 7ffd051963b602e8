// How much memory the machine has.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace qkv::core {

inline std::uint64_t machine_memory() {
#ifdef __wasm__
  return std::uint64_t{1} << 32U;  // its pages are those that the module has so far
#else
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
#endif
}

}  // namespace qkv::core
