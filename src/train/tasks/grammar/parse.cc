#include "train/tasks/grammar/parse.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "train/tasks/grammar/lexicon.h"

namespace qkv::training {
namespace {

constexpr std::array<std::string_view, 10> kDeterminerWords = {"the",   "a",    "an",    "some",   "this",
                                                               "these", "that", "those", "<this>", "<that>"};
constexpr std::array<std::string_view, 4> kSingularDeterminers = {"a", "an", "this", "that"};
constexpr std::array<std::string_view, 4> kPluralDeterminers = {"some", "these", "those"};
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

enum class PersonWord : std::uint8_t { he, she, it, they };

PersonWord person_of_pronoun(std::string_view word) {
  if (word == "he" || word == "him") return PersonWord::he;
  if (word == "she" || word == "her") return PersonWord::she;
  return word == "it" ? PersonWord::it : PersonWord::they;
}

PersonWord person_of_noun(std::string_view word) {
  for (const Noun& noun : nouns()) {
    if (noun.english[1] == word) return PersonWord::they;
    if (noun.english[0] != word) continue;
    return noun.is == kMale ? PersonWord::he : noun.is == kFemale ? PersonWord::she : PersonWord::it;
  }
  const auto is_plural = [&](const Sense& sense) { return sense.noun.english[1] == word; };
  return std::ranges::any_of(senses(), is_plural) ? PersonWord::they : PersonWord::it;
}

// Reads a sentence from left to right. A subject waits for its verb; one that waits longer has a relative clause, in
// which another subject comes first.
class EnglishLinks {
 public:
  explicit EnglishLinks(std::span<const std::string> words) : words_(words) {}

  /// Of a word that does not agree with another, or stands for none.
  std::optional<std::string> disagreement() {
    read_all();
    for (const VerbUse& use : verbs_) check_verb(use);
    return wrong_.empty() ? std::nullopt : std::optional(wrong_.front());
  }

  std::vector<EnglishMark> marks() {
    read_all();
    for (const std::size_t noun : nouns_) mark_sense(noun);
    std::ranges::sort(marks_, {}, &EnglishMark::place);
    return std::move(marks_);
  }

 private:
  enum class Next : std::uint8_t { subject, object, other };  // what the next noun is

  struct Waiting {
    std::size_t subject = 0;
    std::optional<std::size_t> object;  // of its verb, where a relative clause lacks it
  };
  struct VerbUse {
    std::size_t verb = 0;
    std::size_t subject = 0;
    std::optional<std::size_t> object = std::nullopt;
  };

  void read_all() {
    for (std::size_t p = 0; p < words_.size(); ++p) p = read(p);
  }

  // -> the last place that was read
  std::size_t read(std::size_t p) {
    const std::string& word = words_[p];
    const bool after_noun = p > 0 && !nouns_.empty() && nouns_.back() == p - 1;
    if (word == "that" && p > 0 && (after_noun || is_clause_verb(words_[p - 1]))) {
      relative_ = after_noun ? std::optional(p - 1) : std::nullopt;
      next_ = Next::subject;
      return p;
    }
    if (is_determiner(word)) return read_noun(p);
    if (is_pronoun(word)) {
      mark_pronoun(p);
      add_noun(p);
    } else if (is_preposition(word)) {
      next_ = Next::other;
    } else if (is_and(word)) {
      next_ = Next::subject;
    } else if (p > 0 && !is_copula(words_[p - 1])) {
      read_verb(p);
    }
    return p;
  }

  std::size_t read_noun(std::size_t determiner) {
    std::size_t noun = determiner + 1;
    if (noun + 1 < words_.size() && is_adjective(words_[noun]) && is_noun(words_[noun + 1])) ++noun;
    add_noun(noun);
    const std::string& word = words_[determiner];
    const auto& misfits = is_plural(noun) ? kSingularDeterminers : kPluralDeterminers;
    if (std::ranges::find(misfits, word) != misfits.end()) {
      wrong_.push_back("\"" + word + "\" does not go with \"" + words_[noun] + "\"");
    }
    if (word == "<this>") mark(EnglishRelation::determiner, determiner, noun, is_plural(noun) ? "these" : "this");
    if (word == "<that>") mark(EnglishRelation::determiner, determiner, noun, is_plural(noun) ? "those" : "that");
    return noun;
  }

  void add_noun(std::size_t place) {
    nouns_.push_back(place);
    if (next_ == Next::subject) waiting_.push_back({place, std::exchange(relative_, std::nullopt)});
    if (next_ == Next::object) verbs_.back().object = place;
    next_ = Next::other;
  }

