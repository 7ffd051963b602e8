// A sentence before it is written in a language: clauses and noun phrases, which both languages put into words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "train/tasks/grammar/lexicon.h"

namespace qkv::training {

/// the; a or some; this or these; that or those.
enum class Determiner : std::uint8_t { definite, indefinite, proximal, distal };

/// What a relative clause lacks, for which "that" stands.
enum class Gap : std::uint8_t { subject, object };

struct NounPhrase;
struct Clause;

struct PrepositionalPhrase {
  const Preposition* preposition = nullptr;
  std::unique_ptr<NounPhrase> object;
  std::int64_t place = 0;  // of the preposition in English; so are all places below
};

struct RelativeClause {
  Gap gap = Gap::subject;
  std::unique_ptr<Clause> clause;
  std::int64_t place = 0;
};

/// A noun with what belongs to it, or a pronoun for one.
struct NounPhrase {
  const NounPhrase* antecedent = nullptr;  // set: a pronoun, and all below but number and place is empty
  Determiner determiner = Determiner::definite;
  const Adjective* adjective = nullptr;
  const Noun* noun = nullptr;
  Number number = Number::singular;
  std::optional<PrepositionalPhrase> attached;
  std::optional<RelativeClause> relative;
  std::int64_t determiner_place = 0;
  std::int64_t adjective_place = 0;
  std::int64_t place = 0;  // of the noun or pronoun
};

/// One of: verb alone (with a place), verb and object, copula and adjective, verb and clause.
struct Clause {
  std::unique_ptr<NounPhrase> subject;  // none in a relative clause that lacks it
  const Verb* verb = nullptr;
  std::unique_ptr<NounPhrase> object;  // likewise
  const Adjective* predicate = nullptr;
  std::optional<PrepositionalPhrase> attached;
  std::unique_ptr<Clause> complement;
  std::int64_t place = 0;  // of the verb
  std::int64_t predicate_place = 0;
  std::int64_t mark_place = 0;  // of the "that" before the complement
};

/// The word that tells the sense of a homonym.
struct Cue {
  const NounPhrase* homonym = nullptr;
  enum class By : std::uint8_t { adjective, predicate, verb } by = By::adjective;
  const Clause* clause = nullptr;  // whose verb or predicate it is
};

struct Sentence {
  std::unique_ptr<Clause> first;
  std::unique_ptr<Clause> second;  // after "and", or none
  std::int64_t and_place = 0;
  std::optional<Cue> cue;
};

}  // namespace qkv::training
