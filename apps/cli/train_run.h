// One training run in a directory of its own.
#pragma once

#include <cstdint>
#include <string>

#include "train_settings.h"

namespace qkv::cli {

/// checkpoint.safetensors, log.jsonl, loss.svg, loss.png and, at the end, model.safetensors.
struct TrainPlace {
  std::string directory;

  [[nodiscard]] std::string checkpoint() const { return directory + "/checkpoint.safetensors"; }
  [[nodiscard]] std::string log() const { return directory + "/log.jsonl"; }
  [[nodiscard]] std::string model() const { return directory + "/model.safetensors"; }
};

enum class TrainStart : std::uint8_t { anew, resumed };

/// Trains and prints what came of it. Throws Exit with 130 after Ctrl-C, once all is saved.
void run_training(const TrainSettings& settings, const TrainPlace& place, const TrainReporting& reporting,
                  TrainStart start);

}  // namespace qkv::cli
