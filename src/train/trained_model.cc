#include "qkv/train/trained_model.h"

#if defined(__linux__)
#include <dlfcn.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/said_of.h"
#include "files/place.h"
#include "files/reading.h"
#include "model/families/gguf.h"
#include "model/require_finite.h"
#include "model/words.h"
#include "qkv/image.h"
#include "qkv/number_text.h"
#include "qkv/softmax.h"
#include "qkv/train/examine.h"
#include "train/absent_task.h"
#include "train/box.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".safetensors";
constexpr std::array<std::string_view, 3> kNeverWritten = {"<pad>", "<s>", "<unknown>"};

bool lies_in_build(const fs::path& file) {
  std::error_code none;
  const fs::path tree = fs::weakly_canonical(QKV_TREE_BUILD, none);
  return std::ranges::mismatch(tree, fs::weakly_canonical(file, none)).in1 == tree.end();
}

// What was installed reads nothing of the tree that it was built from: whoever owns that path by then would supply its
// models. A build without such a path (WebAssembly) has its models beside it.
bool is_of_the_tree(const fs::path& program) {
  if (fs::path(QKV_TREE_MODELS).is_relative() || lies_in_build(program)) return true;
#if defined(__linux__)
  // An extension module of Python is no program of its own.
  Dl_info own{};
  const bool is_known = ::dladdr(reinterpret_cast<const void*>(&is_of_the_tree), &own) != 0;
  return is_known && own.dli_fname != nullptr && std::string_view(own.dli_fname).ends_with(".so") &&
         lies_in_build(own.dli_fname);
#else
  return false;
#endif
}

std::vector<std::string> directories() {
  std::vector<std::string> all;
  if (const char* const own = std::getenv("QKV_MODELS"); own != nullptr && *own != 0) all.emplace_back(own);
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  if (!none) all.push_back(program.parent_path() / "../share/qkv/models");
  if (is_of_the_tree(program)) all.emplace_back(QKV_TREE_MODELS);
  return all;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

bool is_built_in(const std::string& name) { return std::ranges::find(tasks(), name, &TaskInfo::name) != tasks().end(); }

template <class Number>
std::optional<Number> number_in(const Words& words, const std::string& word) {
  const auto found = words.find(word);
  if (found == words.end()) return std::nullopt;
  if (const auto value = number_from<Number>(found->second)) return value;
  throw Error("the model's file says of " + word + ": \"" + found->second + "\", which is no number");
}

std::unique_ptr<const Task> task_of(const std::string& name, const Words& words, const Model& model) {
  if (!is_built_in(name)) return training::make_absent_task(name, words, model.tokenizers().tokens);
  return make_task(name, {.seed = number_in<std::uint64_t>(words, "seed").value_or(0),
                          .length = number_in<std::int64_t>(words, "length")});
}

std::optional<std::int64_t> config_number(const Model& model, const char* word) {
  const ModelConfig config = model.config();
  const auto found = config.find(word);
  if (found == config.end()) return std::nullopt;
  return number_from<std::int64_t>(found->second);
}

void blank(TaskExample& example) {
  example.labels.assign(example.tokens.size(), std::nullopt);
  example.scored.assign(example.tokens.size(), false);
}

}  // namespace

void describe_task(const Task& task, Words& words) {
  words["task"] = task.info().name;
  if (!is_built_in(task.info().name)) training::describe(task, words);
}

