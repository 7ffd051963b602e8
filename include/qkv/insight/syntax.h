// Which heads follow the grammar: weights between words against the trees of their sentences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/insight/heads.h"
#include "qkv/model/text_model.h"
#include "qkv/text/syntax.h"

namespace qkv {

/// The label under which pronouns and the nouns that they stand for are counted, the noun as the head.
inline constexpr std::string_view kPronoun = "pronoun";

/// The sentences of a CoNLL-U file (universaldependencies.org/format.html): columns ID, FORM, HEAD, DEPREL, and
/// SpaceAfter=No of MISC; without subtypes of relations ("nsubj" for nsubj:pass). Ranges of words (1-2) and empty nodes
/// (1.1) are left out. Throws FileError of `file`, which the text is from, naming the line and what was expected of it,
/// and for a text without a sentence.
[[nodiscard]] std::vector<ParsedSentence> parse_conllu(std::string_view text, std::string_view file = "CoNLL-U");

/// From which word of a pair the attention is looked at.
enum class TreeDirection : std::uint8_t {
  to_head,       // from the dependent: is its head the word with the largest weight?
  to_dependent,  // from the head
};
[[nodiscard]] std::string_view name_of(TreeDirection direction) noexcept;

/// How often each head finds the other word of a relation.
struct RelationAccuracy {
  std::string label;
  TreeDirection direction = TreeDirection::to_head;
  std::int64_t pairs = 0;
  std::vector<std::int64_t> right;  // of each head, layer by layer
  /// Of `right`, the first of equals; nullopt if no head finds any.
  std::optional<std::int64_t> best = std::nullopt;
  /// Of the best guess at a fixed distance that the model sees: -1 is the word before; nullopt if none finds any.
  std::optional<std::int64_t> offset = std::nullopt;
  std::int64_t offset_right = 0;
};

struct SyntaxAnalysis {
  std::int64_t sentences = 0;
  std::int64_t words = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  bool looks_back = false;                  // a decoder, whose heads and offsets see earlier words alone
  std::vector<RelationAccuracy> relations;  // the most frequent first; of each label both directions
};

/// Runs the sentences, those of one length together. Weight between words: the sum over the tokens of the word looked
/// at, the mean over those of the word that looks; special tokens and the word itself do not count (Clark et al. 2019,
/// section 4). Of an encoder-decoder it is the encoder that reads them. Throws InvalidArgument naming sentences if
/// there are none or TextModel::example_of() refuses one, and trained for a model that reads images or a decoder that
/// reads a source.
[[nodiscard]] SyntaxAnalysis analyze_syntax(const TextModel& trained, std::span<const ParsedSentence> sentences);

/// For people: of each relation and direction with at least `fewest` pairs the best head beside the best fixed offset.
[[nodiscard]] std::string syntax_table(const SyntaxAnalysis& analysis, const std::string& model, std::int64_t fewest);
/// A line for each relation, direction and head.
[[nodiscard]] std::string syntax_csv(const SyntaxAnalysis& analysis);

}  // namespace qkv
