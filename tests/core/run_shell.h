#pragma once

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace qkv::tests {

/// What a command of the shell prints.
inline std::string printed_by(const std::string& command) {
  const auto close = [](std::FILE* pipe) { ::pclose(pipe); };
  // NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c)
  const std::unique_ptr<std::FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t count = 0; (count = std::fread(part.data(), 1, part.size(), pipe.get())) > 0;) {
    text.append(part.data(), count);
  }
  return text;
}

}  // namespace qkv::tests
