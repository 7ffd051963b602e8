#include "model/saving/same_model.h"

#include <limits>
#include <set>

#include "core/number_text.h"
#include "model/saving/planned_tensors.h"
#include "qkv/error.h"

namespace qkv::saving {
namespace {

// Of a weight from which 1 was taken after it had been added.
constexpr double kOfOne = static_cast<double>(std::numeric_limits<float>::epsilon());

// A width of heads that is not said is d_model / heads, as it is where it is.
ModelConfig with_head_width(ModelConfig config) {
  if (config.contains("d_k") || !config.contains("heads")) return config;
  const auto heads = core::number_from<std::int64_t>(config.at("heads"));
  const auto width = core::number_from<std::int64_t>(config.at("d_model"));
  if (heads && width && *heads > 0) config["d_k"] = std::to_string(*width / *heads);
  return config;
}

std::int64_t bytes_of(const Parameter& parameter) {
  return parameter.value.shape().product() * static_cast<std::int64_t>(size_of(parameter.value.dtype()));
}

}  // namespace

void require_same_config(const Model& before, const Model& after, const std::string& source, const std::string& form) {
  const ModelConfig here = with_head_width(before.config());
  const ModelConfig there = with_head_width(after.config());
  std::set<std::string> words;
  for (const auto* config : {&here, &there}) {
    for (const auto& [word, value] : *config) words.insert(word);
  }
  const auto of = [](const ModelConfig& config, const std::string& word) {
    const auto found = config.find(word);
    return found == config.end() ? std::string("not said") : found->second;
  };
  std::string text;
  for (const std::string& word : words) {
    if (of(here, word) == of(there, word)) continue;
    text += (text.empty() ? "" : "; ") + word + " is " + of(here, word) + ", and would be " + of(there, word);
  }
  if (!text.empty()) throw FileError(source, form + " cannot hold this model: " + text);
}

void compare_parameters(const ReadModel& before, const ReadModel& after,
                        const std::map<std::string, std::size_t>& places, Conversion& done,
                        const ConvertOptions& options) {
  const ModelConfig config = before.model.config();
  const auto norm = config.find("norm");
  const bool adds_one = norm != config.end() && norm->second == name_of(NormKind::rms_plus_one);
  std::map<std::string, Parameter> others;
  for (const Parameter& parameter : after.model.parameters()) others.emplace(parameter.name, parameter);
  std::map<std::size_t, TensorError> errors;
  std::int64_t all = 0;
  for (const Parameter& parameter : before.model.parameters()) all += bytes_of(parameter);
  const auto progress = progress_of(options, "check");
  std::int64_t read = 0;
  for (const Parameter& parameter : before.model.parameters()) {
    const std::size_t place = places.at(parameter.name);
    const double slack = adds_one && parameter.value.shape().rank() == 1 ? kOfOne : 0;
    errors[place].add(done.tensors[place], before.value(parameter), after.value(others.at(parameter.name)), slack);
    read += bytes_of(parameter);
    progress(read, all);
  }
  for (const auto& [place, error] : errors) done.tensors[place].error = error.relative();
}

void compare_tensors(Conversion& done, const TensorNamed& old_value, const TensorNamed& new_value,
                     const ConvertOptions& options) {
  std::int64_t all = 0;
  for (const ConvertedTensor& tensor : done.tensors) all += tensor.bytes;
  const auto progress = progress_of(options, "check");
  std::int64_t read = 0;
  for (ConvertedTensor& tensor : done.tensors) {
    TensorError error;
    error.add(tensor, old_value(tensor.name), new_value(tensor.name));
    tensor.error = error.relative();
    read += tensor.bytes;
    progress(read, all);
  }
}

}  // namespace qkv::saving
