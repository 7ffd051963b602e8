// English: the words of a sentence with their dependency tree, and what each one depends on.
#pragma once

#include <string>
#include <vector>

#include "qkv/train/task.h"
#include "train/tasks/grammar/sentence.h"

namespace qkv::training {

struct EnglishWord {
  std::string text;
  std::string hidden;  // what to show instead where the form is to be said: "<see>"; empty if it does not agree
  Dependency dependency;
};

/// From a word to the one that decides its form or meaning.
struct Link {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

struct EnglishSentence {
  std::vector<EnglishWord> words;
  std::vector<Link> subjects;     // verb -> the noun or pronoun that it agrees with
  std::vector<Link> determiners;  // determiner -> noun
  std::vector<Link> pronouns;     // pronoun -> noun
  std::vector<Link> relatives;    // the "that" of a relative clause -> noun
  std::optional<Link> cue;        // homonym -> the word that tells its sense
  std::string sense;              // "bat/animal", or empty
};

/// Also notes in the sentence the place of each word. Clear dependencies (spaCy's English labels): the verb heads its
/// clause, the copula too, with the adjective as its acomp.
[[nodiscard]] EnglishSentence write_english(Sentence& sentence);

[[nodiscard]] Syntax syntax_of(const EnglishSentence& sentence);

/// "<pad>", the words given, all words of the grammar, and, in the task of English alone, hidden forms and senses.
[[nodiscard]] std::vector<std::string> english_words();
[[nodiscard]] std::vector<std::string> english_hidden_forms();
[[nodiscard]] std::vector<std::string> english_senses();

}  // namespace qkv::training
