#include "model/weights.h"

#include <algorithm>
#include <set>

#include "kernels/with_real.h"

namespace qkv {
namespace {

std::string text_of(const TensorView& values) {
  return values.shape().to_string() + " of " + std::string(name_of(values.dtype()));
}

}  // namespace

Tensor held_weight(Tensor stored) {
  if (kernels::kTakes16Bits || size_of(stored.dtype()) != 2) return stored;
  return stored.to(DType::f32);
}

void Differences::compare(const std::map<std::string, std::string>& there,
                          const std::map<std::string, std::string>& here) {
  const auto of = [](const auto& words, const std::string& word) {
    const auto found = words.find(word);
    return found == words.end() ? std::string("not said") : found->second;
  };
  std::set<std::string> words;
  for (const auto* all : {&there, &here}) {
    for (const auto& [word, what] : *all) words.insert(word);
  }
  for (const std::string& word : words) {
    if (of(there, word) != of(here, word)) add(word + " is " + of(there, word) + " there, " + of(here, word) + " here");
  }
}

void Differences::require_none() const {
  if (texts_.empty()) return;
  constexpr std::size_t kMost = 5;
  std::string text = "a checkpoint of another model: ";
  for (std::size_t n = 0; n < std::min(kMost, texts_.size()); ++n) text += (n == 0 ? "" : "; ") + texts_[n];
  if (texts_.size() > kMost) text += "; and " + std::to_string(texts_.size() - kMost) + " more";
  throw FileError(path_, text);
}

std::vector<Tensor> matching_tensors(const Safetensors& file, std::span<const NamedView> wanted, Surplus surplus,
                                     Differences differences) {
  std::vector<Tensor> loaded;
  std::set<std::string_view> names;
  for (const NamedView& view : wanted) {
    names.insert(view.name);
    if (!file.contains(view.name)) {
      differences.add(view.name + " is not in it");
      continue;
    }
    const Tensor& tensor = loaded.emplace_back(held_weight(file.load(view.name)));
    if (text_of(tensor) != text_of(view.view)) {
      differences.add(view.name + " is " + text_of(tensor) + " there, " + text_of(view.view) + " here");
    }
  }
  for (const SafetensorsEntry& entry : file.entries()) {
    const bool may_stand =
        surplus == Surplus::optimizer_may_stand && std::string_view(entry.name).starts_with(kOptimizerTensors);
    if (!may_stand && !names.contains(entry.name)) differences.add(entry.name + " is not in the model");
  }
  differences.require_none();
  return loaded;
}

void load_parameters(const Safetensors& file, std::span<const Parameter> parameters, Differences differences) {
  std::vector<Tensor> values =
      matching_tensors(file, views_of(parameters), Surplus::optimizer_may_stand, std::move(differences));
  for (std::size_t n = 0; n < values.size(); ++n) parameters[n].value.replace_value(std::move(values[n]));
}

std::vector<NamedView> views_of(std::span<const Parameter> parameters) {
  std::vector<NamedView> views;
  for (const Parameter& parameter : parameters) views.push_back({parameter.name, parameter.value.value()});
  return views;
}

}  // namespace qkv
