#include "train_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace qkv::cli {
namespace {

using Words = std::map<std::string, std::string>;

// Both directions from one list of members, so that none is written and not read.
template <class Settings, class Each>
void for_each_member(Settings& s, const Each& each) {
  each("task", s.task);
  each("data", s.data);
  each("length", s.length);
  each("image_side", s.image_side);
  each("patch_side", s.patch_side);
  each("seed", s.seed);
  each("steps", s.steps);
  each("batch", s.batch);
  each("accumulation", s.accumulation);
  each("optimizer", s.optimizer);
  each("momentum", s.momentum);
  each("learning_rate", s.learning_rate);
  each("schedule", s.schedule);
  each("warm_up", s.warm_up);
  each("weight_decay", s.weight_decay);
  each("clip", s.clip);
  each("dropout", s.dropout);
  each("dtype", s.dtype);
  each("model", s.model);
  each("layers", s.layers);
  each("d_model", s.d_model);
  each("heads", s.heads);
  each("d_ff", s.d_ff);
  each("positions", s.positions);
}

template <class Reporting, class Each>
void for_each_word(Reporting& r, const Each& each) {
  each("report.examine_every", r.examine_every);
  each("report.save_every", r.save_every);
  each("report.examples", r.examples);
}

struct Write {
  Words& words;

  void operator()(const char* word, const std::string& value) const { words[word] = value; }
  template <class Number>
  void operator()(const char* word, const Number& value) const {
    words[word] = fmt::format("{}", value);  // a double in its shortest form that reads back as itself
  }
  template <class Number>
  void operator()(const char* word, const std::optional<Number>& value) const {
    if (value) words[word] = fmt::format("{}", *value);
  }
};

struct Read {
  const Words& words;

  void operator()(const char* word, std::string& value) const { value = text(word); }
  template <class Number>
  void operator()(const char* word, Number& value) const {
    const std::string& from = text(word);
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), value);
    if (error == std::errc() && end == from.data() + from.size()) return;
    throw Error(fmt::format("run.{}: expected a number, got \"{}\"", word, from));
  }
  template <class Number>
  void operator()(const char* word, std::optional<Number>& value) const {
    if (words.contains(word)) (*this)(word, value.emplace());
  }

  [[nodiscard]] const std::string& text(const char* word) const {
    const auto found = words.find(word);
    if (found == words.end()) throw Error(fmt::format("run.{}: expected a value, got none", word));
    return found->second;
  }
};

}  // namespace

Recipe recipe_for(std::string_view task) {
  static constexpr std::array<Recipe, 12> kRecipes = {{
      {.task = "copy", .model = "encoder-decoder", .layers = 1, .d_model = 32, .heads = 1, .d_ff = 16, .steps = 1000},
      {.task = "reverse",
       .model = "encoder-decoder",
       .layers = 1,
       .d_model = 24,
       .heads = 1,
       .d_ff = 16,
       .steps = 2500},
      {.task = "sort", .model = "encoder-decoder", .heads = 1, .d_ff = 32, .positions = "none", .steps = 1500},
      {.task = "previous",
       .layers = 1,
       .d_model = 32,
       .heads = 1,
       .positions = "rotary",
       .steps = 1200,
       .learning_rate = 1e-2},
      {.task = "induction", .heads = 1, .d_ff = 64, .batch = 64, .learning_rate = 2e-3},
      {.task = "brackets", .layers = 3, .positions = "t5", .steps = 3000},
      {.task = "english", .model = "encoder", .heads = 8, .positions = "rotary", .steps = 3000, .learning_rate = 2e-3},
      {.task = "translation", .model = "encoder-decoder", .positions = "rotary", .steps = 3000, .learning_rate = 2e-3},
      {.task = "shapes", .model = "captioner", .steps = 3000, .learning_rate = 2e-3},
      {.task = "pictures", .model = "captioner", .positions = "rotary", .learning_rate = 2e-3},
      {.task = "text",
       .layers = 4,
       .d_model = 128,
       .positions = "rotary",
       .steps = 1500,
       .batch = 16,
       .learning_rate = 2e-3},
      {.task = "addition", .heads = 2, .d_ff = 128, .batch = 64, .learning_rate = 2e-3},
  }};
  const auto* found = std::ranges::find(kRecipes, task, &Recipe::task);
  return found == kRecipes.end() ? Recipe{.task = task} : *found;
}

Words words_of(const TrainSettings& settings) {
  Words words;
  for_each_member(settings, Write{words});
  return words;
}

TrainSettings settings_of(const Words& words) {
  TrainSettings settings;
  for_each_member(settings, Read{words});
  return settings;
}

Words words_of(const TrainReporting& reporting) {
  Words words;
  for_each_word(reporting, Write{words});
  return words;
}

TrainReporting reporting_of(const Words& words) {
  TrainReporting reporting;
  for_each_word(reporting, [&](const char* word, std::int64_t& value) {
    if (words.contains(word)) Read{words}(word, value);
  });
  return reporting;
}

std::unique_ptr<Optimizer> optimizer_of(const TrainSettings& settings, Parameters parameters) {
  if (settings.optimizer == "sgd") {
    return make_sgd(std::move(parameters), {.momentum = settings.momentum, .weight_decay = settings.weight_decay});
  }
  return make_adamw(std::move(parameters), {.weight_decay = settings.weight_decay});
}

TrainingOptions training_of(const TrainSettings& settings) {
  return {.schedule = {.kind = schedule_named(settings.schedule),
                       .peak = settings.learning_rate,
                       .last = 0,
                       .warm_up = std::min(settings.warm_up, settings.steps),
                       .steps = settings.steps},
          .accumulation = settings.accumulation,
          .clip_norm = settings.clip};
}

}  // namespace qkv::cli
