// Ranks as processes that mpirun started, on one machine or many.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "qkv/cluster/transport.h"

namespace qkv {

/// The library that this build found, "Open MPI v4.1.4, …"; empty if it has none.
[[nodiscard]] std::string mpi_version();

struct MpiOptions {
  std::chrono::milliseconds patience{10'000};  // > 0
};

/// Runs `body` as this process's rank and returns when all ranks have ended. Without mpirun there is one rank. Sets MPI
/// up and ends it, so that a process calls it once, from its main thread, which alone may use the transport.
///
/// What `body` throws is thrown here, after the other ranks were told. MPI is then left as it is, since ending it would
/// wait for ranks that may be lost: end the process with a status other than 0, and mpirun ends the others. Throws
/// Error if the build has no MPI or it cannot be set up.
void run_mpi(const std::function<void(Transport&)>& body, const MpiOptions& options = {});

}  // namespace qkv
