// What a build says of its MPI. Ranks under mpirun are tried by mpi_main.cc.
#include "qkv/cluster/mpi.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv::testing_cluster::mpi_test {
namespace {

TEST(Mpi, SaysWhichItIsOrHowToGetIt) {
  if (!mpi_version().empty()) {
    EXPECT_THAT(mpi_version(), testing::StartsWith("Open MPI"));
    EXPECT_EQ(error_message([] { run_mpi([](Transport&) {}, {.patience = std::chrono::milliseconds(0)}); }),
              "run_mpi: patience: expected more than 0 ms, got 0 ms");
    return;
  }
  EXPECT_EQ(
      error_message<Error>([] { run_mpi([](Transport&) {}); }),
      "this build of qkv has no MPI: install libopenmpi-dev and openmpi-bin (scripts/install-packages cluster) and "
      "configure it again");
}

}  // namespace
}  // namespace qkv::testing_cluster::mpi_test
