#include "train/absent_task.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/mask_token.h"
#include "qkv/number_text.h"

namespace qkv::training {
namespace {

constexpr std::array<TaskKind, 4> kKinds = {TaskKind::decoder, TaskKind::encoder, TaskKind::encoder_decoder,
                                            TaskKind::image_text};

// An encoder is asked where its text has a gap; everywhere where it has none.
std::vector<bool> gaps_asked(TaskKind kind, const Tokenizer& tokenizer, const TaskExample& example) {
  if (kind != TaskKind::encoder) return {};
  std::vector<bool> places;
  for (const std::int32_t token : example.tokens) places.push_back(is_mask_token(tokenizer.piece(token)));
  return std::ranges::find(places, true) == places.end() ? std::vector<bool>() : places;
}

class AbsentTask final : public Task {
 public:
  AbsentTask(TaskInfo info, TaskLengths lengths, std::shared_ptr<const Tokenizer> tokenizer)
      : info_(std::move(info)), lengths_(lengths), tokenizer_(std::move(tokenizer)) {}

  [[nodiscard]] const TaskInfo& info() const noexcept override { return info_; }
  [[nodiscard]] const TaskLengths& lengths() const noexcept override { return lengths_; }
  [[nodiscard]] const std::vector<TaskRelation>& relations() const noexcept override { return relations_; }
  [[nodiscard]] const Tokenizer& vocabulary() const noexcept override { return *tokenizer_; }
  [[nodiscard]] TaskExample example(Split /*split*/, std::int64_t /*n*/) const override {
    throw Error("the examples of " + info_.name + " are not in its model's file");
  }
  [[nodiscard]] std::vector<bool> asked(const TaskExample& example) const override {
    return gaps_asked(info_.kind, *tokenizer_, example);
  }

 private:
  TaskInfo info_;
  TaskLengths lengths_;
  std::vector<TaskRelation> relations_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

// What a model of others reads: its own tokenizers, in their own templates.
class ForeignTask final : public Task {
 public:
  // `known` has 0 for a length that the config does not say.
  ForeignTask(TaskKind kind, TaskLengths known, ModelTokenizers tokenizers)
      : info_{.name = "", .description = "", .kind = kind, .accuracy = 0, .length = std::nullopt},
        known_(known),
        lengths_(known),
        tokenizers_(std::move(tokenizers)) {
    // A task of 0 tokens of source would read none.
    if (kind == TaskKind::encoder_decoder) lengths_.source = std::max<std::int64_t>(known.source, 1);
  }

  [[nodiscard]] const TaskInfo& info() const noexcept override { return info_; }
  [[nodiscard]] const TaskLengths& lengths() const noexcept override { return lengths_; }
  [[nodiscard]] const std::vector<TaskRelation>& relations() const noexcept override { return relations_; }
  [[nodiscard]] const Tokenizer& vocabulary() const noexcept override { return *tokenizers_.tokens; }
  [[nodiscard]] const Tokenizer& source_vocabulary() const noexcept override {
    return tokenizers_.source ? *tokenizers_.source : *tokenizers_.tokens;
  }
  [[nodiscard]] TaskExample example(Split /*split*/, std::int64_t /*n*/) const override {
    throw Error("a model of others has no examples");
  }
  [[nodiscard]] std::vector<bool> asked(const TaskExample& example) const override {
    return gaps_asked(info_.kind, vocabulary(), example);
  }
  [[nodiscard]] std::vector<std::string> outside(const TaskExample& example) const override {
    return longer_than(known_, example);
  }

 private:
  TaskInfo info_;
  TaskLengths known_;
  TaskLengths lengths_;
  std::vector<TaskRelation> relations_;
  ModelTokenizers tokenizers_;
};

TaskKind task_kind_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::encoder:
      return TaskKind::encoder;
    case ModelKind::encoder_decoder:
      return TaskKind::encoder_decoder;
    case ModelKind::captioner:
    case ModelKind::two_tower:
      return TaskKind::image_text;
    case ModelKind::decoder:
      break;
  }
  return TaskKind::decoder;
}

[[noreturn]] void fail(const std::string& word, const std::string& text) {
  throw Error("the model's file says of " + word + ": \"" + text + "\", which has no meaning");
}

const std::string& text_of(const Words& words, const std::string& word) {
  const auto found = words.find(word);
  if (found == words.end()) throw Error("the model's file does not say its " + word);
  return found->second;
}

std::int64_t number_of(const Words& words, const std::string& word) {
  const std::string& text = text_of(words, word);
  const auto value = number_from<std::int64_t>(text);
  if (!value || *value < 0) fail(word, text);
  return *value;
}

template <class Names, class NameOf>
std::size_t index_of(const Words& words, const std::string& word, const Names& all, const NameOf& name) {
  const std::string& text = text_of(words, word);
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (name(all[n]) == text) return n;
  }
  fail(word, text);
}

}  // namespace

void describe(const Task& task, Words& words) {
  words["kind"] = name_of(task.info().kind);
  words["tokens"] = std::to_string(task.lengths().tokens);
  if (task.lengths().source > 0) words["source"] = std::to_string(task.lengths().source);
  words["image_side"] = std::to_string(task.lengths().image_side);
  words["patch_side"] = std::to_string(task.lengths().patch_side);
}

std::unique_ptr<const Task> make_absent_task(const std::string& name, const Words& words,
                                             std::shared_ptr<const Tokenizer> tokenizer) {
  if (tokenizer == nullptr) throw Error("the model's file does not hold its tokenizer: train it again");
  const TaskKind kind = kKinds.at(index_of(words, "kind", kKinds, [](TaskKind k) { return name_of(k); }));
  return std::make_unique<AbsentTask>(
      TaskInfo{.name = name, .description = "", .kind = kind, .accuracy = 0, .length = std::nullopt},
      TaskLengths{.tokens = number_of(words, "tokens"),
                  .source = words.contains("source") ? number_of(words, "source") : 0,
                  .image_side = number_of(words, "image_side"),
                  .patch_side = number_of(words, "patch_side")},
      std::move(tokenizer));
}

std::unique_ptr<const Task> make_task_of(const Model& model) {
  const ModelConfig config = model.config();
  const auto number = [&](const char* word) {
    const auto found = config.find(word);
    return found == config.end() ? 0 : number_from<std::int64_t>(found->second).value_or(0);
  };
  return std::make_unique<ForeignTask>(task_kind_of(model.kind()),
                                       TaskLengths{.tokens = number("length"),
                                                   .source = model.traits().reads_source ? number("source_length") : 0,
                                                   .image_side = number("image_side"),
                                                   .patch_side = number("patch_side")},
                                       model.tokenizers());
}

}  // namespace qkv::training
