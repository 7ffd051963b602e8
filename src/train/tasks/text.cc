#include <utf8.h>

#include <algorithm>
#include <map>
#include <span>

#include "qkv/train/text_task.h"
#include "train/tasks/generated_task.h"
#include "train/tasks/text_window.h"

namespace qkv {
namespace {

constexpr std::size_t kCharacters = 1023;
constexpr const char* kMakeTextTask = "make_text_task";

std::vector<std::string_view> characters_of(std::string_view text, const std::string& name) {
  const auto bad = utf8::find_invalid(text.begin(), text.end());
  if (bad != text.end()) {
    throw InvalidArgument(kMakeTextTask, "text", "UTF-8",
                          "a byte that is none at offset " + std::to_string(bad - text.begin()) + " of " + name);
  }
  std::vector<std::string_view> characters;
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = at;
    utf8::unchecked::next(at);
    characters.emplace_back(&*begin, static_cast<std::size_t>(at - begin));
  }
  return characters;
}

// The most frequent first; of equals the one of the lower code.
Vocabulary vocabulary_of(const std::vector<std::string_view>& characters) {
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string_view character : characters) ++counts[character];
  std::vector<std::pair<std::string_view, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, {}, [](const auto& counted) { return std::pair(-counted.second, counted.first); });
  sorted.resize(std::min(sorted.size(), kCharacters));
  std::vector<std::string> tokens = {"<pad>", "<unknown>"};
  for (const auto& [character, count] : sorted) tokens.emplace_back(character);
  return {std::move(tokens), TextForm::characters};
}

/// A text as tokens.
struct CutText {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::int32_t> tokens;
  const char* unit;
};

CutText cut_at_characters(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> characters = characters_of(text, name);
  const auto vocabulary = std::make_shared<const Vocabulary>(vocabulary_of(characters));
  CutText cut{.tokenizer = vocabulary, .tokens = {}, .unit = "character"};
  const std::int32_t unknown = vocabulary->id("<unknown>");
  cut.tokens.reserve(characters.size());
  for (const std::string_view character : characters) {
    cut.tokens.push_back(vocabulary->find(character).value_or(unknown));
  }
  return cut;
}

CutText cut_text(std::string_view text, const std::string& name, const TextTaskOptions& options) {
  if (options.tokenizer == nullptr) return cut_at_characters(text, name);
  return {.tokenizer = options.tokenizer,
          .tokens = options.tokenizer->encode(text, {.special = SpecialTokens::without}).ids,
          .unit = "token"};
}

class TextTask final : public Task {
 public:
  TextTask(TaskInfo info, CutText text, training::TextWindow window, std::uint64_t seed)
      : info_(std::move(info)),
        window_(std::move(window)),
        lengths_(window_.lengths()),
        tokenizer_(std::move(text.tokenizer)),
        seed_(seed),
        tokens_(std::move(text.tokens)),
        held_out_(static_cast<std::int64_t>(tokens_.size() - tokens_.size() / 8)) {}

  [[nodiscard]] const TaskInfo& info() const noexcept override { return info_; }
  [[nodiscard]] const TextLengths& lengths() const noexcept override { return lengths_; }
  [[nodiscard]] const std::vector<Relation>& relations() const noexcept override { return relations_; }
  [[nodiscard]] const Tokenizer& vocabulary() const noexcept override { return *tokenizer_; }

  [[nodiscard]] Example example(Split split, std::int64_t n) const override {
    if (n < 0) throw InvalidArgument("Task::example", "n", "0 or more", std::to_string(n));
    const std::int64_t begin = split == Split::train ? drawn(n) : held_out(n);
    const auto first = tokens_.begin() + begin;
    training::TaskRandom random({.seed = seed_,
                                 .task = training::task_number(info_.name),
                                 .split = split == Split::train ? 0U : 1U,
                                 .n = n,
                                 .attempt = 1});
    return window_.example({first, first + window_.size() + 1}, random);
  }

  [[nodiscard]] std::optional<std::int64_t> count(Split split) const noexcept override {
    if (split == Split::train) return std::nullopt;
    return windows();
  }

  [[nodiscard]] std::optional<std::uint64_t> data_hash() const override {
    return training::hash_of(std::span<const std::int32_t>(tokens_));
  }

 private:
  [[nodiscard]] std::int64_t drawn(std::int64_t n) const {
    training::TaskRandom random({.seed = seed_, .task = training::task_number(info_.name), .n = n});
    return random.between(0, held_out_ - window_.size() - 1);
  }

  // That the last eighth holds.
  [[nodiscard]] std::int64_t windows() const noexcept {
    return (static_cast<std::int64_t>(tokens_.size()) - held_out_ - 1) / window_.size();
  }

  [[nodiscard]] std::int64_t held_out(std::int64_t n) const { return held_out_ + n % windows() * window_.size(); }

  TaskInfo info_;
  training::TextWindow window_;
  TextLengths lengths_;
  std::vector<Relation> relations_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::uint64_t seed_;
  std::vector<std::int32_t> tokens_;
  std::int64_t held_out_;  // the first of the last eighth
};

std::string described(TextObjective objective, const std::string& unit, const std::string& name) {
  switch (objective) {
    case TextObjective::masked:
      return "Say the " + unit + "s of " + name + " that were changed";
    case TextObjective::continued:
      return "Go on with " + name;
    case TextObjective::next:
      break;
  }
  return "Say the next " + unit + " of " + name;
}

TaskKind kind_of(TextObjective objective) {
  switch (objective) {
    case TextObjective::masked:
      return TaskKind::encoder;
    case TextObjective::continued:
      return TaskKind::encoder_decoder;
    case TextObjective::next:
      break;
  }
  return TaskKind::decoder;
}

}  // namespace

std::unique_ptr<const Task> make_text_task(std::string_view text, const std::string& name,
                                           const TextTaskOptions& options) {
  training::TextWindow window(options);
  CutText cut = cut_text(text, name, options);
  if (static_cast<std::int64_t>(cut.tokens.size() / 8) <= window.size()) {
    throw InvalidArgument(kMakeTextTask, "text",
                          "at least " + std::to_string(8 * (window.size() + 1)) + " " + cut.unit +
                              "s, of which an eighth is held out, for examples of " + std::to_string(window.size()),
                          std::to_string(cut.tokens.size()) + " in " + name);
  }
  TaskInfo info{.name = "text",
                .description = described(options.objective, cut.unit, name),
                .kind = kind_of(options.objective),
                .accuracy = 0,
                .length = std::nullopt};
  return std::make_unique<TextTask>(std::move(info), std::move(cut), std::move(window), options.seed);
}

}  // namespace qkv
