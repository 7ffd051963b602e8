// The words of the small English grammar and of its French counterpart.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::training {

enum class Number : std::uint8_t { singular, plural };
enum class FrenchGender : std::uint8_t { masculine, feminine };

/// What a noun names: one bit each, so that a verb can say what it takes.
using Things = std::uint8_t;
inline constexpr Things kMale = 1;
inline constexpr Things kFemale = 2;
inline constexpr Things kAnimal = 4;
inline constexpr Things kThing = 8;
inline constexpr Things kPerson = kMale | kFemale;
inline constexpr Things kAnimate = kPerson | kAnimal;
inline constexpr Things kAny = kAnimate | kThing;

struct Noun {
  std::array<std::string_view, 2> english;  // singular, plural
  std::array<std::string_view, 2> french;
  FrenchGender gender = FrenchGender::masculine;
  Things is = kThing;
  std::string_view sense = {};  // "bat/animal" where the English word has another sense, too
};

struct Verb {
  std::array<std::string_view, 2> english;  // with a singular and a plural subject
  std::array<std::string_view, 2> french;
  Things subject = kAny;
  Things object = 0;  // 0: takes none
};

struct Adjective {
  std::string_view english;
  std::array<std::string_view, 4> french;  // masculine and feminine singular, masculine and feminine plural
  Things of = kAny;
  bool before_noun = false;  // in French
};

struct Preposition {
  std::string_view english;
  std::vector<std::string_view> french;
};

/// One sense of a homonym, and the words that tell it from the other.
struct Sense {
  Noun noun;
  std::vector<const Adjective*> adjectives;
  std::vector<const Verb*> object_of;   // verbs, whose subject is a person
  std::vector<const Verb*> subject_of;  // verbs without an object
};

[[nodiscard]] const std::vector<Noun>& nouns();
[[nodiscard]] const std::vector<Sense>& senses();
/// Verbs that say nothing of the sense of a homonym as their object (transitive) or subject (intransitive).
[[nodiscard]] std::span<const Verb> transitive_verbs();
[[nodiscard]] std::span<const Verb> intransitive_verbs();
[[nodiscard]] std::span<const Verb> neutral_transitive_verbs();
[[nodiscard]] std::span<const Verb> neutral_intransitive_verbs();
/// Verbs with a clause as their object.
[[nodiscard]] std::span<const Verb> clause_verbs();
[[nodiscard]] const Verb& copula();
[[nodiscard]] std::span<const Adjective> adjectives();
/// Adjectives that say nothing of the sense of a homonym.
[[nodiscard]] std::span<const Adjective> neutral_adjectives();
/// "near", "behind", and "with", which only a person is.
[[nodiscard]] const Preposition& near();
[[nodiscard]] const Preposition& behind();
[[nodiscard]] const Preposition& with();

/// Every verb of the grammar but the copula.
[[nodiscard]] std::vector<const Verb*> all_verbs();
/// Every adjective, those that tell a sense included.
[[nodiscard]] std::vector<const Adjective*> all_adjectives();

/// The token of a verb whose form is to be said: "<see>"; of the copula "<be>".
[[nodiscard]] std::string hidden_form(const Verb& verb);

/// The form that agrees.
[[nodiscard]] inline std::string_view form(const std::array<std::string_view, 2>& forms, Number number) {
  return forms[number == Number::plural ? 1 : 0];
}
[[nodiscard]] inline std::string_view form(const Adjective& adjective, FrenchGender gender, Number number) {
  return adjective.french[(number == Number::plural ? 2U : 0U) + (gender == FrenchGender::feminine ? 1U : 0U)];
}

}  // namespace qkv::training
