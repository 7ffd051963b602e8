#include "train/tasks/grammar/french.h"

#include <algorithm>

namespace qkv::training {
namespace {

// By masculine singular, feminine singular, plural.
using ByGender = std::array<std::string_view, 3>;
constexpr ByGender kDefinite = {"le", "la", "les"};
constexpr ByGender kIndefinite = {"un", "une", "des"};
constexpr ByGender kDemonstrative = {"ce", "cette", "ces"};

std::string_view form(const ByGender& forms, FrenchGender gender, Number number) {
  if (number == Number::plural) return forms[2];
  return forms[gender == FrenchGender::feminine ? 1 : 0];
}

FrenchGender gender_of(const NounPhrase& phrase) {
  return phrase.antecedent != nullptr ? phrase.antecedent->noun->gender : phrase.noun->gender;
}

// No h of the lexicon is aspirated.
bool is_elided_before(std::string_view word) {
  for (const std::string_view start : {"a", "e", "i", "o", "u", "h", "é", "è", "ê", "â"}) {
    if (word.starts_with(start)) return true;
  }
  return false;
}

std::string before_vowel(const std::string& word) {
  if (word == "le" || word == "la") return "l'";
  if (word == "de") return "d'";
  if (word == "que") return "qu'";
  return word == "ce" ? "cet" : word;
}

class FrenchWriter {
 public:
  std::vector<FrenchWord> write(const Sentence& sentence) {
    clause(*sentence.first, *sentence.first->subject);
    if (sentence.second) {
      word("et", sentence.and_place);
      clause(*sentence.second, *sentence.second->subject);
    }
    contract();
    elide();
    return std::move(words_);
  }

 private:
  void word(std::string_view text, std::int64_t english) { words_.push_back({std::string(text), {english}}); }

  void determiner(const NounPhrase& phrase) {
    const FrenchGender gender = phrase.noun->gender;
    const bool adjective_next = phrase.adjective != nullptr && phrase.adjective->before_noun;
    std::string_view text;
    if (phrase.determiner == Determiner::definite) text = form(kDefinite, gender, phrase.number);
    if (phrase.determiner == Determiner::indefinite) text = form(kIndefinite, gender, phrase.number);
    if (text.empty()) text = form(kDemonstrative, gender, phrase.number);
    if (text == "des" && adjective_next) text = "de";
    word(text, phrase.determiner_place);
  }

  void adjective(const Adjective& adjective, FrenchGender gender, Number number, std::int64_t english) {
    word(training::form(adjective, gender, number), english);
  }

  void noun_phrase(const NounPhrase& phrase) {
    if (phrase.antecedent != nullptr) {  // as a subject; an object comes before the verb
      const bool feminine = gender_of(phrase) == FrenchGender::feminine;
      const std::array<std::string_view, 2> forms = {feminine ? "elle" : "il", feminine ? "elles" : "ils"};
      word(training::form(forms, phrase.number), phrase.place);
      return;
    }
    determiner(phrase);
    const Adjective* modifier = phrase.adjective;
    const auto add_modifier = [&] { adjective(*modifier, phrase.noun->gender, phrase.number, phrase.adjective_place); };
    if (modifier != nullptr && modifier->before_noun) add_modifier();
    word(training::form(phrase.noun->french, phrase.number), phrase.place);
    if (modifier != nullptr && !modifier->before_noun) add_modifier();
    if (phrase.attached) prepositional_phrase(*phrase.attached);
    if (phrase.relative) {
      word(phrase.relative->gap == Gap::subject ? "qui" : "que", phrase.relative->place);
      const Clause& inner = *phrase.relative->clause;
      clause(inner, inner.subject ? *inner.subject : phrase);
    }
  }

  void prepositional_phrase(const PrepositionalPhrase& phrase) {
    for (const std::string_view text : phrase.preposition->french) word(text, phrase.place);
    noun_phrase(*phrase.object);
  }

  // `subject`: the clause's own, or the noun of a relative clause that has none.
  void clause(const Clause& clause, const NounPhrase& subject) {
    if (clause.subject) noun_phrase(subject);
    const bool clitic = clause.object && clause.object->antecedent != nullptr;
    if (clitic) word(form(kDefinite, gender_of(*clause.object), clause.object->number), clause.object->place);
    word(training::form(clause.verb->french, subject.number), clause.place);
    if (clause.predicate != nullptr) {
      adjective(*clause.predicate, gender_of(subject), subject.number, clause.predicate_place);
    }
    if (clause.object && !clitic) noun_phrase(*clause.object);
    if (clause.attached) prepositional_phrase(*clause.attached);
    if (clause.complement) {
      word("que", clause.mark_place);
      this->clause(*clause.complement, *clause.complement->subject);
    }
  }

  // "de" that stands for "near", and the article behind it.
  void contract() {
    for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
      if (words_[i].text != "de" || words_[i - 1].text != "près") continue;
      const std::string& article = words_[i + 1].text;
      const bool le = article == "le" && !is_elided_before(words_[i + 2].text);
      std::string text;
      if (le) text = "du";
      if (article == "les") text = "des";
      if (article == "des" || article == "de") text = "de";
      if (text.empty()) continue;
      words_[i] = {text, {words_[i].english[0], words_[i + 1].english[0]}};
      words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }

  void elide() {
    for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
      if (is_elided_before(words_[i + 1].text)) words_[i].text = before_vowel(words_[i].text);
    }
  }

  std::vector<FrenchWord> words_;
};

template <class Words>
void add_all(std::vector<std::string>& all, const Words& words) {
  for (const std::string_view word : words) {
    if (std::ranges::find(all, word) == all.end()) all.emplace_back(word);
  }
}

}  // namespace

std::vector<FrenchWord> write_french(const Sentence& sentence) { return FrenchWriter().write(sentence); }

std::vector<std::string> french_words() {
  std::vector<std::string> all = {"le",  "la",    "l'", "les", "un",    "une", "des", "de",
                                  "d'",  "du",    "ce", "cet", "cette", "ces", "il",  "elle",
                                  "ils", "elles", "et", "que", "qu'",   "qui", "est", "sont"};
  for (const Preposition* preposition : {&near(), &behind(), &with()}) add_all(all, preposition->french);
  for (const Noun& noun : nouns()) add_all(all, noun.french);
  for (const Sense& sense : senses()) add_all(all, sense.noun.french);
  for (const Verb* verb : all_verbs()) add_all(all, verb->french);
  for (const Adjective* adjective : all_adjectives()) add_all(all, adjective->french);
  return all;
}

}  // namespace qkv::training
