#include "train/tasks/grammar/english.h"

#include <algorithm>

#include "train/tasks/grammar/sample.h"

namespace qkv::training {
namespace {

// By determiner, then singular and plural; "a" becomes "an" where the next word asks for it.
constexpr std::array<std::array<std::string_view, 2>, 4> kDeterminers = {
    {{"the", "the"}, {"a", "some"}, {"this", "these"}, {"that", "those"}}};
// By person: as a subject, as an object.
constexpr std::array<std::array<std::string_view, 2>, 4> kPronouns = {
    {{"he", "him"}, {"she", "her"}, {"it", "it"}, {"they", "them"}}};

bool begins_with_vowel_sound(std::string_view word) {
  return word == "honest" || std::string_view("aeiou").find(word.front()) != std::string_view::npos;
}

class EnglishWriter {
 public:
  EnglishSentence write(Sentence& sentence) {
    const std::int64_t root = clause(*sentence.first, *sentence.first->subject);
    head(root, std::nullopt, "root");
    if (sentence.second) {
      sentence.and_place = word("and");
      head(sentence.and_place, root, "cc");
      head(clause(*sentence.second, *sentence.second->subject), root, "conj");
    }
    if (sentence.cue) add_cue(*sentence.cue);
    return std::move(result_);
  }

 private:
  std::int64_t word(std::string_view text, std::string hidden = {}) {
    result_.words.push_back({std::string(text), std::move(hidden), {}});
    return static_cast<std::int64_t>(result_.words.size()) - 1;
  }

  void head(std::int64_t place, std::optional<std::int64_t> of, const char* label) {
    result_.words[static_cast<std::size_t>(place)].dependency = {of, label};
  }

  void determiner(NounPhrase& phrase) {
    const auto index = static_cast<std::size_t>(phrase.determiner);
    std::string_view text = form(kDeterminers[index], phrase.number);
    const std::string_view next =
        phrase.adjective ? phrase.adjective->english : form(phrase.noun->english, phrase.number);
    if (text == "a" && begins_with_vowel_sound(next)) text = "an";
    const bool agrees = phrase.determiner == Determiner::proximal || phrase.determiner == Determiner::distal;
    phrase.determiner_place = word(text, agrees ? "<" + std::string(kDeterminers[index][0]) + ">" : "");
  }

  // -> the place of the noun or pronoun
  std::int64_t noun_phrase(NounPhrase& phrase, Gap role) {
    if (phrase.antecedent != nullptr) {
      const auto person = static_cast<std::size_t>(person_of(*phrase.antecedent));
      phrase.place = word(kPronouns[person][role == Gap::subject ? 0 : 1]);
      result_.pronouns.push_back({phrase.place, phrase.antecedent->place});
      return phrase.place;
    }
    determiner(phrase);
    if (phrase.adjective != nullptr) phrase.adjective_place = word(phrase.adjective->english);
    phrase.place = word(form(phrase.noun->english, phrase.number));
    head(phrase.determiner_place, phrase.place, "det");
    if (phrase.determiner == Determiner::proximal || phrase.determiner == Determiner::distal) {
      result_.determiners.push_back({phrase.determiner_place, phrase.place});
    }
    if (phrase.adjective != nullptr) head(phrase.adjective_place, phrase.place, "amod");
    if (phrase.attached) prepositional_phrase(*phrase.attached, phrase.place);
    if (phrase.relative) relative_clause(*phrase.relative, phrase);
    return phrase.place;
  }

  void prepositional_phrase(PrepositionalPhrase& phrase, std::int64_t of) {
    phrase.place = word(phrase.preposition->english);
    head(phrase.place, of, "prep");
    head(noun_phrase(*phrase.object, Gap::object), phrase.place, "pobj");
  }

