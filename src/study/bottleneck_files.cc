#include <fmt/format.h>

#include "qkv/files.h"
#include "qkv/model/box.h"
#include "qkv/study/bottleneck.h"

namespace qkv {
namespace {

constexpr const char* kVector = "vector.safetensors";
constexpr const char* kAttention = "attention.safetensors";

}  // namespace

std::string bottleneck_table(const BottleneckModels& models, const std::vector<BottleneckPoint>& points) {
  std::string text =
      fmt::format("{:>8}  {:^20}  {:^20}\n{:>8}  {:^20}  {:^20}\n{:>8}  {:>9}  {:>9}  {:>9}  {:>9}\n", "", "one vector",
                  "attention", "", fmt::format("{} parameters", parameter_count(models.vector.parameters())),
                  fmt::format("{} parameters", parameter_count(models.attention.parameters())), "letters", "right",
                  "whole text", "right", "whole text");
  for (const auto& [vector, attention] : points) {
    text += fmt::format("{:>8}  {:>7.2f} %  {:>7.2f} %  {:>7.2f} %  {:>7.2f} %\n", vector.length, 100 * vector.letters,
                        100 * vector.texts, 100 * attention.letters, 100 * attention.texts);
  }
  return text;
}

void write_bottleneck_models(const BottleneckModels& models, const BottleneckSetup& setup,
                             const std::string& directory) {
  make_directory(directory);
  const std::map<std::string, std::string> notes = {{"run.task", "bottleneck"},
                                                    {"run.longest", std::to_string(setup.longest)},
                                                    {"run.seed", std::to_string(setup.seed)},
                                                    {"run.steps", std::to_string(setup.steps)}};
  write_sequence_to_sequence(models.vector, directory + "/" + kVector, notes);
  write_sequence_to_sequence(models.attention, directory + "/" + kAttention, notes);
}

BottleneckModels read_bottleneck_models(const std::string& directory) {
  return {.vector = read_sequence_to_sequence(directory + "/" + kVector),
          .attention = read_sequence_to_sequence(directory + "/" + kAttention)};
}

BottleneckModels bottleneck_models_of_the_box() {
  return {.vector = read_sequence_to_sequence(box_file(std::string("bottleneck/") + kVector)),
          .attention = read_sequence_to_sequence(box_file(std::string("bottleneck/") + kAttention))};
}

}  // namespace qkv
