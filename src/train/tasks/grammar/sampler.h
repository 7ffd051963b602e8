// The parts of sentences, drawn from the lexicon.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "train/tasks/grammar/sample.h"

namespace qkv::training {

/// What may follow a noun.
enum class Weight : std::uint8_t { bare, with_phrase, with_clause };
/// Where a noun phrase begins: nobody says "that that man".
enum class After : std::uint8_t { anything, that };

class Sampler {
 public:
  explicit Sampler(TaskRandom& random) : random_(random) {}

  TaskRandom& random() { return random_; }
  std::unique_ptr<NounPhrase> noun_phrase(Things of, Weight weight, After after);
  /// A phrase of this noun with nothing but a determiner.
  std::unique_ptr<NounPhrase> phrase_of(const Noun& noun, After after);
  std::unique_ptr<NounPhrase> pronoun(const NounPhrase& antecedent);
  PrepositionalPhrase prepositional_phrase(Things of_whom);
  RelativeClause relative_clause(const Noun& head);
  std::unique_ptr<Clause> clause(Weight weight, After after);
  /// Gives a clause a verb, and what follows it, that its subject can have.
  void add_predicate(Clause& clause, Things subject, Weight object_weight);
  /// "the queen says that", with nothing behind it.
  std::unique_ptr<Clause> clause_about(Weight weight);

  /// One of the verbs that take such a subject and such an object.
  const Verb& verb(std::span<const Verb> verbs, Things subject, Things object);
  const Adjective& adjective(std::span<const Adjective> adjectives, Things of);
  /// One that is not in the sentence yet; any if all are.
  template <class T>
  const T* pick_new(const std::vector<const T*>& choices) {
    std::vector<const T*> unused;
    for (const T* choice : choices) {
      if (std::ranges::find(used_, choice) == used_.end()) unused.push_back(choice);
    }
    const T* chosen = random_.pick(unused.empty() ? choices : unused);
    used_.push_back(chosen);
    return chosen;
  }

 private:
  Number number() { return random_.percent(50) ? Number::singular : Number::plural; }

  TaskRandom& random_;
  std::vector<const void*> used_;
};

}  // namespace qkv::training
