// What `qkv train` is told, and what of it a checkpoint keeps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/train/task_model.h"
#include "qkv/train/training.h"

namespace qkv::cli {

/// A small model that learns the task, and how.
struct Recipe {
  std::string_view task;
  std::string_view model = "decoder";
  std::int64_t layers = 2;
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;
  std::string_view positions = "learned";
  std::int64_t steps = 2000;
  std::int64_t batch = 32;
  double learning_rate = 5e-3;
};
/// docs/training.md says what each reaches; that of no task in particular where there is none.
[[nodiscard]] Recipe recipe_for(std::string_view task);

/// All that the numbers of a run follow from.
struct TrainSettings {
  static constexpr Recipe kUsual = {};

  std::string task;
  std::string data;                        // the file or directory of tasks that are the reader's own
  std::optional<std::int64_t> length;      // the task's own where not given
  std::optional<std::int64_t> image_side;  // of pictures of the reader's own, as the model sees them
  std::optional<std::int64_t> patch_side;
  std::uint64_t seed = 1;
  std::int64_t steps = kUsual.steps;
  std::int64_t batch = kUsual.batch;
  std::int64_t accumulation = 1;
  std::string optimizer = "adamw";
  double momentum = 0.9;  // of sgd
  double learning_rate = kUsual.learning_rate;
  std::string schedule = "cosine";
  std::int64_t warm_up = 50;
  double weight_decay = 0.01;
  double clip = 1.0;
  double dropout = 0.0;
  std::string dtype = "f32";
  std::string model{kUsual.model};
  std::int64_t layers = kUsual.layers;
  std::int64_t d_model = kUsual.d_model;
  std::int64_t heads = kUsual.heads;
  std::optional<std::int64_t> d_ff = kUsual.d_ff;
  std::string positions{kUsual.positions};
};

/// What a run tells while it goes on; its numbers do not follow from it.
struct TrainReporting {
  std::int64_t examine_every = 200;  // steps
  std::int64_t save_every = 200;
  std::int64_t examples = 512;  // held out, of an examination
  bool json = false;
};

/// Throws what ends the command with 2, naming the option, for values without a meaning.
void require_sound(const TrainSettings& settings, const TrainReporting& reporting);

[[nodiscard]] std::map<std::string, std::string> words_of(const TrainSettings& settings);
/// The counterpart. Throws Error naming the word that is missing or has no meaning.
[[nodiscard]] TrainSettings settings_of(const std::map<std::string, std::string>& words);
/// Of how a run tells of itself, but not whether in JSON; words that are missing leave what is usual.
[[nodiscard]] std::map<std::string, std::string> words_of(const TrainReporting& reporting);
[[nodiscard]] TrainReporting reporting_of(const std::map<std::string, std::string>& words);

[[nodiscard]] TrainingOptions training_of(const TrainSettings& settings);
[[nodiscard]] std::unique_ptr<Optimizer> optimizer_of(const TrainSettings& settings, Parameters parameters);

}  // namespace qkv::cli
