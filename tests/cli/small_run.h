// A training run of a second.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace qkv::tests {

[[nodiscard]] inline std::vector<std::string> small_run(const std::string& directory, const std::string& steps) {
  return {"train",     "previous", "--length",   "6", "--layers",  "1",       "--d-model", "16",
          "--heads",   "2",        "--batch",    "4", "--out",     directory, "--steps",   steps,
          "--warm-up", "2",        "--examples", "8", "--dropout", "0.1"};
}

/// The lines of a log.jsonl.
[[nodiscard]] inline std::vector<nlohmann::json> log_of(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace qkv::tests
