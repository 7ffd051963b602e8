#include "qkv/train/trained_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <vector>

#include "qkv/number_text.h"
#include "qkv/softmax.h"
#include "train/absent_task.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;
using Words = std::map<std::string, std::string>;

constexpr std::string_view kSuffix = ".safetensors";
constexpr std::array<std::string_view, 3> kNeverSaid = {"<pad>", "<s>", "<unknown>"};

std::vector<std::string> directories() {
  std::vector<std::string> all;
  if (const char* const own = std::getenv("QKV_MODELS"); own != nullptr && *own != 0) all.emplace_back(own);
  all.emplace_back(QKV_TREE_MODELS);
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  if (!none) all.push_back(program.parent_path() / "../share/qkv/models");
  return all;
}

std::string names_in(const std::vector<std::string>& places) {
  std::vector<std::string> names;
  for (const std::string& place : places) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(place, none)) {
      if (entry.path().extension() == kSuffix) names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
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

std::unique_ptr<const Task> task_of(const std::string& name, const Words& words) {
  if (!is_built_in(name)) return train::make_absent_task(name, words);
  return make_task(name, {.seed = number_in<std::uint64_t>(words, "seed").value_or(0),
                          .length = number_in<std::int64_t>(words, "length")});
}

// A file whose first bytes cannot be the length of a header and its brace; what cannot be read is left to its reader.
bool is_other_file(const std::string& path) {
  constexpr std::size_t kLength = 8;
  std::array<char, kLength + 1> begin = {};
  std::ifstream file(path, std::ios::binary);
  if (fs::is_directory(path) || !file) return false;
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file.gcount() < static_cast<std::streamsize>(begin.size()) || begin[kLength] != '{';
}

void blank(TaskExample& example) {
  example.labels.assign(example.tokens.size(), std::nullopt);
  example.scored.assign(example.tokens.size(), false);
}

}  // namespace

void describe_task(const Task& task, Words& words) {
  words["task"] = task.info().name;
  if (!is_built_in(task.info().name)) train::describe(task, words);
}

std::string trained_model_path(std::string_view name) {
  if (name.find_first_of("./") != std::string_view::npos) return std::string(name);
  const std::vector<std::string> places = directories();
  for (const std::string& place : places) {
    std::string path = place + "/" + std::string(name) + std::string(kSuffix);
    if (fs::exists(path)) return path;
  }
  throw Error("no model \"" + std::string(name) + "\" in the box, which has " + names_in(places) +
              "; the path of a file of one's own holds a slash or a dot");
}

TrainedModel TrainedModel::read(const std::string& path) {
  if (is_other_file(path)) throw Error(path + ": expected a safetensors file that qkv train wrote, got another file");
  const Checkpoint checkpoint = Checkpoint::read(path);
  TrainedModel trained;
  trained.facts_ = checkpoint.facts();
  const auto task = trained.facts_.run.find("task");
  if (task == trained.facts_.run.end()) {
    throw Error(path + ": expected a model that qkv train wrote, got one that says nothing of its task");
  }
  trained.task_ = task_of(task->second, trained.facts_.run);
  trained.has_examples_ = is_built_in(task->second);
  trained.model_ = make_task_model(trained.facts_.model);
  trained.kind_ = model_kind_named(trained.facts_.model.at("kind"));
  checkpoint.restore(trained.model_->parameters(), trained.facts_.model);
  return trained;
}

TaskExample TrainedModel::example_of(std::string_view text) const {
  TaskExample example;
  const Tokenizer& tokens = task_->vocabulary();
  const std::optional<std::int32_t> begin = tokens.find("<s>");
  if (task_->lengths().source > 0) {
    example.source = task_->source_vocabulary().encode(text).ids;
    if (example.source.empty()) throw InvalidArgument("TrainedModel", "text", "a token or more", "none");
    if (const auto end = task_->source_vocabulary().find("</s>")) example.source.push_back(*end);
  } else {
    example.tokens = tokens.encode(text).ids;
  }
  if (begin && (example.tokens.empty() || example.tokens.front() != *begin)) {
    example.tokens.insert(example.tokens.begin(), *begin);
  }
  if (example.tokens.empty()) throw InvalidArgument("TrainedModel", "text", "a token or more", "none");
  blank(example);
  return example;
}

