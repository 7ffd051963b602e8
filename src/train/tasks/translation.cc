// Translation of the small English grammar into French, with the true alignment.
#include "train/tasks/generated_task.h"
#include "train/tasks/grammar/english.h"
#include "train/tasks/grammar/french.h"
#include "train/tasks/grammar/parse.h"
#include "train/tasks/grammar/sample.h"

namespace qkv::training {
namespace {

constexpr std::size_t kLongestEnglish = 16;
constexpr std::size_t kLongestFrench = 19;

class TranslationTask final : public GeneratedTask {
 public:
  TranslationTask(TaskParts parts, std::uint64_t seed) : GeneratedTask(std::move(parts), seed) {}

  [[nodiscard]] std::vector<std::string> outside(const Example& example) const override {
    std::vector<std::string> all = GeneratedTask::outside(example);
    std::vector<std::string> words;
    for (const std::int32_t token : example.source) words.push_back(source_vocabulary().piece(token));
    if (!words.empty() && words.back() == "</s>") words.pop_back();
    if (const auto complaint = no_english(words)) {
      all.push_back("it learned from sentences such as \"some umbrellas are heavy\"; " + *complaint);
    }
    return all;
  }

 private:
  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    EnglishSentence english;
    std::vector<FrenchWord> french;
    do {
      Sentence sentence = sample_sentence(random);
      english = write_english(sentence);
      french = write_french(sentence);
    } while (english.words.size() > kLongestEnglish || french.size() > kLongestFrench);
    std::vector<std::int32_t> tokens = {vocabulary().id("<s>")};
    for (const FrenchWord& word : french) tokens.push_back(vocabulary().id(word.text));
    Example example = blank_example(tokens, 1);
    for (std::size_t p = 0; p < french.size(); ++p) {
      ask(example, static_cast<std::int64_t>(p), tokens[p + 1]);
      example.patterns[0].push_back({static_cast<std::int64_t>(p), french[p].english});
    }
    ask(example, static_cast<std::int64_t>(french.size()), vocabulary().id("</s>"));
    for (const EnglishWord& word : english.words) example.source.push_back(source_vocabulary().id(word.text));
    const std::vector<std::int32_t> content = example.source;
    example.source.push_back(source_vocabulary().id("</s>"));
    example.syntax = syntax_of(english);
    return {std::move(example), content};
  }
};

std::vector<std::string> after(std::vector<std::string> first, const std::vector<std::string>& words) {
  first.insert(first.end(), words.begin(), words.end());
  return first;
}

std::unique_ptr<const Task> make_translation(const TaskInfo& info, const TaskOptions& options) {
  return std::make_unique<TranslationTask>(
      TaskParts{info,
                {.tokens = kLongestFrench + 1, .source = kLongestEnglish + 1},
                {{"alignment", AttentionSite::cross,
                  "query p, which predicts French word p, to the English words that it renders"}},
                Vocabulary(after({"<pad>", "<s>", "</s>"}, french_words()), TextForm::words),
                Vocabulary(after({"<pad>", "</s>"}, english_words()), TextForm::words)},
      options.seed);
}

}  // namespace

TaskMaker translation_task() {
  return {{.name = "translation",
           .description = "Translate the sentences of the task english into French",
           .kind = TaskKind::encoder_decoder,
           .accuracy = 0.98,
           .length = std::nullopt},
          make_translation};
}

}  // namespace qkv::training