std::vector<std::string> trained_model_names() {
  std::vector<std::string> names;
  for (const std::string& place : directories()) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(place, none)) {
      if (entry.path().extension() == kSuffix) names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::vector<std::string> training::box_directories() { return directories(); }

std::string box_file(std::string_view name) {
  for (const std::string& place : directories()) {
    std::string path = place + "/" + std::string(name);
    if (files::is_there(path)) return path;
  }
  throw Error("no file \"" + std::string(name) + "\" in the box of models");
}

std::string trained_model_path(std::string_view name) {
  if (name.find_first_of("./") != std::string_view::npos) return std::string(name);
  for (const std::string& place : directories()) {
    std::string path = place + "/" + std::string(name) + std::string(kSuffix);
    if (files::is_there(path)) return path;
  }
  files::require_in_reach(std::string(name));
  if (files::is_folder(std::string(name))) return std::string(name);
  throw Error("no model \"" + std::string(name) + "\" in the box, which has " + listed(trained_model_names()) +
              "; for a file, give a path such as ./model.safetensors");
}

TrainedModel::TrainedModel(Model model, std::unique_ptr<const Task> task, std::string path)
    : model_(std::move(model)),
      task_(std::move(task)),
      path_(std::move(path)),
      has_examples_(is_built_in(task_->info().name)) {}

TrainedModel TrainedModel::read(const std::string& path) {
  files::require_file_or_folder(path);
  Model model = Model::open(path);
  const bool is_of_others = files::is_folder(path) || families::is_gguf(path);
  const Words run = is_of_others ? Words() : words_of("run", Safetensors::read(path).metadata());
  const auto task = run.find("task");
  try {
    if (task == run.end()) {
      if (model.tokenizers().tokens == nullptr) throw Error(path + ": expected a tokenizer with the model, got none");
      std::unique_ptr<const Task> none = training::make_task_of(model);
      return {std::move(model), std::move(none), path};
    }
    std::unique_ptr<const Task> learnt = task_of(task->second, run, model);
    return {std::move(model), std::move(learnt), path};
  } catch (const InvalidArgument& damaged) {
    throw Error(path + ": " + damaged.what());
  }
}

TaskExample TrainedModel::example_of(std::string_view text) const {
  return core::said_of("TrainedModel", "text", [&] { return example_read(text); });
}

TaskExample TrainedModel::example_read(std::string_view text) const {
  TaskExample example;
  const Tokenizer& tokens = task_->vocabulary();
  const std::optional<std::int32_t> begin = tokens.find("<s>");
  if (task_->lengths().source > 0) {
    example.source = task_->source_vocabulary().encode(text).ids;
    if (example.source.empty()) throw InvalidArgument("TrainedModel", "text", "a token or more", "none");
    const auto end = task_->source_vocabulary().find("</s>");
    if (has_task() && end && example.source.back() != *end) example.source.push_back(*end);
  } else {
    example.tokens = tokens.encode(text).ids;
  }
  // The token with which an encoder-decoder of others begins to write.
  const std::optional<std::int64_t> start = config_number(model_, "start");
  if (start) example.tokens = {static_cast<std::int32_t>(*start)};
  if (has_task() && !start && begin && (example.tokens.empty() || example.tokens.front() != *begin)) {
    example.tokens.insert(example.tokens.begin(), *begin);
  }
  if (example.tokens.empty()) throw InvalidArgument("TrainedModel", "text", "a token or more", "none");
  example.tokens = model_.padded(std::move(example.tokens));
  require_places(example);
  blank(example);
  return example;
}

// A decoder has its source's places before its own.
void TrainedModel::require_places(const TaskExample& example) const {
  const std::optional<std::int64_t> places = positions();
  if (!places) return;
  const bool has_encoder = traits().reads_source;
  const std::int64_t most = has_encoder ? config_number(model_, "source_length").value_or(*places) : *places;
  const std::int64_t tokens = std::ssize(example.source) + (has_encoder ? 0 : std::ssize(example.tokens));
  if (tokens <= most) return;
  // What was added to the reader's text does not count for the reader.
  const std::optional<std::int32_t> end = has_task() ? task_->source_vocabulary().find("</s>") : std::nullopt;
  const std::int64_t added = has_encoder && end ? 1 : 0;
  throw InvalidArgument(
      "TrainedModel", "text",
      "a text of at most " + std::to_string(most - added) + " tokens, for which there are learned positions",
      std::to_string(tokens - added) + " tokens");
}

Tensor TrainedModel::image_of(const TensorView& picture) const {
  const std::int64_t side = task_->lengths().image_side;
  if (side == 0) {
    throw InvalidArgument("TrainedModel", "picture", "a model that reads images",
                          "one of kind " + std::string(name_of(kind())));
  }
  return core::said_of("TrainedModel", "picture", [&] {
    if (has_task()) return qkv::image_of(picture, side);
    return prepare_image(picture, preparation()).reshape({3, side, side});
  });
}

Tensor TrainedModel::colours_of(const TensorView& image) const {
  if (has_task()) return Tensor(image);
  const ImagePreparation done = preparation();
  Tensor colours(image);
  const auto values = colours.values<float>();
  const std::size_t plane = values.size() / 3;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double level = values[n] * done.deviation.at(n / plane) + done.mean.at(n / plane);
    values[n] = static_cast<float>(std::clamp(level, 0.0, 1.0));
  }
  return colours;
}

ImagePreparation TrainedModel::preparation() const {
  if (files::is_folder(path_)) return read_image_preparation(path_);
  throw Error(path_ + ": a file does not say how its pictures are prepared: give the folder of the model");
}