  void read_verb(std::size_t p) {
    VerbUse use{.verb = p};
    if (relative_) {  // nothing between "that" and its verb: the noun before is the subject
      use.subject = *std::exchange(relative_, std::nullopt);
    } else if (!waiting_.empty()) {
      use.subject = waiting_.back().subject;
      use.object = waiting_.back().object;
      waiting_.pop_back();
    }
    verbs_.push_back(use);
    next_ = Next::object;
    std::vector<const Verb*> verbs = all_verbs();
    verbs.push_back(&copula());
    const auto hidden = std::ranges::find(verbs, words_[p], [](const Verb* verb) { return hidden_form(*verb); });
    if (hidden == verbs.end()) return;
    mark(EnglishRelation::subject, p, use.subject, (*hidden)->english[is_plural(use.subject) ? 1 : 0]);
  }

  void check_verb(const VerbUse& use) {
    const std::string& word = words_[use.verb];
    const std::size_t own = is_plural(use.subject) ? 1 : 0;
    std::vector<const Verb*> verbs = all_verbs();
    verbs.push_back(&copula());
    const auto fits = [&](std::size_t n) {
      return std::ranges::any_of(verbs, [&](const Verb* verb) { return verb->english[n] == word; });
    };
    if (fits(1 - own) && !fits(own)) {
      wrong_.push_back("\"" + word + "\" does not go with \"" + words_[use.subject] + "\"");
    }
  }

  // The only noun before that the pronoun may stand for.
  void mark_pronoun(std::size_t p) {
    const auto is_it = [&](std::size_t noun) {
      return !is_pronoun(words_[noun]) && person_of_noun(words_[noun]) == person_of_pronoun(words_[p]);
    };
    const auto count = std::ranges::count_if(nouns_, is_it);
    if (count == 0) wrong_.push_back("no noun before \"" + words_[p] + "\" is one that it may stand for");
    if (count != 1) return;
    const std::size_t noun = *std::ranges::find_if(nouns_, is_it);
    mark(EnglishRelation::pronoun, p, noun, words_[noun]);
  }

  void mark_sense(std::size_t noun) {
    std::vector<EnglishMark> found;
    for (const Sense& sense : senses()) {
      if (!is_form(sense.noun.english, words_[noun])) continue;
      const auto add_if = [&](bool is_cue, std::size_t cue) {
        if (!is_cue) return;
        found.push_back({EnglishRelation::sense, static_cast<std::int64_t>(noun), static_cast<std::int64_t>(cue),
                         std::string(sense.noun.sense)});
      };
      const auto tells = [&](std::size_t place) {
        return place < words_.size() &&
               std::ranges::any_of(
                   sense.adjectives, [&](const Adjective* adjective) { return adjective->english == words_[place]; });
      };
      const auto is_among = [&](const std::vector<const Verb*>& verbs, std::size_t place) {
        return std::ranges::any_of(verbs, [&](const Verb* verb) { return is_of(*verb, words_[place]); });
      };
      add_if(noun > 0 && tells(noun - 1), noun - 1);
      for (const VerbUse& use : verbs_) {
        const bool is_subject = use.subject == noun;
        add_if(is_subject && is_among(sense.subject_of, use.verb), use.verb);
        add_if(is_subject && is_copula(words_[use.verb]) && tells(use.verb + 1), use.verb + 1);
        add_if(use.object == noun && is_among(sense.object_of, use.verb), use.verb);
      }
    }
    if (found.size() == 1) marks_.push_back(found.front());
  }

  [[nodiscard]] bool is_plural(std::size_t noun) const {
    const std::string& word = words_[noun];
    return (is_pronoun(word) ? person_of_pronoun(word) : person_of_noun(word)) == PersonWord::they;
  }

  void mark(EnglishRelation relation, std::size_t place, std::size_t key, std::string_view label) {
    marks_.push_back({relation, static_cast<std::int64_t>(place), static_cast<std::int64_t>(key), std::string(label)});
  }

  std::span<const std::string> words_;
  std::vector<EnglishMark> marks_;
  std::vector<std::size_t> nouns_;  // and pronouns
  std::vector<Waiting> waiting_;
  std::vector<VerbUse> verbs_;
  std::vector<std::string> wrong_;
  std::optional<std::size_t> relative_;  // the noun that "that" stands for, until the clause has its subject
  Next next_ = Next::subject;
};

}  // namespace

std::vector<EnglishMark> english_marks(std::span<const std::string> words) { return EnglishLinks(words).marks(); }

bool is_pronoun(std::string_view word) { return std::ranges::find(kPronounWords, word) != kPronounWords.end(); }

bool is_homonym(std::string_view word) {
  return std::ranges::any_of(senses(), [&](const Sense& sense) { return is_form(sense.noun.english, word); });
}

std::optional<std::string> no_english(std::span<const std::string> words) {
  if (auto complaint = EnglishParser(words).complaint()) return complaint;
  return EnglishLinks(words).disagreement();
}

}  // namespace qkv::training
