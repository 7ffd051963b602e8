// A model and its training on the disk, as safetensors.
#pragma once

#include <map>
#include <span>
#include <string>

#include "qkv/nn/parameters.h"
#include "qkv/safetensors.h"
#include "qkv/train/optimizer.h"

namespace qkv {

/// What a checkpoint says besides its tensors, each a word and what it is: {"heads", "4"}.
struct CheckpointFacts {
  std::map<std::string, std::string> model;  // two models with the same facts have the same parameters
  std::map<std::string, std::string> run;    // seed, schedule, …: all that going on depends on, as the run wrote it
};

/// Writes parameters under their names; the file appears whole or not at all (files.h, write_file). Metadata are the
/// facts, as "model.<word>" and "run.<word>". Throws Error as write_file().
void save_model(const std::string& path, std::span<const Parameter> parameters, const CheckpointFacts& facts);

/// The same, with the optimiser's moments as "optimizer/<name>", and its name and steps among the metadata.
void save_checkpoint(const std::string& path, const Optimizer& optimizer, const CheckpointFacts& facts);

/// What save_model() or save_checkpoint() wrote, in memory.
class Checkpoint {
 public:
  /// Throws Error as Safetensors::read().
  [[nodiscard]] static Checkpoint read(const std::string& path);

  [[nodiscard]] const CheckpointFacts& facts() const noexcept { return facts_; }
  /// Steps that the run had taken; 0 for a model without its training.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }

  /// Writes what was saved into the parameters, all or none of them. Throws Error with the first differences where it
  /// is of another model: a fact of `model` that is not the same, a parameter that one of them lacks, or another shape
  /// or dtype.
  void restore(std::span<const Parameter> parameters, const std::map<std::string, std::string>& model) const;
  /// Into the optimiser's parameters, moments and steps; throws likewise, for another optimiser and for a
  /// model without its training too.
  void restore(Optimizer& optimizer, const std::map<std::string, std::string>& model) const;

 private:
  Checkpoint(std::string path, Safetensors file);

  std::string path_;
  Safetensors file_;
  CheckpointFacts facts_;
  std::string optimizer_;
  std::int64_t steps_ = 0;
};

}  // namespace qkv
