// In the place of Open MPI, where the build has not found it.
#include "qkv/cluster/mpi.h"

namespace qkv {

std::string mpi_version() { return {}; }

void run_mpi(const std::function<void(Transport&)>& /*body*/, const MpiOptions& /*options*/) {
  throw Error(
      "this build of qkv has no MPI: install libopenmpi-dev and openmpi-bin (scripts/install-packages cluster) and "
      "configure it again");
}

}  // namespace qkv
