// Draws sentences: agreement across clauses, pronouns with one possible antecedent, homonyms with one cue.
#pragma once

#include "train/tasks/grammar/sentence.h"
#include "train/tasks/random.h"

namespace qkv::training {

/// "he", "she", "it" or "they" may stand for a noun.
enum class Person : std::uint8_t { he, she, it, they };
[[nodiscard]] Person person_of(const NounPhrase& phrase);

/// A sentence of the grammar. No noun comes twice. A pronoun agrees with exactly one noun before it.
[[nodiscard]] Sentence sample_sentence(TaskRandom& random);

}  // namespace qkv::training
