// French: the words of a sentence that write_english() has placed, each with the English words that it renders.
#pragma once

#include <string>
#include <vector>

#include "train/tasks/grammar/sentence.h"

namespace qkv::training {

struct FrenchWord {
  std::string text;
  std::vector<std::int64_t> english;  // places of English words, rising, at least one
};

/// Adjectives stand after their noun but for a few, an object that is a pronoun before the verb; le, la, de, que and ce
/// change before a vowel, de + le and de + les become du and des, and des becomes de before an adjective.
[[nodiscard]] std::vector<FrenchWord> write_french(const Sentence& sentence);

/// All words of the grammar's French, each once.
[[nodiscard]] std::vector<std::string> french_words();

}  // namespace qkv::training
