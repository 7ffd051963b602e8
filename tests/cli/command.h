// Runs the built command as a user would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qkv::tests {

struct Outcome {
  int code = 0;  // 128 + signal where one ended it
  std::string out;
  std::string err;
};

struct Environment {
  std::string name;
  std::string value;
};

/// Runs `qkv arguments…` with nothing on standard input; `extra` is added to the environment.
[[nodiscard]] Outcome run_qkv(const std::vector<std::string>& arguments, const std::vector<Environment>& extra = {});

/// The same with the file `path` on standard input.
[[nodiscard]] Outcome run_qkv_from(const std::string& path, const std::vector<std::string>& arguments,
                                   const std::vector<Environment>& extra = {});

/// The same, interrupted as by Ctrl-C once it listens for that and has computed for a second.
[[nodiscard]] Outcome run_qkv_interrupted(const std::vector<std::string>& arguments);

/// The same with this much address space, in bytes, which is too little under AddressSanitizer (core/sanitizer.h).
[[nodiscard]] Outcome run_qkv_within(std::uint64_t memory, const std::vector<std::string>& arguments);

/// The same with standard output going to `path`, e.g. /dev/full.
[[nodiscard]] Outcome run_qkv_into(const std::string& path, const std::vector<std::string>& arguments);

/// The same with a pipe on standard output whose reader has already gone.
[[nodiscard]] Outcome run_qkv_into_closed_pipe(const std::vector<std::string>& arguments);

}  // namespace qkv::tests
