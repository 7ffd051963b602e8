#include "train/tasks/grammar/parse.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "train/tasks/grammar/lexicon.h"

namespace qkv::training {
namespace {

constexpr std::array<std::string_view, 10> kDeterminerWords = {"the",   "a",    "an",    "some",   "this",
                                                               "these", "that", "those", "<this>", "<that>"};
constexpr std::array<std::string_view, 7> kPronounWords = {"he", "him", "she", "her", "it", "they", "them"};

bool is_determiner(std::string_view word) {
  return std::ranges::find(kDeterminerWords, word) != kDeterminerWords.end();
}

bool is_form(const std::array<std::string_view, 2>& forms, std::string_view word) {
  return std::ranges::find(forms, word) != forms.end();
}

bool is_noun(std::string_view word) {
  return is_homonym(word) ||
         std::ranges::any_of(nouns(), [&](const Noun& noun) { return is_form(noun.english, word); });
}

bool is_adjective(std::string_view word) {
  return std::ranges::any_of(all_adjectives(), [&](const Adjective* one) { return one->english == word; });
}

bool is_preposition(std::string_view word) {
  return word == near().english || word == behind().english || word == with().english;
}

bool is_of(const Verb& verb, std::string_view word) { return is_form(verb.english, word) || hidden_form(verb) == word; }

bool is_copula(std::string_view word) { return is_of(copula(), word); }

bool is_clause_verb(std::string_view word) {
  return std::ranges::any_of(clause_verbs(), [&](const Verb& verb) { return is_of(verb, word); });
}

template <bool takes_object>
bool is_verb(std::string_view word) {
  const auto fits = [&](const Verb* verb) { return (verb->object != 0) == takes_object && is_of(*verb, word); };
  return !is_clause_verb(word) && std::ranges::any_of(all_verbs(), fits);
}

bool is_that(std::string_view word) { return word == "that"; }
bool is_and(std::string_view word) { return word == "and"; }

using Ends = std::set<std::size_t>;

// Each rule takes places where it may begin and gives those after it, for every reading.
class EnglishParser {
 public:
  explicit EnglishParser(std::span<const std::string> words) : words_(words) {}

  std::optional<std::string> complaint() {
    Ends ends = clause({0});
    ends.merge(clause(one(ends, is_and, "\"and\"")));
    if (ends.contains(words_.size())) return std::nullopt;
    std::string expected;
    for (const std::string& name : expected_) expected += (expected.empty() ? "" : " or ") + name;
    if (farthest_ == 0) return "a sentence begins with " + expected;
    return "after \"" + words_[farthest_ - 1] + "\", it expects " + expected;
  }

 private:
  using IsWord = bool (*)(std::string_view word);

  Ends one(const Ends& begins, IsWord is, const char* name) {
    Ends ends;
    for (const std::size_t p : begins) {
      if (p < words_.size() && is(words_[p])) {
        ends.insert(p + 1);
        continue;
      }
      if (p > farthest_) expected_.clear();
      if (p >= farthest_) expected_.insert(name);
      farthest_ = std::max(farthest_, p);
    }
    return ends;
  }

  static Ends either(Ends first, Ends second) {
    first.merge(second);
    return first;
  }

  Ends noun(const Ends& begins) {
    const Ends determined = one(begins, is_determiner, "a determiner");
    return one(either(determined, one(determined, is_adjective, "an adjective")), is_noun, "a noun");
  }

  Ends pronoun_or_noun(const Ends& begins) { return either(one(begins, is_pronoun, "a pronoun"), noun(begins)); }

  Ends prepositional(const Ends& begins) {
    const Ends after = one(begins, is_preposition, "a preposition");
    return after.empty() ? after : noun(after);
  }

  Ends noun_phrase(const Ends& begins) {
    const Ends noun_ends = noun(begins);
    const Ends with_phrase = prepositional(noun_ends);
    const Ends that = one(noun_ends, is_that, "\"that\"");
    Ends ends = either(one(begins, is_pronoun, "a pronoun"), either(noun_ends, with_phrase));
    return that.empty() ? ends : either(ends, either(predicate(that), verb_after_subject(that)));
  }

  // "that the girl sees"
  Ends verb_after_subject(const Ends& begins) {
    const Ends subject = noun(begins);
    return one(either(subject, prepositional(subject)), is_verb<true>, "a verb");
  }

  Ends predicate(const Ends& begins) {
    if (begins.empty()) return {};
    const Ends alone = one(begins, is_verb<false>, "a verb");
    const Ends with_object = one(begins, is_verb<true>, "a verb");
    const Ends is = one(begins, is_copula, "a verb");
    const Ends ends = either(either(alone, prepositional(alone)), one(is, is_adjective, "an adjective"));
    return with_object.empty() ? ends : either(ends, noun_phrase(with_object));
  }

  Ends clause(const Ends& begins) {
    if (begins.empty()) return {};
    const Ends subject = noun_phrase(begins);
    const Ends that = one(one(subject, is_clause_verb, "a verb"), is_that, "\"that\"");
    return either(predicate(subject), clause(that));
  }

  std::span<const std::string> words_;
  std::size_t farthest_ = 0;        // that any reading comes to
  std::set<std::string> expected_;  // there
};

}  // namespace

bool is_pronoun(std::string_view word) { return std::ranges::find(kPronounWords, word) != kPronounWords.end(); }

bool is_homonym(std::string_view word) {
  return std::ranges::any_of(senses(), [&](const Sense& sense) { return is_form(sense.noun.english, word); });
}

std::optional<std::string> no_english(std::span<const std::string> words) { return EnglishParser(words).complaint(); }

}  // namespace qkv::training
