#include "train/tasks/grammar/sampler.h"

namespace qkv::training {
namespace {

// The choices for which `fits` holds.
template <class T, class Fits>
std::vector<const T*> fitting(std::span<const T> all, const Fits& fits) {
  std::vector<const T*> some;
  for (const T& one : all) {
    if (fits(one)) some.push_back(&one);
  }
  return some;
}

}  // namespace

const Verb& Sampler::verb(std::span<const Verb> verbs, Things subject, Things object) {
  const auto fits = [&](const Verb& verb) {
    return (verb.subject & subject) != 0 && (object == 0 || (verb.object & object) != 0);
  };
  return *pick_new(fitting(verbs, fits));
}

const Adjective& Sampler::adjective(std::span<const Adjective> adjectives, Things of) {
  return *pick_new(fitting(adjectives, [&](const Adjective& one) { return (one.of & of) != 0; }));
}

std::unique_ptr<NounPhrase> Sampler::phrase_of(const Noun& noun, After after) {
  auto phrase = std::make_unique<NounPhrase>();
  const std::uint32_t draw = random_.below(after == After::that ? 85 : 100);
  phrase->determiner = draw < 45   ? Determiner::definite
                       : draw < 65 ? Determiner::indefinite
                       : draw < 85 ? Determiner::proximal
                                   : Determiner::distal;
  phrase->noun = &noun;
  phrase->number = number();
  return phrase;
}

std::unique_ptr<NounPhrase> Sampler::noun_phrase(Things of, Weight weight, After after) {
  auto phrase =
      phrase_of(*pick_new(fitting<Noun>(nouns(), [&](const Noun& noun) { return (noun.is & of) != 0; })), after);
  if (random_.percent(30)) phrase->adjective = &adjective(adjectives(), phrase->noun->is);
  const std::uint32_t draw = random_.below(100);
  if (weight == Weight::with_phrase && draw < 50) phrase->attached = prepositional_phrase(phrase->noun->is);
  if (weight != Weight::with_clause) return phrase;
  if (draw < 30) phrase->attached = prepositional_phrase(phrase->noun->is);
  // Not both: in "the keys behind the doors that …" either could be meant.
  if (draw >= 30 && draw < 80) phrase->relative = relative_clause(*phrase->noun);
  return phrase;
}

std::unique_ptr<NounPhrase> Sampler::pronoun(const NounPhrase& antecedent) {
  auto phrase = std::make_unique<NounPhrase>();
  phrase->antecedent = &antecedent;
  phrase->number = antecedent.number;
  return phrase;
}

PrepositionalPhrase Sampler::prepositional_phrase(Things of_whom) {
  const bool possible = (of_whom & kPerson) != 0;
  if (possible && random_.percent(40)) {
    return {&with(), noun_phrase(kAnimal | kThing, Weight::bare, After::anything)};
  }
  return {random_.percent(50) ? &near() : &behind(), noun_phrase(kAny, Weight::bare, After::anything)};
}

RelativeClause Sampler::relative_clause(const Noun& head) {
  RelativeClause relative;
  relative.clause = std::make_unique<Clause>();
  Clause& clause = *relative.clause;
  if (random_.percent(45)) {
    add_predicate(clause, head.is, Weight::bare);
    return relative;
  }
  relative.gap = Gap::object;
  clause.verb = &verb(transitive_verbs(), kAnimate, head.is);
  clause.subject = noun_phrase(clause.verb->subject, Weight::with_phrase, After::that);
  return relative;
}

void Sampler::add_predicate(Clause& clause, Things subject, Weight object_weight) {
  const std::uint32_t draw = random_.below(100);
  if (draw < 45 && (subject & kAnimate) != 0) {
    clause.verb = &verb(transitive_verbs(), subject, kAny);
    clause.object = noun_phrase(clause.verb->object, object_weight, After::anything);
  } else if (draw < 70) {
    clause.verb = &verb(intransitive_verbs(), subject, 0);
    const bool has_place = random_.percent(30);
    if (has_place) {
      clause.attached = {random_.percent(50) ? &near() : &behind(), noun_phrase(kAny, Weight::bare, After::anything)};
    }
  } else {
    clause.verb = &copula();
    clause.predicate = &adjective(adjectives(), subject);
  }
}

std::unique_ptr<Clause> Sampler::clause(Weight weight, After after) {
  auto clause = std::make_unique<Clause>();
  clause->subject = noun_phrase(kAny, weight, after);
  add_predicate(*clause, clause->subject->noun->is, weight == Weight::with_clause ? Weight::with_clause : Weight::bare);
  return clause;
}

std::unique_ptr<Clause> Sampler::clause_about(Weight weight) {
  auto clause = std::make_unique<Clause>();
  clause->subject = noun_phrase(kPerson, weight, After::anything);
  clause->verb = &verb(clause_verbs(), kPerson, 0);
  return clause;
}

}  // namespace qkv::training
