#include "core/number_text.h"
#include "qkv/model/sequence_to_sequence.h"
#include "qkv/safetensors.h"

namespace qkv {
namespace {

constexpr const char* kRecurrentKind = "sequence-to-sequence";

}  // namespace

void write_sequence_to_sequence(const SequenceToSequence& model, const std::string& path,
                                const std::map<std::string, std::string>& notes) {
  const SequenceToSequenceOptions& options = model.options();
  std::map<std::string, std::string> words = notes;
  words["model.kind"] = kRecurrentKind;
  words["model.tokens"] = std::to_string(options.tokens);
  words["model.embedding"] = std::to_string(options.embedding);
  words["model.width"] = std::to_string(options.width);
  words["model.recall"] = name_of(options.recall);
  words["model.d_k"] = std::to_string(options.d_k);
  std::vector<NamedView> views;
  for (const auto& [name, value] : model.parameters()) views.push_back({name, value.value()});
  write_file(path, encode_safetensors(views, words));
}

SequenceToSequence read_sequence_to_sequence(const std::string& path) {
  const Safetensors file = Safetensors::read(path);
  const auto word = [&](const std::string& name) -> std::string {
    const auto found = file.metadata().find("model." + name);
    if (found == file.metadata().end()) throw FileError(path, "expected the metadata model." + name + ", got none");
    return found->second;
  };
  const auto number = [&](const std::string& name) {
    const auto value = core::number_from<std::int64_t>(word(name));
    if (!value) throw FileError(path, "model." + name + ": expected a whole number, got \"" + word(name) + "\"");
    return *value;
  };
  if (word("kind") != kRecurrentKind) {
    throw FileError(path, std::string("expected a model of kind ") + kRecurrentKind + ", got " + word("kind"));
  }
  const bool attends = word("recall") == name_of(Recall::all_states);
  try {
    SequenceToSequence model({.tokens = number("tokens"),
                              .embedding = number("embedding"),
                              .width = number("width"),
                              .recall = attends ? Recall::all_states : Recall::last_state,
                              .d_k = number("d_k")},
                             Init::undrawn());
    for (const auto& [name, value] : model.parameters()) assign(model.parameters(), name, file.load(name));
    return model;
  } catch (const InvalidArgument& damaged) {
    throw FileError(path, damaged.what());
  }
}

}  // namespace qkv
