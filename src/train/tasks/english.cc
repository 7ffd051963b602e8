// English: words whose form or meaning another word decides, in sentences with their trees.
#include "train/tasks/grammar/english.h"

#include <algorithm>

#include "train/tasks/generated_task.h"
#include "train/tasks/grammar/parse.h"
#include "train/tasks/grammar/sample.h"

namespace qkv::training {
namespace {

constexpr std::size_t kLongest = 18;
constexpr std::uint32_t kHidden = 75;  // percent of the forms that agree

enum RelationIndex : std::uint8_t { kSubject, kDeterminer, kPronoun, kSense };

class EnglishTask final : public GeneratedTask {
 public:
  EnglishTask(TaskParts parts, std::uint64_t seed) : GeneratedTask(std::move(parts), seed) {}

  void mark(Example& example) const override {
    const std::vector<std::string> words = words_of(example);
    if (no_english(words)) return;
    clear_marks(example, relations().size());
    for (const EnglishMark& found : english_marks(words)) {
      add(example, static_cast<RelationIndex>(found.relation), {found.place, found.key}, vocabulary().id(found.label));
    }
  }

  // Hidden forms, pronouns and homonyms.
  [[nodiscard]] std::vector<bool> asked(const Example& example) const override {
    std::vector<bool> places;
    for (const std::int32_t token : example.tokens) {
      const std::string& word = vocabulary().piece(token);
      const bool is_hidden = word.starts_with('<') && word != "<pad>";
      places.push_back(is_hidden || is_pronoun(word) || is_homonym(word));
    }
    return places;
  }

  [[nodiscard]] std::vector<std::string> outside(const Example& example) const override {
    std::vector<std::string> all = GeneratedTask::outside(example);
    if (const auto complaint = no_english(words_of(example))) {
      all.push_back("it learned from sentences such as \"the cat that the girls see is old\"; " + *complaint);
    }
    return all;
  }

 private:
  [[nodiscard]] std::vector<std::string> words_of(const Example& example) const {
    std::vector<std::string> words;
    for (const std::int32_t token : example.tokens) words.push_back(vocabulary().piece(token));
    return words;
  }

  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    EnglishSentence english;
    do {
      Sentence sentence = sample_sentence(random);
      english = write_english(sentence);
    } while (english.words.size() > kLongest);
    std::vector<std::int32_t> tokens;
    tokens.reserve(english.words.size());
    for (const EnglishWord& word : english.words) tokens.push_back(vocabulary().id(word.text));
    const std::vector<std::int32_t> content = tokens;
    Example example = blank_example(std::move(tokens), relations().size());
    for (const Link& link : english.pronouns) {
      add(example, kPronoun, link, content[static_cast<std::size_t>(link.to)]);
    }
    if (english.cue) add(example, kSense, *english.cue, vocabulary().id(english.sense));
    const bool asks_already = english.cue || !english.pronouns.empty();
    for (std::size_t i = 0; i < english.subjects.size(); ++i) {
      const bool last_chance = !asks_already && i == 0;
      if (random.percent(kHidden) || last_chance) hide(example, kSubject, english.subjects[i], english);
    }
    for (const Link& link : english.determiners) {
      if (random.percent(kHidden)) hide(example, kDeterminer, link, english);
    }
    for (auto& rows : example.patterns) std::ranges::sort(rows, {}, &PatternRow::query);
    example.syntax = syntax_of(english);
    return {std::move(example), content};
  }

  static void add(Example& example, RelationIndex relation, const Link& link, std::int32_t label) {
    ask(example, link.from, label);
    example.patterns[relation].push_back({link.from, {link.to}});
  }

  // Shows the form that agrees with nothing, and asks for the one that does.
  void hide(Example& example, RelationIndex relation, const Link& link, const EnglishSentence& english) const {
    const auto place = static_cast<std::size_t>(link.from);
    add(example, relation, link, example.tokens[place]);
    example.tokens[place] = vocabulary().id(english.words[place].hidden);
  }
};

std::unique_ptr<const Task> make_english(const TaskInfo& info, const TaskOptions& options) {
  std::vector<std::string> words = {"<pad>"};
  for (const auto& more : {english_words(), english_hidden_forms(), english_senses()}) {
    words.insert(words.end(), more.begin(), more.end());
  }
  const Vocabulary vocabulary(std::move(words), TextForm::words);
  return std::make_unique<EnglishTask>(
      TaskParts{info,
                {.tokens = kLongest},
                {{"subject-verb", AttentionSite::tokens, "a hidden verb to the noun or pronoun that it agrees with"},
                 {"determiner-noun", AttentionSite::tokens, "a hidden determiner to its noun"},
                 {"pronoun-antecedent", AttentionSite::tokens, "a pronoun to the noun that it stands for"},
                 {"sense-cue", AttentionSite::tokens, "a homonym to the word that tells its sense"}},
                vocabulary,
                vocabulary},
      options.seed);
}

}  // namespace

TaskMaker english_task() {
  return {{.name = "english",
           .description = "Say how hidden verbs and determiners agree, whom pronouns mean, and the sense of homonyms",
           .kind = TaskKind::encoder,
           .accuracy = 0.98,
           .length = std::nullopt},
          make_english};
}

}  // namespace qkv::training
