#include "core/machine_memory.h"

#ifndef __wasm__
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#endif

namespace qkv::core {

#ifdef __wasm__

// Its pages are those that the module has so far.
std::uint64_t machine_memory() { return std::uint64_t{1} << 32U; }

#else

std::uint64_t machine_memory() {
  auto most =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) == 0) most = std::min<std::uint64_t>(most, addresses.rlim_cur);
  std::uint64_t of_container = 0;  // the file says "max" where there is no bound
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> of_container) most = std::min(most, of_container);
  return most;
}

#endif

}  // namespace qkv::core
