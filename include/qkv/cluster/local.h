// Ranks as threads of one process: for tests, and for machines without Open MPI.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "qkv/cluster/transport.h"

namespace qkv {

/// What goes wrong with a rank, from its call number `after` of the transport on.
struct LocalFault {
  enum class Kind : std::uint8_t {
    killed,   // its thread ends without a word, as a process that is killed
    stopped,  // it does nothing more, as a process that got SIGSTOP
    slow,     // each of its calls takes `by` longer
    delayed,  // what it sends arrives `by` later
  };

  Kind kind = Kind::killed;
  int rank = 0;
  std::int64_t after = 0;
  std::chrono::milliseconds by{0};
};

struct LocalOptions {
  std::vector<std::string> hosts = {};               // names for errors, one for each rank; default: "local"
  std::chrono::milliseconds patience{10'000};        // > 0
  std::optional<std::chrono::milliseconds> limit{};  // of the whole run: then every rank ends with an error that says
                                                     // what each did last
  std::size_t queue_bytes = 64 * 1024;  // of messages that a rank was sent and has not asked for; what is beyond waits
                                        // with its sender
  std::vector<LocalFault> faults = {};
};

/// Runs `body` as each of `ranks` ranks, each in a thread of its own, and returns when all have ended. What a rank
/// throws ends the others with a ClusterError that names it; the first is rethrown here. Throws InvalidArgument naming
/// ranks or the option. Allocates a thread a rank, and the messages that wait.
void run_local(int ranks, const std::function<void(Transport&)>& body, const LocalOptions& options = {});

}  // namespace qkv
