// A training run on the disk, as safetensors: a model's file with what its optimiser remembers.
#pragma once

#include <map>
#include <string>

#include "qkv/safetensors.h"
#include "qkv/train/optimizer.h"

namespace qkv {

/// Writes parameters under their names and the optimiser's moments as "optimizer/<name>"; its name and steps stand
/// beside the metadata, which are Model::metadata() and, under "run.", all that going on depends on. The file appears
/// whole or not at all (files.h, write_file), with a checksum of its bytes. Model::open() opens it, too. Throws Error
/// as write_file().
void save_checkpoint(const std::string& path, const Optimizer& optimizer,
                     const std::map<std::string, std::string>& metadata);

/// What save_checkpoint() wrote.
class Checkpoint {
 public:
  /// Throws Error as Safetensors::read().
  [[nodiscard]] static Checkpoint read(const std::string& path);

  /// Those of the run, without "run.".
  [[nodiscard]] std::map<std::string, std::string> run() const;
  /// Steps that the run had taken; 0 for a model without its training.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }

  /// Writes what was saved into the optimiser's parameters, moments and steps, all or none of it. Throws Error with the
  /// first differences if it is of another model or optimiser: a word under "model." that is not that of `metadata`, a
  /// parameter that one of them lacks, or another shape or dtype; for a model without its training; and if a bit of the
  /// file has changed. Checkpoints of earlier versions have no checksum, and are taken as they are.
  void restore(Optimizer& optimizer, const std::map<std::string, std::string>& metadata) const;

 private:
  Checkpoint(std::string path, Safetensors file);

  std::string path_;
  Safetensors file_;
  std::int64_t steps_ = 0;
};

}  // namespace qkv
