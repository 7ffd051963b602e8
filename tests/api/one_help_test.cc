// Fields of one name that mean one thing have one help text, whichever question has them.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "qkv/api/questions.h"

namespace qkv::one_help_test {
namespace {

struct Differing {
  std::size_t texts;  // how many there are
  std::string why;
};

const std::map<std::string, Differing>& differing() {
  static const std::map<std::string, Differing> kAll = {
      {"area", {2, "what the map is of, or where largest weights are looked for"}},
      {"batch", {6, "an entry, how many there are, or sequences, examples and texts of a batch or a step"}},
      {"bias", {2, "explain draws T5's table, too"}},
      {"block", {2, "a transformer's, or the side of a pattern's blocks"}},
      {"changes", {2, "one text of several, or one of several texts"}},
      {"chat", {3, "one message in the template, each of several texts, or a conversation"}},
      {"context", {2, "names of the keys, or the text that they come from"}},
      {"count", {3, "of keys, examples and pieces"}},
      {"data", {2, "drawn inputs, or what is trained on"}},
      {"dropout", {2, "of weights, or of all that a block adds"}},
      {"dtype", {5, "what is stored, or computed in, and what becomes of quantised weights"}},
      {"examples", {4, "that are read, shown, or held out, of each length or of an examination"}},
      {"file", {3, "one text, texts on lines, or weights that are looked into"}},
      {"from", {3, "a length, an example, or a model"}},
      {"head", {5, "one of a layer, of a slope, several, one that is drawn, or with its layer"}},
      {"heads", {3, "of a model, of ALiBi's slopes, or by which the last axis is parted"}},
      {"key", {2, "one of a pair, or that a query is multiplied with"}},
      {"layer", {2, "one, or that whose best head is explained"}},
      {"layers", {2, "of a whole model, or of each stack"}},
      {"learning_rate", {2, "with a schedule of its own, or one that is given"}},
      {"list", {2, "of a vocabulary, or of files"}},
      {"map", {2, "a matrix in cells, or a flag beside counts"}},
      {"mask", {4, "of a call, of tokens that are made up, one more pattern, or what a page begins with"}},
      {"memory_limit", {2, "of results, or of a matrix of a pattern"}},
      {"model", {5, "any, one that fills gaps, two towers, a kind, or what is converted"}},
      {"of", {2, "a number, or a cost"}},
      {"out", {4, "of training, a study, a conversion and a fetch"}},
      {"query", {4, "a place, the row that steps speak of, a word, or a token"}},
      {"row", {2, "of tiles, or of a query"}},
      {"seed", {12, "what is drawn"}},
      {"set", {2, "numbers of the bench's head, or of any"}},
      {"source", {2, "vectors, or a tokenizer"}},
      {"stage", {2, "that is computed, or shown"}},
      {"task", {3, "that is shown, studied or learnt"}},
      {"text", {6, "what a model reads, with what fill, generate, explain and bottleneck ask of it"}},
      {"texts", {2, "themselves, or how many"}},
      {"tile", {3, "a rectangle, a side, or a size"}},
      {"to", {3, "lengths of sequences and of letters"}},
      {"tokenizer", {2, "that is looked at, or learnt with"}},
      {"tokens", {6, "names, positions, counts and lengths"}},
      {"messages", {2, "before the one that is answered, or looked at, or all"}},
      {"sound", {2, "read, or written out"}},
      {"top_k", {2, "of each query, or of a draw"}},
      {"user", {2, "ends a conversation, or is what is looked at"}},
      {"window", {3, "of a mask, of a text, or of a pattern"}},
  };
  return kAll;
}

TEST(OneHelp, IsOfFieldsOfOneNameAndMeaning) {
  std::map<std::string, std::set<std::string>> texts;
  for (const Question& question : questions()) {
    for (const FieldInfo& field : question.fields) texts[field.name].insert(field.meaning);
  }
  for (const auto& [name, of_name] : texts) {
    const auto known = differing().find(name);
    const std::size_t expected = known == differing().end() ? 1 : known->second.texts;
    EXPECT_EQ(of_name.size(), expected) << name << ": " << testing::PrintToString(of_name);
  }
  for (const auto& [name, one] : differing()) EXPECT_TRUE(texts.contains(name)) << name;
}

}  // namespace
}  // namespace qkv::one_help_test
