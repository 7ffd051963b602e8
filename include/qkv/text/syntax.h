// Sentences with their grammar: the tree of each, and the nouns that its pronouns stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/text/tokenizer.h"

namespace qkv {

/// A word's place in the tree of its sentence; the root has no head.
struct Dependency {
  std::optional<std::int64_t> head;
  std::string label;  // nsubj, obj, det, amod, acomp, prep, pobj, relcl, mark, ccomp, cc, conj, root
};

/// A pronoun, or a relative pronoun, and the noun that it stands for.
struct Coreference {
  std::int64_t mention = 0;
  std::int64_t antecedent = 0;
};

/// The grammar of an English sentence; places are those of the stream that holds it: the source, or else the tokens.
struct Syntax {
  std::string sentence;                  // as it reads with nothing hidden
  std::vector<Dependency> dependencies;  // one for each word
  std::vector<Coreference> coreferences;
};

/// A sentence and its tree.
struct ParsedSentence {
  std::string text;
  std::vector<TextRange> words;          // bytes of the text, in order
  std::vector<Dependency> dependencies;  // one a word
  std::vector<Coreference> coreferences = {};
};

}  // namespace qkv
