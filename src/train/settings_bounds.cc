// Which settings have a meaning, and which are more than a machine can have been meant for.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "qkv/error.h"
#include "qkv/train/schedule.h"
#include "qkv/train/settings.h"
#include "train/run_data.h"
#include "train/settings_words.h"

namespace qkv {
namespace {

constexpr const char* kSettings = "train";
constexpr std::int64_t kMostParameters = std::int64_t{1} << 31;

[[noreturn]] void refuse_from(const char* expected, const std::string& got) {
  throw InvalidArgument(kSettings, "from", expected, got);
}

// As the fields of a question have it.
std::string expected_of(const SettingBounds& bounds) {
  if (bounds.of == SettingBounds::Of::whole) {
    return fmt::format("a whole number from {:.0f} to {:.0f}", bounds.least, bounds.most);
  }
  if (bounds.is_open_above()) return fmt::format("a number from {}, below {}", bounds.least, bounds.most);
  return fmt::format("a number {} to 1e38", bounds.is_open_below() ? "above 0, up" : "from 0");
}

// Texts have no bounds.
template <class Value>
void require_within(std::span<const SettingBounds> all, std::string_view name, const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) {
    const auto bounds = std::ranges::find(all, name, &SettingBounds::name);
    if (bounds == all.end()) return;
    const auto number = static_cast<double>(value);  // NaN is within nothing
    const bool is_above = bounds->is_open_below() ? number > bounds->least : number >= bounds->least;
    const bool is_below = bounds->is_open_above() ? number < bounds->most : number <= bounds->most;
    if (is_above && is_below) return;
    throw InvalidArgument(kSettings, name, expected_of(*bounds), fmt::format("{}", value));
  } else if constexpr (!std::is_same_v<Value, std::string>) {
    if (value) require_within(all, name, *value);
  }
}

void require_bounds(const TrainSettings& settings, const TrainReporting& reporting) {
  const bool reads_pictures = settings.task == "pictures";  // elsewhere a checkpoint may say 0
  training::for_each_member(settings, [&](std::string_view name, const auto& value) {
    const bool is_of_pictures = name == "image_side" || name == "patch_side";
    if (reads_pictures || !is_of_pictures) require_within(kSettingBounds, name, value);
  });
  training::for_each_word(reporting, [](std::string_view word, std::int64_t value) {
    require_within(kReportingBounds, word.substr(word.find('.') + 1), value);
  });
}

// Of one stack: four matrices of attention and two of the feed-forward layer in each block.
void require_size(const TrainSettings& settings) {
  const std::int64_t d_ff = settings.d_ff.value_or(4 * settings.d_model);
  const std::int64_t parameters = settings.layers * settings.d_model * (4 * settings.d_model + 2 * d_ff);
  if (parameters <= kMostParameters) return;
  throw InvalidArgument(kSettings, "d_model", fmt::format("a model of at most {} parameters", kMostParameters),
                        fmt::format("{} in its blocks alone", parameters));
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
  require_bounds(settings, reporting);
  if (settings.from && settings.task != "text") refuse_from("none but for `train text`", *settings.from);
  if (settings.from && settings.tokenizer) refuse_from("no tokenizer beside it: the model has its own", *settings.from);
  require_words(settings);
  require_size(settings);
}

}  // namespace qkv
