// Which settings have a meaning, and which are more than a machine can have been meant for.
#include <fmt/format.h>

#include <cmath>

#include "qkv/error.h"
#include "qkv/train/schedule.h"
#include "qkv/train/settings.h"
#include "train/run_data.h"

namespace qkv {
namespace {

constexpr const char* kSettings = "train";
constexpr std::int64_t kMost = std::int64_t{1} << 20;
constexpr std::int64_t kMostWide = std::int64_t{1} << 16;
constexpr std::int64_t kMostLayers = 1024;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;
constexpr std::int64_t kMostParameters = std::int64_t{1} << 31;

[[noreturn]] void refuse_from(const char* expected, const std::string& got) {
  throw InvalidArgument(kSettings, "from", expected, got);
}

void require_between(const char* member, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(kSettings, member, fmt::format("a whole number from {} to {}", least, most),
                        std::to_string(value));
}

void require_number(const char* member, double value, bool holds, const char* expected) {
  if (!holds) throw InvalidArgument(kSettings, member, expected, fmt::format("{}", value));
}

void require_sizes(const TrainSettings& settings) {
  require_between("layers", settings.layers, 1, kMostLayers);
  require_between("d_model", settings.d_model, 1, kMostWide);
  require_between("heads", settings.heads, 1, kMostWide);
  if (settings.d_ff) require_between("d_ff", *settings.d_ff, 1, kMostWide);
  if (settings.length) require_between("length", *settings.length, 1, kMost);
  if (settings.task == "pictures") {  // elsewhere a checkpoint may say 0
    require_between("image_side", settings.image_side.value_or(1), 1, kMostWide);
    require_between("patch_side", settings.patch_side.value_or(1), 1, kMostWide);
  }
  // Of one stack: four matrices of attention and two of the feed-forward layer in each block.
  const std::int64_t d_ff = settings.d_ff.value_or(4 * settings.d_model);
  const std::int64_t parameters = settings.layers * settings.d_model * (4 * settings.d_model + 2 * d_ff);
  if (parameters <= kMostParameters) return;
  throw InvalidArgument(kSettings, "d_model", fmt::format("a model of at most {} parameters", kMostParameters),
                        fmt::format("{} in its blocks alone", parameters));
}

void require_numbers(const TrainSettings& settings) {
  const auto share = [](double value) { return value >= 0 && value < 1; };
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  require_number("dropout", settings.dropout, share(settings.dropout), "a number in [0, 1)");
  require_number("momentum", settings.momentum, share(settings.momentum), "a number in [0, 1)");
  require_number("learning_rate", settings.learning_rate, positive(settings.learning_rate), "a finite number above 0");
  require_number("clip", settings.clip, settings.clip > 0, "more than 0");
  require_number("weight_decay", settings.weight_decay,
                 std::isfinite(settings.weight_decay) && settings.weight_decay >= 0, "a finite number, 0 or more");
}

void require_words(const TrainSettings& settings) {
  if (settings.dtype != "f32" && settings.dtype != "bf16") {
    throw InvalidArgument(kSettings, "dtype", "f32 or bf16", "\"" + settings.dtype + "\"");
  }
  static_cast<void>(training::stored_dtype(settings));
  if (settings.optimizer != "adamw" && settings.optimizer != "sgd") {
    throw InvalidArgument(kSettings, "optimizer", "adamw or sgd", "\"" + settings.optimizer + "\"");
  }
  static_cast<void>(schedule_named(settings.schedule));
  static_cast<void>(model_kind_named(settings.model));
  static_cast<void>(positions_named(settings.positions));
}

}  // namespace

void require_sound(const TrainSettings& settings, const TrainReporting& reporting) {
  require_between("steps", settings.steps, 1, kMostSteps);
  require_between("batch", settings.batch, 1, kMost);
  require_between("accumulation", settings.accumulation, 1, kMost);
  require_between("warm_up", settings.warm_up, 0, kMostSteps);
  require_between("examine_every", reporting.examine_every, 1, kMostSteps);
  require_between("save_every", reporting.save_every, 1, kMostSteps);
  require_between("keep_every", reporting.keep_every, 0, kMostSteps);
  require_between("examples", reporting.examples, 1, kMost);
  if (settings.from && settings.task != "text") refuse_from("none but for `train text`", *settings.from);
  if (settings.from && settings.tokenizer) refuse_from("no tokenizer beside it: the model has its own", *settings.from);
  require_words(settings);
  require_numbers(settings);
  require_sizes(settings);
}

}  // namespace qkv
