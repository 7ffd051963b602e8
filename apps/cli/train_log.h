// What a training run writes down: a log in JSON lines, and the picture of its losses.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace qkv::cli {

/// A file of JSON objects, a line each. Every line is with the system when append() returns.
class TrainLog {
 public:
  /// Begins the file anew, or goes on after step `done`, whose later lines are taken away: they belong to steps that
  /// are done again. Throws Error.
  TrainLog(std::string path, std::int64_t done);

  /// Throws Error where it cannot be written.
  void append(const nlohmann::ordered_json& line) const;

  /// Those of steps that are done, in their order; without the half line that a kill may have left.
  [[nodiscard]] std::vector<nlohmann::ordered_json> lines() const;

  /// The losses of all lines as loss.svg and loss.png. Throws Error; nothing where there is no line yet.
  void draw(const std::string& title, const std::string& directory) const;

 private:
  std::string path_;
};

}  // namespace qkv::cli
