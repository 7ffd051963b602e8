// All that a training run follows from: the task, the model and how it learns; and the recipe of each task.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/model/model.h"
#include "qkv/train/task.h"

namespace qkv {

struct TrainSettings {
  std::string task;
  std::string data = {};                                  // of "text" a file, of "pictures" a directory
  std::optional<std::string> tokenizer = std::nullopt;    // of "text", as read_tokenizer(); none: cut at characters
  std::optional<std::string> from = std::nullopt;         // of "text", a model to go on from: a name, file or folder
  std::optional<std::int64_t> length = std::nullopt;      // the task's own by default
  std::optional<std::int64_t> image_side = std::nullopt;  // pixels that "pictures" are brought to
  std::optional<std::int64_t> patch_side = std::nullopt;
  std::uint64_t seed = 1;  // of the model, the examples and dropout
  std::int64_t steps = 2000;
  std::int64_t batch = 32;        // examples
  std::int64_t accumulation = 1;  // batches of a step
  std::string optimizer = "adamw";
  double momentum = 0.9;  // of sgd
  double learning_rate = 5e-3;
  std::string schedule = "cosine";
  std::int64_t warm_up = 50;  // steps
  double weight_decay = 0.01;
  double clip = 1.0;  // largest norm of the gradients
  double dropout = 0.0;
  std::string dtype = "f32";                         // that the model computes in: f32 or bf16
  std::optional<std::string> stored = std::nullopt;  // dtype of model.safetensors: f32, bf16 or f16
  std::string model = "decoder";
  std::int64_t layers = 2;  // of each stack
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 d_model by default
  std::string positions = "learned";
};

/// What a run says of itself while it goes on; its parameters do not depend on it.
struct TrainReporting {
  std::int64_t examine_every = 200;  // steps
  std::int64_t save_every = 200;     // steps
  std::int64_t keep_every = 0;       // steps whose model is kept beside the checkpoint, the first too; 0: none
  std::int64_t examples = 512;       // held out, of an examination
};

/// What one of their numbers may be: from `least` to `most`, of which an open end is out.
struct SettingBounds {
  std::string_view name;
  double least, most;
  enum class Of : std::uint8_t { whole, share, positive, number } of = Of::whole;

  [[nodiscard]] constexpr bool is_open_below() const noexcept { return of == Of::positive; }
  [[nodiscard]] constexpr bool is_open_above() const noexcept { return of == Of::share; }
};

/// Counts beyond these no machine can have been meant for; f32 holds numbers up to 1e38.
inline constexpr double kMostSettingCount = std::int64_t{1} << 20;
inline constexpr double kMostSettingWidth = std::int64_t{1} << 16;
inline constexpr double kMostSettingSteps = static_cast<double>(std::int64_t{1} << 40);
inline constexpr double kMostSettingNumber = 1e38;

inline constexpr std::array<SettingBounds, 16> kSettingBounds = {{
    {"layers", 1, 1024},
    {"d_model", 1, kMostSettingWidth},
    {"heads", 1, kMostSettingWidth},
    {"d_ff", 1, kMostSettingWidth},
    {"steps", 1, kMostSettingSteps},
    {"batch", 1, kMostSettingCount},
    {"accumulation", 1, kMostSettingCount},
    {"momentum", 0, 1, SettingBounds::Of::share},
    {"learning_rate", 0, kMostSettingNumber, SettingBounds::Of::positive},
    {"warm_up", 0, kMostSettingSteps},
    {"weight_decay", 0, kMostSettingNumber, SettingBounds::Of::number},
    {"clip", 0, kMostSettingNumber, SettingBounds::Of::positive},
    {"dropout", 0, 1, SettingBounds::Of::share},
    {"length", 1, kMostSettingCount},
    {"image_side", 1, kMostSettingWidth},
    {"patch_side", 1, kMostSettingWidth},
}};
inline constexpr std::array<SettingBounds, 4> kReportingBounds = {{
    {"save_every", 1, kMostSettingSteps},
    {"keep_every", 0, kMostSettingSteps},
    {"examine_every", 1, kMostSettingSteps},
    {"examples", 1, kMostSettingCount},
}};

/// A small model that learns the task, and how: docs/training.md says what each reaches. `model` is a kind; without
/// one, or where the task has no recipe for it, the task's first. For an unknown task, the settings that no task in
/// particular has.
[[nodiscard]] TrainSettings recipe_for(std::string_view task, std::string_view model = {});

/// The learning rate for a model that has learnt already.
inline constexpr double kGentleRate = 1e-4;

/// With what the model of `from` says of kind and sizes and, where `stored` is open, of the dtype of its file; as they
/// are without one. Opens the model. Throws Error as Model::open(), and InvalidArgument("train", "from", …) for a model
/// that scores no tokens, or has no tokenizer.
[[nodiscard]] TrainSettings with_starting_model(TrainSettings settings);

/// Throws InvalidArgument("train", name of the member, …) for values without a meaning, or beyond what a machine can
/// have been meant for.
void require_sound(const TrainSettings& settings, const TrainReporting& reporting);

/// "text", whose data is a file of the reader's own, and "pictures", a directory. Built-in tasks have none.
[[nodiscard]] bool takes_data(std::string_view task);

/// Throws Error if the data cannot be read, InvalidArgument as make_task() and the tasks do, with "task" or "length".
[[nodiscard]] std::unique_ptr<const Task> task_of(const TrainSettings& settings);
/// Draws the parameters; those of `from` are copied into f32. Throws InvalidArgument("train", …) naming batch, if no
/// machine holds one, or model, if it cannot read the task; and as the model's own options do.
[[nodiscard]] Model model_of(const TrainSettings& settings, const Task& task);

}  // namespace qkv