  void relative_clause(RelativeClause& relative, const NounPhrase& of) {
    relative.place = word("that");
    result_.relatives.push_back({relative.place, of.place});
    Clause& inner = *relative.clause;
    const std::int64_t verb = clause(inner, inner.subject ? *inner.subject : of);
    head(relative.place, verb, relative.gap == Gap::subject ? "nsubj" : "obj");
    head(verb, of.place, "relcl");
  }

  // `subject`: the clause's own, or the noun of a relative clause that has none. -> the place of the verb
  std::int64_t clause(Clause& clause, const NounPhrase& subject) {
    if (clause.subject) noun_phrase(*clause.subject, Gap::subject);
    clause.place = word(form(clause.verb->english, subject.number), hidden_form(*clause.verb));
    result_.subjects.push_back({clause.place, subject.place});
    if (clause.subject) head(subject.place, clause.place, "nsubj");
    if (clause.predicate != nullptr) {
      clause.predicate_place = word(clause.predicate->english);
      head(clause.predicate_place, clause.place, "acomp");
    }
    if (clause.object) head(noun_phrase(*clause.object, Gap::object), clause.place, "obj");
    if (clause.attached) prepositional_phrase(*clause.attached, clause.place);
    if (clause.complement) complement(clause);
    return clause.place;
  }

  void complement(Clause& of) {
    of.mark_place = word("that");
    const std::int64_t verb = clause(*of.complement, *of.complement->subject);
    head(of.mark_place, verb, "mark");
    head(verb, of.place, "ccomp");
  }

  void add_cue(const Cue& cue) {
    std::int64_t place = cue.homonym->adjective_place;
    if (cue.by == Cue::By::predicate) place = cue.clause->predicate_place;
    if (cue.by == Cue::By::verb) place = cue.clause->place;
    result_.cue = Link{cue.homonym->place, place};
    result_.sense = cue.homonym->noun->sense;
  }

  EnglishSentence result_;
};

void add_once(std::vector<std::string>& words, std::string_view word) {
  if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
}

}  // namespace

EnglishSentence write_english(Sentence& sentence) { return EnglishWriter().write(sentence); }

Syntax syntax_of(const EnglishSentence& sentence) {
  Syntax syntax;
  for (const EnglishWord& word : sentence.words) {
    syntax.sentence += (syntax.sentence.empty() ? "" : " ") + word.text;
    syntax.dependencies.push_back(word.dependency);
  }
  for (const std::vector<Link>* links : {&sentence.pronouns, &sentence.relatives}) {
    for (const Link& link : *links) syntax.coreferences.push_back({link.from, link.to});
  }
  std::ranges::sort(syntax.coreferences, {}, &Coreference::mention);
  return syntax;
}

std::vector<std::string> english_words() {
  std::vector<std::string> words = {"the", "a", "an", "some", "this", "these", "that", "those", "and", "is", "are"};
  for (const auto& pronoun : kPronouns) {
    for (const std::string_view form : pronoun) add_once(words, form);
  }
  for (const Preposition* preposition : {&near(), &behind(), &with()}) words.emplace_back(preposition->english);
  for (const Noun& noun : nouns()) words.insert(words.end(), noun.english.begin(), noun.english.end());
  for (const Sense& sense : senses()) {
    for (const std::string_view form : sense.noun.english) add_once(words, form);
  }
  for (const Verb* verb : all_verbs()) words.insert(words.end(), verb->english.begin(), verb->english.end());
  for (const Adjective* adjective : all_adjectives()) words.emplace_back(adjective->english);
  return words;
}

std::vector<std::string> english_hidden_forms() {
  std::vector<std::string> forms = {"<this>", "<that>", "<be>"};
  for (const Verb* verb : all_verbs()) forms.push_back(hidden_form(*verb));
  return forms;
}

std::vector<std::string> english_senses() {
  std::vector<std::string> all;
  for (const Sense& sense : senses()) all.emplace_back(sense.noun.sense);
  return all;
}

}  // namespace qkv::training
