#include "qkv/train/checkpoint.h"

#include <cstring>
#include <utility>
#include <vector>

#include "core/number_text.h"
#include "files/checksum.h"
#include "model/weights.h"
#include "model/words.h"

namespace qkv {
namespace {

constexpr const char* kOptimizer = "optimizer";
constexpr const char* kSteps = "steps";

std::vector<NamedView> views_of_all(const Optimizer& optimizer) {
  std::vector<NamedView> views = views_of(optimizer.parameters());
  for (const OptimizerMoment& moment : optimizer.moments()) {
    views.push_back({std::string(kOptimizerTensors) + moment.name, moment.values});
  }
  return views;
}

}  // namespace

void save_checkpoint(const std::string& path, const Optimizer& optimizer,
                     const std::map<std::string, std::string>& metadata) {
  std::map<std::string, std::string> words = metadata;
  words[kOptimizer] = optimizer.name();
  words[kSteps] = std::to_string(optimizer.steps());
  write_file(path, files::encode_checked_safetensors(views_of_all(optimizer), words));
}

Checkpoint::Checkpoint(std::string path, Safetensors file) : path_(std::move(path)), file_(std::move(file)) {
  const auto found = file_.metadata().find(kSteps);
  if (found == file_.metadata().end()) return;
  const auto steps = core::number_from<std::int64_t>(found->second);
  if (!steps || *steps < 0) {
    throw FileError(path_, std::string(kSteps) + ": expected a whole number >= 0, got \"" + found->second + "\"");
  }
  steps_ = *steps;
}

Checkpoint Checkpoint::read(const std::string& path) { return {path, Safetensors::read(path)}; }

std::map<std::string, std::string> Checkpoint::run() const { return words_of("run", file_.metadata()); }

void Checkpoint::restore(Optimizer& optimizer, const std::map<std::string, std::string>& metadata) const {
  const auto name = file_.metadata().find(kOptimizer);
  if (name == file_.metadata().end()) throw FileError(path_, "a model without its training, which cannot go on");
  files::require_sound(file_);
  Differences differences(path_);
  differences.compare(words_of("model", file_.metadata()), words_of("model", metadata));
  if (name->second != optimizer.name()) {
    differences.add("optimizer is " + name->second + " there, " + std::string(optimizer.name()) + " here");
  }
  const std::vector<Tensor> values =
      matching_tensors(file_, views_of_all(optimizer), Surplus::any_is_wrong, std::move(differences));
  auto value = values.begin();
  for (const Parameter& parameter : optimizer.parameters()) parameter.value.replace_value(*value++);
  for (const OptimizerMoment& moment : optimizer.moments()) {
    std::memcpy(moment.values.data(), value->data(), static_cast<std::size_t>(value->size()) * size_of(value->dtype()));
    ++value;
  }
  optimizer.set_steps(steps_);
}

}  // namespace qkv
