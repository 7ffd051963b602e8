// Whether words form a sentence of the small English grammar, and which of them decides another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qkv::training {

/// Where the words stop being a sentence, and what the grammar has there: "after the, it expects an adjective or a
/// noun", or which words do not agree; nullopt for a sentence. Verbs and determiners may be hidden ("<see>"). Which
/// verb takes which noun is not looked at.
[[nodiscard]] std::optional<std::string> no_english(std::span<const std::string> words);

/// In the order of the task's relations.
enum class EnglishRelation : std::uint8_t { subject, determiner, pronoun, sense };

/// What the task of English asks at a word, and the word that decides it.
struct EnglishMark {
  EnglishRelation relation = EnglishRelation::subject;
  std::int64_t place = 0;
  std::int64_t key = 0;
  std::string label;  // "sees", "these", the noun that a pronoun stands for, "bat/animal"
};

/// Of a sentence, for which no_english() gives nullopt, by rising place.
[[nodiscard]] std::vector<EnglishMark> english_marks(std::span<const std::string> words);

/// A word whose meaning the task of English asks for: "they", "bat".
[[nodiscard]] bool is_pronoun(std::string_view word);
[[nodiscard]] bool is_homonym(std::string_view word);

}  // namespace qkv::training