TaskBatch TrainedModel::batch_of(const TaskExample& example) const {
  return qkv::batch_of(*task_, std::span(&example, 1), layout_for(kind()));
}

Tensor TrainedModel::probabilities(const TaskExample& example) const {
  const NoGradient constant;
  return probabilities(example, model_.forward(input_of(batch_of(example))).value());
}

// A joined text has its source's places before its own.
Tensor TrainedModel::probabilities(const TaskExample& example, const TensorView& scores) const {
  const auto own = static_cast<std::int64_t>(example.tokens.size());
  const std::int64_t all = batch_of(example).lengths[0];
  Tensor shares = softmax(Tensor(scores.select(0, 0).slice(0, all - own, all), DType::f64), -1);
  // A row with a score that is no number has no other share.
  for (std::int64_t t = 0; t < own; ++t) {
    require_numbers(model_, "TrainedModel", "the scores at token " + std::to_string(t), std::array{shares.at({t, 0})});
  }
  return shares;
}

// Tokens that are no text; a model of others may write any. And what a joined text counts after its answers' tokens:
// those of its source.
std::vector<std::int64_t> TrainedModel::never_written() const {
  std::vector<std::int64_t> never;
  for (const std::string_view piece : kNeverWritten) {
    if (!has_task()) break;
    if (const auto token = task_->vocabulary().find(piece)) never.push_back(*token);
  }
  const std::int64_t own = task_->vocabulary().size();
  const bool is_joined = layout_for(kind()) == BatchLayout::joined && joined_source_offset(*task_) > 0;
  for (std::int64_t n = 0; is_joined && n < task_->source_vocabulary().size(); ++n) never.push_back(own + n);
  return never;
}

GenerateOptions TrainedModel::writing(GenerateOptions options) const {
  const std::vector<std::int64_t> never = never_written();
  options.never.insert(options.never.end(), never.begin(), never.end());
  if (options.ends.empty()) options.ends = model_.tokenizers().ends;
  const auto end = task_->vocabulary().find("</s>");
  if (has_task() && end && options.ends.empty()) options.ends = {*end};
  if (!options.window) options.window = window();
  return options;
}

std::optional<std::int64_t> TrainedModel::window() const {
  const TaskLengths& lengths = task_->lengths();
  if (!traits().goes_on || lengths.source > 0 || lengths.image_side > 0) return std::nullopt;
  const std::optional<std::int64_t> places = positions();
  if (lengths.tokens == 0) return places;
  return places ? std::min(*places, lengths.tokens) : lengths.tokens;
}

std::optional<std::int64_t> TrainedModel::positions() const {
  const ModelConfig config = model_.config();
  const auto kind = config.find("positions");
  if (kind == config.end() || kind->second != name_of(Positions::learned)) return std::nullopt;
  return config_number(model_, "length");
}

void TrainedModel::answer(TaskExample& example, const GenerateOptions& options) const {
  blank(example);
  const TaskBatch batch = batch_of(example);
  const NewTokens written = model_.generate(input_of(batch), writing(options));
  for (const std::int64_t token : written.front()) example.tokens.push_back(static_cast<std::int32_t>(token));
  blank(example);
}

std::int64_t TrainedModel::answer_length(std::int32_t last) const {
  if (!has_examples_ || !traits().goes_on || task_->lengths().source > 0) return 0;
  std::int64_t count = 0;
  // A token that a few examples only happen to ask after is no question.
  for (std::int64_t n = 0; n < 8; ++n) {
    const TaskExample example = task_->example(Split::test, n);
    const auto first = std::ranges::find_if(example.labels, [](const auto& label) { return label.has_value(); });
    if (first == example.labels.end()) return 0;
    const auto place = static_cast<std::size_t>(first - example.labels.begin());
    if (example.tokens[place] != last) return 0;
    for (std::size_t p = place; p + 1 < example.tokens.size(); ++p) {
      if (example.labels[p] != example.tokens[p + 1]) return 0;
    }
    count = std::max(count, static_cast<std::int64_t>(example.tokens.size() - place));
  }
  return count;
}

Tensor TrainedModel::cosines(std::span<const TaskExample> examples) const {
  Tensor cosines = batch_cosines(model_, qkv::batch_of(*task_, examples, layout_for(kind())));
  require_numbers(model_, "TrainedModel", "the cosines of pictures and texts", cosines.to_vector());
  return cosines;
}

}  // namespace qkv
