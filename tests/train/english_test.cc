// The sentences of the task "english", read by rules of their own: a small tagger and parser that know the words by
// their endings and by lists written here, not by the generator's lexicon.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "qkv/train/task.h"

namespace qkv::english_test {
namespace {

using Words = std::vector<std::string>;

constexpr std::int64_t kSentences = 4000;

Words split(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_one_of(const std::string& word, const std::set<std::string>& words) { return words.contains(word); }

// The irregular plurals; others end in s.
bool is_plural_noun(const std::string& word) {
  static const std::set<std::string> kIrregular = {"men", "women", "mice"};
  static const std::set<std::string> kSingularInS = {"actress", "waitress", "princess"};
  return kIrregular.contains(word) || (word.ends_with('s') && !kSingularInS.contains(word));
}

bool is_person(const std::string& noun, bool female) {
  static const std::set<std::string> kMen = {"man", "boy", "king", "uncle", "actor", "waiter", "monk", "prince"};
  static const std::set<std::string> kWomen = {"woman",   "girl",     "queen", "aunt",
                                               "actress", "waitress", "nun",   "princess"};
  return (female ? kWomen : kMen).contains(noun);
}

// What a pronoun says of its noun, from the noun's own form.
std::string subject_pronoun_of(const std::string& noun) {
  if (is_plural_noun(noun)) return "they";
  if (is_person(noun, false)) return "he";
  return is_person(noun, true) ? "she" : "it";
}

std::string as_subject(const std::string& pronoun) {
  static const std::map<std::string, std::string> kSubjects = {{"him", "he"}, {"her", "she"}, {"them", "they"}};
  return kSubjects.contains(pronoun) ? kSubjects.at(pronoun) : pronoun;
}

bool is_pronoun(const std::string& word) { return is_one_of(word, {"he", "him", "she", "her", "it", "they", "them"}); }

class Sentences : public testing::Test {
 protected:
  void for_each(const std::function<void(const Example&, const Words&)>& check) const {
    for (std::int64_t n = 0; n < kSentences && !HasFailure(); ++n) {
      const Example example = task_->example(n % 4 == 0 ? Split::test : Split::train, n);
      SCOPED_TRACE(show(*task_, example));
      check(example, split(example.syntax->sentence));
    }
  }

  // What the word at `place` depends on in a relation, if it does.
  [[nodiscard]] std::optional<std::int64_t> key(const Example& example, std::size_t relation, std::size_t place) const {
    for (const PatternRow& row : example.patterns[relation]) {
      if (row.query == static_cast<std::int64_t>(place)) return row.keys.front();
    }
    return std::nullopt;
  }

  std::unique_ptr<const Task> task_ = make_task("english");
};

std::string label_of(const Example& example, std::int64_t place) {
  return example.syntax->dependencies[static_cast<std::size_t>(place)].label;
}

std::optional<std::int64_t> head_of(const Example& example, std::int64_t place) {
  return example.syntax->dependencies[static_cast<std::size_t>(place)].head;
}

bool is_above(const Example& example, std::int64_t ancestor, std::int64_t place) {
  std::optional<std::int64_t> at = place;
  for (std::size_t steps = 0; at && steps <= example.syntax->dependencies.size(); ++steps) {
    if (*at == ancestor) return true;
    at = head_of(example, *at);
  }
  return false;
}

TEST_F(Sentences, HaveATreeWithOneRootAndNoArcsThatCross) {
  for_each([](const Example& example, const Words& words) {
    const auto count = static_cast<std::int64_t>(words.size());
    ASSERT_EQ(example.syntax->dependencies.size(), words.size());
    std::int64_t root = -1;
    for (std::int64_t place = 0; place < count; ++place) {
      if (head_of(example, place)) continue;
      EXPECT_EQ(root, -1);
      EXPECT_EQ(label_of(example, place), "root");
      root = place;
    }
    ASSERT_NE(root, -1);
    for (std::int64_t place = 0; place < count; ++place) {
      EXPECT_TRUE(is_above(example, root, place)) << "a cycle at " << place;
      if (place == root) continue;
      const std::int64_t head = *head_of(example, place);
      for (std::int64_t between = std::min(place, head) + 1; between < std::max(place, head); ++between) {
        EXPECT_TRUE(is_above(example, head, between)) << "the arc over " << between << " is crossed";
      }
    }
  });
}

TEST_F(Sentences, HaveArcsBetweenTheKindsOfWordsThatTheirLabelsSay) {
  const std::set<std::string> determiners = {"the", "a", "an", "some", "this", "these", "that", "those"};
  const std::set<std::string> of_verbs = {"nsubj", "obj", "acomp", "mark", "ccomp", "cc", "conj"};
  const std::set<std::string> verbs = {"root", "relcl", "ccomp", "conj"};
  for_each([&](const Example& example, const Words& words) {
    for (std::size_t p = 0; p < words.size(); ++p) {
      const auto place = static_cast<std::int64_t>(p);
      const std::string label = label_of(example, place);
      if (label == "root") continue;
      const std::int64_t head = *head_of(example, place);
      const std::string head_label = label_of(example, head);
      if (label == "det") {
        EXPECT_TRUE(determiners.contains(words[p]));
      }
      if (label == "det" || label == "amod") {
        EXPECT_GT(head, place);
      }
      if (label == "relcl" || label == "pobj" || label == "acomp") {
        EXPECT_LT(head, place);
      }
      if (label == "prep") {
        EXPECT_TRUE(is_one_of(words[p], {"near", "behind", "with"}));
      }
      if (label == "pobj") {
        EXPECT_EQ(head_label, "prep");
      }
      if (label == "mark") {
        EXPECT_EQ(words[p], "that");
      }
      if (label == "cc") {
        EXPECT_EQ(words[p], "and");
      }
      if (of_verbs.contains(label)) {
        EXPECT_TRUE(verbs.contains(head_label)) << p;
      }
      if (label == "nsubj") {
        EXPECT_LT(place, head);
      }
    }
  });
}

// The words that a verb can be, each with what makes it plural; written down here a second time.
bool is_plural_verb(const std::string& verb) { return verb == "are" || (verb != "is" && !verb.ends_with('s')); }

// The noun that tells a verb's number: its nsubj, and through "that" the noun of the relative clause.
std::int64_t controller(const Example& example, const Words& words, std::int64_t verb) {
  for (std::int64_t place = 0; place < verb; ++place) {
    if (head_of(example, place) != verb || label_of(example, place) != "nsubj") continue;
    const bool relative = words[static_cast<std::size_t>(place)] == "that";
    return relative ? *head_of(example, verb) : place;
  }
  ADD_FAILURE() << "no subject";
  return 0;
}

TEST_F(Sentences, HaveVerbsThatAgree) {
  for_each([&](const Example& example, const Words& words) {
    for (std::size_t p = 0; p < words.size(); ++p) {
      const auto place = static_cast<std::int64_t>(p);
      if (!is_one_of(label_of(example, place), {"root", "relcl", "ccomp", "conj"})) continue;
      const std::int64_t subject = controller(example, words, place);
      const std::string& word = words[static_cast<std::size_t>(subject)];
      const bool plural = is_pronoun(word) ? word == "they" : is_plural_noun(word);
      EXPECT_EQ(is_plural_verb(words[p]), plural) << word << " " << words[p];
      const auto shown = key(example, 0, p);
      if (shown) {
        EXPECT_EQ(*shown, subject);
      }
      const std::string token = task_->vocabulary().piece(example.tokens[p]);
      EXPECT_EQ(token.starts_with('<'), shown.has_value());
      if (shown) {
        EXPECT_EQ(task_->vocabulary().piece(*example.labels[p]), words[p]);
      }
      if (!shown) {
        EXPECT_EQ(token, words[p]);
      }
    }
  });
}

TEST_F(Sentences, HaveDeterminersThatAgree) {
  for_each([&](const Example& example, const Words& words) {
    for (std::size_t p = 0; p < words.size(); ++p) {
      const auto place = static_cast<std::int64_t>(p);
      if (label_of(example, place) != "det") continue;
      const std::int64_t noun = *head_of(example, place);
      const bool plural = is_plural_noun(words[static_cast<std::size_t>(noun)]);
      if (is_one_of(words[p], {"a", "an", "this", "that"})) {
        EXPECT_FALSE(plural);
      }
      if (is_one_of(words[p], {"some", "these", "those"})) {
        EXPECT_TRUE(plural);
      }
      const bool an = is_one_of(words[p + 1].substr(0, 1), {"a", "e", "i", "o", "u"}) || words[p + 1] == "honest";
      if (words[p] == "a") {
        EXPECT_FALSE(an);
      }
      if (words[p] == "an") {
        EXPECT_TRUE(an);
      }
      if (p > 0) {
        EXPECT_FALSE(words[p - 1] == "that" && words[p] == "that");
      }
      const auto shown = key(example, 1, p);
      if (shown) {
        EXPECT_EQ(*shown, noun);
      }
      if (shown) {
        EXPECT_EQ(task_->vocabulary().piece(*example.labels[p]), words[p]);
      }
    }
  });
}

// Every noun before the pronoun of the same person and number: exactly one, in another clause or its subject's.
TEST_F(Sentences, HavePronounsThatCanMeanOneNoun) {
  int pronouns = 0;
  for_each([&](const Example& example, const Words& words) {
    for (std::size_t p = 0; p < words.size(); ++p) {
      if (!is_pronoun(words[p])) continue;
      ++pronouns;
      std::vector<std::int64_t> possible;
      for (std::size_t q = 0; q < p; ++q) {
        const bool noun = is_one_of(label_of(example, static_cast<std::int64_t>(q)), {"nsubj", "obj", "pobj"}) &&
                          words[q] != "that" && !is_pronoun(words[q]);
        const bool agrees = subject_pronoun_of(words[q]) == as_subject(words[p]);
        if (noun && agrees) possible.push_back(static_cast<std::int64_t>(q));
      }
      ASSERT_EQ(possible.size(), 1U) << words[p];
      EXPECT_EQ(key(example, 2, p), possible[0]);
      EXPECT_EQ(task_->vocabulary().piece(*example.labels[p]), words[static_cast<std::size_t>(possible[0])]);
      const auto found =
          std::ranges::find(example.syntax->coreferences, static_cast<std::int64_t>(p), &Coreference::mention);
      ASSERT_NE(found, example.syntax->coreferences.end());
      EXPECT_EQ(found->antecedent, possible[0]);
      const bool as_object = is_one_of(words[p], {"him", "her", "them"});
      if (words[p] != "it") {
        EXPECT_EQ(label_of(example, static_cast<std::int64_t>(p)), as_object ? "obj" : "nsubj");
      }
    }
  });
  EXPECT_GT(pronouns, kSentences / 5);
}

TEST_F(Sentences, HaveRelativePronounsThatStandForTheirNoun) {
  for_each([](const Example& example, const Words& words) {
    for (const Coreference& link : example.syntax->coreferences) {
      if (words[static_cast<std::size_t>(link.mention)] != "that") continue;
      const std::int64_t verb = *head_of(example, link.mention);
      EXPECT_EQ(label_of(example, verb), "relcl");
      EXPECT_EQ(head_of(example, verb), link.antecedent);
    }
  });
}

// Which senses the cues tell, by what they are said of in the world.
TEST_F(Sentences, HaveOneCueForEachHomonym) {
  const std::map<std::string, std::set<std::string>> of_sense = {
      {"animal", {"hungry", "tired", "feed", "tame", "sleep", "eat"}},
      {"bird", {"hungry", "tired", "feed", "tame", "sleep", "eat"}},
      {"stick", {"broken", "rusty", "repair", "break"}},
      {"machine", {"broken", "rusty", "repair", "break"}},
      {"device", {"broken", "rusty", "repair", "break"}},
      {"ring", {"broken", "rusty", "repair", "break"}},
      {"river", {"muddy", "steep", "climb"}},
      {"money", {"honest", "private", "rob", "close"}},
      {"sky", {"distant", "bluish", "twinkle"}},
      {"person", {"famous", "shy", "polite", "greet", "sing", "laugh"}}};
  std::map<std::string, int> seen;
  for_each([&](const Example& example, const Words& words) {
    for (const PatternRow& row : example.patterns[3]) {
      const auto homonym = static_cast<std::size_t>(row.query);
      const std::string sense = task_->vocabulary().piece(*example.labels[homonym]);
      const std::size_t slash = sense.find('/');
      std::string form = sense.substr(0, slash);
      if (is_plural_noun(words[homonym])) form == "mouse" ? form = "mice" : form += 's';
      EXPECT_EQ(words[homonym], form);
      ++seen[sense];
      const auto says = [&](const std::string& word, const std::string& meaning) {
        const auto& cues = of_sense.at(meaning);
        return cues.contains(word) || cues.contains(word.substr(0, word.size() - 1));
      };
      EXPECT_TRUE(says(words[static_cast<std::size_t>(row.keys.front())], sense.substr(slash + 1)));
      // The cue belongs to the homonym: its adjective, its verb, or the adjective behind its copula.
      const std::int64_t cue = row.keys.front();
      const std::int64_t verb = label_of(example, cue) == "acomp" ? *head_of(example, cue) : cue;
      const bool belongs = head_of(example, cue) == row.query || head_of(example, row.query) == verb;
      EXPECT_TRUE(belongs);
    }
    for (std::size_t p = 0; p < words.size(); ++p) {
      const std::string word = words[p] == "mice" ? "mouse" : words[p];
      const bool homonym = is_one_of(word.ends_with('s') ? word.substr(0, word.size() - 1) : word,
                                     {"bat", "crane", "mouse", "seal", "bank", "star"});
      EXPECT_EQ(homonym, key(example, 3, p).has_value()) << words[p];
    }
  });
  EXPECT_EQ(seen.size(), 12U);
  for (const auto& [sense, count] : seen) EXPECT_GT(count, kSentences / 100) << sense;
}

TEST_F(Sentences, SayNothingTwice) {
  for_each([&](const Example& example, const Words& words) {
    std::set<std::string> nouns;
    for (std::size_t p = 0; p < words.size(); ++p) {
      const bool noun = is_one_of(label_of(example, static_cast<std::int64_t>(p)), {"nsubj", "obj", "pobj"}) &&
                        words[p] != "that" && !is_pronoun(words[p]);
      if (noun) {
        EXPECT_TRUE(nouns.insert(words[p]).second) << words[p];
      }
    }
  });
}

// How often the noun just before a verb would mislead: half of the time that would be right by chance.
TEST_F(Sentences, HaveNounsBetweenSubjectAndVerbThatMislead) {
  int verbs = 0;
  int misled = 0;
  int far = 0;
  for_each([&](const Example& example, const Words& words) {
    for (const PatternRow& row : example.patterns[0]) {
      std::int64_t nearest = row.query - 1;
      while (!is_one_of(label_of(example, nearest), {"nsubj", "obj", "pobj"}) ||
             words[static_cast<std::size_t>(nearest)] == "that") {
        --nearest;
      }
      ++verbs;
      far += nearest != row.keys.front() ? 1 : 0;
      const std::string& word = words[static_cast<std::size_t>(nearest)];
      const bool plural = is_pronoun(word) ? word == "they" : is_plural_noun(word);
      misled += plural != is_plural_verb(words[static_cast<std::size_t>(row.query)]) ? 1 : 0;
    }
  });
  EXPECT_GT(far, verbs / 4);
  EXPECT_GT(misled, verbs / 8);
}

}  // namespace
}  // namespace qkv::english_test