TaskBatch TrainedModel::batch_of(const TaskExample& example) const {
  return qkv::batch_of(*task_, std::span(&example, 1), model_->layout());
}

// [T, vocabulary], of the example's own tokens.
Tensor TrainedModel::scores(const TaskExample& example) const {
  const auto* const says = dynamic_cast<const TokenModel*>(model_.get());
  if (says == nullptr) {
    throw InvalidArgument("TrainedModel", "model", "one that says tokens", name_of(kind_));
  }
  const NoGradient constant;
  const TaskBatch batch = batch_of(example);
  const std::int64_t all = batch.lengths[0];
  const auto own = static_cast<std::int64_t>(example.tokens.size());
  return Tensor(says->scores(batch, {}).value().select(0, 0).slice(0, all - own, all));
}

Tensor TrainedModel::probabilities(const TaskExample& example) const {
  return softmax(Tensor(scores(example), DType::f64), -1);
}

std::int32_t TrainedModel::next_token(const TaskExample& example, const AnswerOptions& options, double draw) const {
  const std::int64_t most = task_->lengths().tokens;
  TaskExample end;
  const bool is_cut =
      example.source.empty() && example.image.empty() && static_cast<std::int64_t>(example.tokens.size()) > most;
  if (is_cut) {
    end.tokens.assign(example.tokens.end() - most, example.tokens.end());
    blank(end);
  }
  const Tensor all = scores(is_cut ? end : example);
  // What a joined text counts after its answers' tokens, those of its source, is never said.
  const std::int64_t own = task_->vocabulary().size();
  const TensorView last = all.view().slice(0, all.dim(0) - 1, all.dim(0)).slice(1, 0, own);
  std::vector<double> shares = softmax(Tensor(last, DType::f64), -1).to_vector();
  for (const std::string_view never : kNeverSaid) {
    if (const auto token = task_->vocabulary().find(never)) shares[static_cast<std::size_t>(*token)] = 0;
  }
  if (options.temperature == 0) return static_cast<std::int32_t>(std::ranges::max_element(shares) - shares.begin());
  for (double& share : shares) share = std::pow(share, 1 / options.temperature);
  double left = draw * std::accumulate(shares.begin(), shares.end(), 0.0);
  std::size_t token = 0;
  while (token + 1 < shares.size() && left >= shares[token]) left -= shares[token++];
  return static_cast<std::int32_t>(token);
}

void TrainedModel::answer(TaskExample& example, const AnswerOptions& options) const {
  if (!(options.temperature >= 0)) {
    throw InvalidArgument("TrainedModel::answer", "temperature", "0 or more", std::to_string(options.temperature));
  }
  Generator generator(options.seed);
  const std::vector<double> draws = generator.rand({std::max<std::int64_t>(options.most, 1)}, DType::f64).to_vector();
  const std::optional<std::int32_t> end = task_->vocabulary().find("</s>");
  blank(example);
  for (std::int64_t n = 0; n < options.most; ++n) {
    const std::int32_t next = next_token(example, options, draws[static_cast<std::size_t>(n)]);
    if (next == end) return;
    example.tokens.push_back(next);
    example.labels.emplace_back();
    example.scored.push_back(false);
  }
}

std::int64_t TrainedModel::answer_length(std::int32_t last) const {
  if (!has_examples_ || kind_ != ModelKind::decoder || task_->lengths().source > 0) return 0;
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
  const auto* const pairs = dynamic_cast<const PairModel*>(model_.get());
  if (pairs == nullptr) {
    throw InvalidArgument("TrainedModel", "model", "a two-tower model", name_of(kind_));
  }
  return pairs->cosines(qkv::batch_of(*task_, examples, model_->layout()));
}

}  // namespace qkv
