// The options of all commands, as `qkv help --describe` has them in its tables.
#pragma once

#include <string>
#include <vector>

namespace qkv::tests {

struct DescribedOption {
  std::string command;  // "bench positions"
  std::string name;     // "--out", or "TEXT" of what is taken by its place
  std::string type, bounds, fallback, company, help, example;

  [[nodiscard]] bool is_place() const { return !name.starts_with("--"); }
  [[nodiscard]] bool is_flag() const { return type == "true or false"; }
  [[nodiscard]] std::vector<std::string> command_words() const;
  /// It with its example, as on the command line.
  [[nodiscard]] std::vector<std::string> words() const {
    return is_flag() ? std::vector{name} : std::vector{name, example};
  }
};

[[nodiscard]] const std::vector<DescribedOption>& described_options();

}  // namespace qkv::tests
