#include "qkv/train/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/number_text.h"

namespace qkv {
namespace {

constexpr std::string_view kModel = "model.";
constexpr std::string_view kRun = "run.";
constexpr std::string_view kMoments = "optimizer/";
constexpr const char* kOptimizer = "optimizer";
constexpr const char* kSteps = "steps";

std::map<std::string, std::string> metadata_of(const CheckpointFacts& facts) {
  std::map<std::string, std::string> metadata;
  for (const auto& [word, what] : facts.model) metadata[std::string(kModel) + word] = what;
  for (const auto& [word, what] : facts.run) metadata[std::string(kRun) + word] = what;
  return metadata;
}

std::vector<NamedView> views_of(std::span<const Parameter> parameters) {
  std::vector<NamedView> views;
  for (const Parameter& parameter : parameters) views.push_back({parameter.name, parameter.value.value()});
  return views;
}

/// A tensor of the file and where it goes.
struct Slot {
  std::string name;
  MutableTensorView values;
};

std::string text_of(const TensorView& values) {
  return values.shape().to_string() + " of " + std::string(name_of(values.dtype()));
}

/// What differs between a file and what it is read into.
class Differences {
 public:
  explicit Differences(std::string path) : path_(std::move(path)) {}

  void add(std::string text) { texts_.push_back(std::move(text)); }

  void compare(const std::map<std::string, std::string>& there, const std::map<std::string, std::string>& here) {
    const auto of = [](const auto& facts, const std::string& word) {
      const auto found = facts.find(word);
      return found == facts.end() ? std::string("not said") : found->second;
    };
    std::set<std::string> words;
    for (const auto* facts : {&there, &here}) {
      for (const auto& [word, what] : *facts) words.insert(word);
    }
    for (const std::string& word : words) {
      if (of(there, word) != of(here, word)) {
        add(word + " is " + of(there, word) + " there, " + of(here, word) + " here");
      }
    }
  }

  /// Throws Error with the first of them, where there are any.
  void require_none() const {
    if (texts_.empty()) return;
    constexpr std::size_t kMost = 5;
    std::string text = path_ + ": a checkpoint of another model: ";
    for (std::size_t n = 0; n < std::min(kMost, texts_.size()); ++n) text += (n == 0 ? "" : "; ") + texts_[n];
    if (texts_.size() > kMost) text += "; and " + std::to_string(texts_.size() - kMost) + " more";
    throw Error(text);
  }

 private:
  std::string path_;
  std::vector<std::string> texts_;
};

enum class Wanted : std::uint8_t { parameters, parameters_and_moments };

// Everything is loaded before the first number is written.
void restore_places(const Safetensors& file, const std::vector<Slot>& places, Wanted wanted, Differences& differences) {
  std::vector<Tensor> loaded;
  std::set<std::string_view> names;
  for (const Slot& place : places) {
    names.insert(place.name);
    if (!file.contains(place.name)) {
      differences.add(place.name + " is not in it");
      continue;
    }
    Tensor& tensor = loaded.emplace_back(file.load(place.name));
    if (text_of(tensor) != text_of(place.values)) {
      differences.add(place.name + " is " + text_of(tensor) + " there, " + text_of(place.values) + " here");
    }
  }
  for (const SafetensorsEntry& entry : file.entries()) {
    const bool counts = wanted == Wanted::parameters_and_moments || !std::string_view(entry.name).starts_with(kMoments);
    if (counts && !names.contains(entry.name)) differences.add(entry.name + " is not in the model");
  }
  differences.require_none();
  for (std::size_t n = 0; n < places.size(); ++n) {
    std::memcpy(places[n].values.data(), loaded[n].data(),
                static_cast<std::size_t>(loaded[n].size()) * size_of(loaded[n].dtype()));
  }
}

std::vector<Slot> places_of(std::span<const Parameter> parameters) {
  std::vector<Slot> places;
  for (const Parameter& parameter : parameters) {
    places.push_back({parameter.name, parameter.value.mutable_value()});
  }
  return places;
}

}  // namespace

void save_model(const std::string& path, std::span<const Parameter> parameters, const CheckpointFacts& facts) {
  write_file(path, encode_safetensors(views_of(parameters), metadata_of(facts)));
}

void save_checkpoint(const std::string& path, const Optimizer& optimizer, const CheckpointFacts& facts) {
  std::vector<NamedView> views = views_of(optimizer.parameters());
  for (const OptimizerMoment& moment : optimizer.moments()) {
    views.push_back({std::string(kMoments) + moment.name, moment.values});
  }
  std::map<std::string, std::string> metadata = metadata_of(facts);
  metadata[kOptimizer] = optimizer.name();
  metadata[kSteps] = std::to_string(optimizer.steps());
  write_file(path, encode_safetensors(views, metadata));
}

Checkpoint::Checkpoint(std::string path, Safetensors file) : path_(std::move(path)), file_(std::move(file)) {
  for (const auto& [word, what] : file_.metadata()) {
    if (word.starts_with(kModel)) facts_.model[word.substr(kModel.size())] = what;
    if (word.starts_with(kRun)) facts_.run[word.substr(kRun.size())] = what;
    if (word == kOptimizer) optimizer_ = what;
    if (word != kSteps) continue;
    const auto steps = number_from<std::int64_t>(what);
    if (!steps || *steps < 0) {
      throw Error(path_ + ": " + kSteps + ": expected a whole number >= 0, got \"" + what + "\"");
    }
    steps_ = *steps;
  }
}

Checkpoint Checkpoint::read(const std::string& path) { return {path, Safetensors::read(path)}; }

void Checkpoint::restore(std::span<const Parameter> parameters,
                         const std::map<std::string, std::string>& model) const {
  Differences differences(path_);
  differences.compare(facts_.model, model);
  restore_places(file_, places_of(parameters), Wanted::parameters, differences);
}

void Checkpoint::restore(Optimizer& optimizer, const std::map<std::string, std::string>& model) const {
  if (optimizer_.empty()) throw Error(path_ + ": a model without its training, which cannot go on");
  Differences differences(path_);
  differences.compare(facts_.model, model);
  if (optimizer_ != optimizer.name()) {
    differences.add("optimizer is " + optimizer_ + " there, " + std::string(optimizer.name()) + " here");
  }
  std::vector<Slot> places = places_of(optimizer.parameters());
  for (const OptimizerMoment& moment : optimizer.moments()) {
    places.push_back({std::string(kMoments) + moment.name, moment.values});
  }
  restore_places(file_, places, Wanted::parameters_and_moments, differences);
  optimizer.set_steps(steps_);
}

}  // namespace qkv
