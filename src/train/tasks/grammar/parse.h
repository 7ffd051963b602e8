// Whether words form a sentence of the small English grammar.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace qkv::training {

/// Where the words stop being a sentence, and what the grammar has there: "after the, it expects an adjective or a
/// noun"; nullopt for a sentence. Verbs and determiners may be hidden ("<see>"); agreement is not looked at, nor which
/// verb takes which noun.
[[nodiscard]] std::optional<std::string> no_english(std::span<const std::string> words);

/// A word whose meaning the task of English asks for: "they", "bat".
[[nodiscard]] bool is_pronoun(std::string_view word);
[[nodiscard]] bool is_homonym(std::string_view word);

}  // namespace qkv::training
