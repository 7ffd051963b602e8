#include "train/tasks/grammar/sample.h"

#include <algorithm>

#include "train/tasks/grammar/sampler.h"

namespace qkv::training {
namespace {

void collect(const NounPhrase& phrase, std::vector<const NounPhrase*>& all);

// The noun phrases of a clause, in the order of its words.
void collect(const Clause& clause, std::vector<const NounPhrase*>& all) {
  if (clause.subject) collect(*clause.subject, all);
  if (clause.object) collect(*clause.object, all);
  if (clause.attached) collect(*clause.attached->object, all);
  if (clause.complement) collect(*clause.complement, all);
}

void collect(const NounPhrase& phrase, std::vector<const NounPhrase*>& all) {
  all.push_back(&phrase);
  if (phrase.attached) collect(*phrase.attached->object, all);
  if (phrase.relative) collect(*phrase.relative->clause, all);
}

// Those that no other phrase of the list could be taken for.
std::vector<const NounPhrase*> unambiguous(const std::vector<const NounPhrase*>& phrases) {
  std::vector<const NounPhrase*> some;
  for (const NounPhrase* phrase : phrases) {
    const auto alike = [&](const NounPhrase* other) { return person_of(*other) == person_of(*phrase); };
    if (std::ranges::count_if(phrases, alike) == 1) some.push_back(phrase);
  }
  return some;
}

// A clause with a pronoun in it as the subject or the object. Another noun phrase that comes before the pronoun must
// not be one that the pronoun could stand for: none then.
std::unique_ptr<Clause> clause_with_pronoun(Sampler& sampler, const NounPhrase& antecedent, After after) {
  auto clause = std::make_unique<Clause>();
  const Things is = antecedent.noun->is;
  if (sampler.random().percent(60)) {
    clause->subject = sampler.pronoun(antecedent);
    sampler.add_predicate(*clause, is, Weight::bare);
    return clause;
  }
  clause->verb = &sampler.verb(transitive_verbs(), kAnimate, is);
  clause->subject = sampler.noun_phrase(clause->verb->subject, Weight::with_phrase, after);
  clause->object = sampler.pronoun(antecedent);
  std::vector<const NounPhrase*> before;
  collect(*clause->subject, before);
  const auto alike = [&](const NounPhrase* other) { return person_of(*other) == person_of(antecedent); };
  if (std::ranges::any_of(before, alike)) return nullptr;
  return clause;
}

bool add_pronoun(Sampler& sampler, Sentence& sentence) {
  const bool reported = sampler.random().percent(50);
  sentence.first =
      reported ? sampler.clause_about(Weight::with_clause) : sampler.clause(Weight::with_phrase, After::anything);
  std::vector<const NounPhrase*> phrases;
  collect(*sentence.first, phrases);
  const std::vector<const NounPhrase*> possible = unambiguous(phrases);
  if (possible.empty()) return false;
  auto rest = clause_with_pronoun(sampler, *sampler.random().pick(possible), reported ? After::that : After::anything);
  if (!rest) return false;
  (reported ? sentence.first->complement : sentence.second) = std::move(rest);
  return true;
}

void add_agreement(Sampler& sampler, Sentence& sentence) {
  const std::uint32_t draw = sampler.random().below(100);
  if (draw < 20) {
    sentence.first = sampler.clause_about(Weight::with_phrase);
    sentence.first->complement = sampler.clause(Weight::with_clause, After::that);
  } else {
    sentence.first = sampler.clause(Weight::with_clause, After::anything);
    if (draw < 35) sentence.second = sampler.clause(Weight::with_phrase, After::anything);
  }
}

// The homonym is the subject, and the verb or the adjective behind it tells its sense.
std::unique_ptr<Clause> clause_about_homonym(Sampler& sampler, const Sense& sense, std::unique_ptr<NounPhrase> homonym,
                                             Cue& cue) {
  auto clause = std::make_unique<Clause>();
  cue.clause = clause.get();
  if (sampler.random().percent(40)) {
    homonym->attached = {&near(), sampler.noun_phrase(kThing, Weight::bare, After::anything)};
  }
  clause->subject = std::move(homonym);
  if (!sense.subject_of.empty() && sampler.random().percent(50)) {
    cue.by = Cue::By::verb;
    clause->verb = sampler.pick_new(sense.subject_of);
  } else {
    cue.by = Cue::By::predicate;
    clause->verb = &copula();
    clause->predicate = sampler.pick_new(sense.adjectives);
  }
  return clause;
}

// Somebody does to it what is done to this sense only: "the girl feeds the bat", "the bat that the girl feeds falls".
std::unique_ptr<Clause> clause_upon_homonym(Sampler& sampler, const Sense& sense, std::unique_ptr<NounPhrase> homonym,
                                            After after, Cue& cue) {
  auto upon = std::make_unique<Clause>();
  cue.by = Cue::By::verb;
  cue.clause = upon.get();
  upon->verb = sampler.pick_new(sense.object_of);
  const bool inside = sampler.random().percent(50);
  upon->subject = sampler.noun_phrase(kPerson, Weight::with_phrase, inside ? After::that : after);
  if (!inside) {
    upon->object = std::move(homonym);
    return upon;
  }
  homonym->relative = RelativeClause{Gap::object, std::move(upon)};
  auto clause = std::make_unique<Clause>();
  clause->subject = std::move(homonym);
  clause->verb = &sampler.verb(neutral_intransitive_verbs(), kAny, 0);
  return clause;
}

// An adjective before the noun tells its sense, and nothing else does.
std::unique_ptr<Clause> clause_beside_homonym(Sampler& sampler, const Sense& sense, std::unique_ptr<NounPhrase> homonym,
                                              After after, Cue& cue) {
  auto clause = std::make_unique<Clause>();
  cue.by = Cue::By::adjective;
  homonym->adjective = sampler.pick_new(sense.adjectives);
  if (sampler.random().percent(50)) {
    clause->verb = &sampler.verb(neutral_transitive_verbs(), kPerson, kAny);
    clause->subject = sampler.noun_phrase(kPerson, Weight::with_phrase, after);
    clause->object = std::move(homonym);
  } else {
    clause->subject = std::move(homonym);
    clause->verb = &sampler.verb(neutral_intransitive_verbs(), kAny, 0);
  }
  return clause;
}

void add_homonym(Sampler& sampler, Sentence& sentence) {
  const bool reported = sampler.random().percent(30);
  const After after = reported ? After::that : After::anything;
  if (reported) sentence.first = sampler.clause_about(Weight::bare);
  const Sense& sense = sampler.random().pick(senses());
  auto homonym = sampler.phrase_of(sense.noun, after);
  sentence.cue = Cue{.homonym = homonym.get()};
  std::unique_ptr<Clause> clause;
  const std::uint32_t draw = sampler.random().below(3);
  if (draw == 0) {
    clause = clause_beside_homonym(sampler, sense, std::move(homonym), after, *sentence.cue);
  } else if (draw == 1 && !sense.object_of.empty()) {
    clause = clause_upon_homonym(sampler, sense, std::move(homonym), after, *sentence.cue);
  } else {
    if (sampler.random().percent(25)) homonym->adjective = &sampler.adjective(neutral_adjectives(), kAny);
    clause = clause_about_homonym(sampler, sense, std::move(homonym), *sentence.cue);
  }
  (reported ? sentence.first->complement : sentence.first) = std::move(clause);
}

}  // namespace

Person person_of(const NounPhrase& phrase) {
  if (phrase.number == Number::plural) return Person::they;
  if (phrase.noun->is == kMale) return Person::he;
  return phrase.noun->is == kFemale ? Person::she : Person::it;
}

Sentence sample_sentence(TaskRandom& random) {
  for (;;) {
    Sampler sampler(random);
    Sentence sentence;
    const std::uint32_t draw = random.below(100);
    if (draw < 40) {
      add_agreement(sampler, sentence);
      return sentence;
    }
    if (draw < 65) {
      add_homonym(sampler, sentence);
      return sentence;
    }
    if (add_pronoun(sampler, sentence)) return sentence;
  }
}

}  // namespace qkv::training
