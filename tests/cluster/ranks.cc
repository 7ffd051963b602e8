#include "cluster/ranks.h"

#include <mutex>

namespace qkv::testing_cluster {

void run_ranks(int ranks, const std::function<void(Transport&)>& body, LocalOptions options) {
  options.limit = std::chrono::seconds(60);
  run_local(ranks, body, options);
}

std::vector<std::string> errors_of_ranks(int ranks, const std::function<void(Transport&)>& body,
                                         const LocalOptions& options) {
  std::mutex mutex;
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  const auto noted = [&](Transport& transport) {
    try {
      body(transport);
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex);
      errors[static_cast<std::size_t>(transport.rank())] = error.what();
      throw;
    }
  };
  try {
    run_ranks(ranks, noted, options);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): noted
  }
  return errors;
}

}  // namespace qkv::testing_cluster
