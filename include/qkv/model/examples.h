// What a model reads, with what is asked there: one example, and what examples come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/attention_site.h"
#include "qkv/tensor.h"
#include "qkv/text/syntax.h"
#include "qkv/text/tokenizer.h"

namespace qkv {

/// Examples to learn from, and to be examined with. No content is in both, whatever the seed: the hash of an example's
/// content says which of the two it is in, one in eight being for the test.
enum class Split : std::uint8_t { train, test };

/// Something that a solved model's attention shows, such as "match": from each closing bracket to its opening one.
struct Relation {
  std::string name;
  AttentionSite site = AttentionSite::tokens;
  std::string description;
};

/// The keys that a query should attend to, in rising order, at least one.
struct PatternRow {
  std::int64_t query = 0;
  std::vector<std::int64_t> keys;
};

/// One example. Query p of the tokens is where labels[p] is predicted: the token at p + 1 in a decoder.
struct Example {
  std::vector<std::int32_t> source;                 // of a model that reads one
  Tensor image;                                     // likewise: f32 [3, side, side], red, green, blue in [0, 1]
  Tensor sound = {};                                // likewise: f32 [bins, frames], of log_mel()
  std::vector<std::int32_t> tokens;                 // [Tq]
  std::vector<std::optional<std::int32_t>> labels;  // [Tq]: what to learn; none if nothing is asked
  std::vector<bool> scored;                         // [Tq]: whether the label counts in the accuracy
  std::vector<std::vector<PatternRow>> patterns;    // rows of each relation of the examples, by rising query
  std::optional<Syntax> syntax;                     // of sentences whose grammar is known
};

/// The longest that an example can be.
struct TextLengths {
  std::int64_t tokens = 0;
  std::int64_t source = 0;      // 0 if there is no source
  std::int64_t image_side = 0;  // pixels; 0 if there is no image
  std::int64_t patch_side = 0;  // pixels; patches are counted row by row
  /// Keys of cross-attention to an image: (image_side / patch_side)^2.
  [[nodiscard]] std::int64_t patches() const noexcept;
};

/// Where a model's examples come from, immutable: any thread may ask for any example in any order. Each task of
/// qkv/train/task.h is such.
class Examples {
 public:
  virtual ~Examples() = default;
  Examples(const Examples&) = delete;
  Examples& operator=(const Examples&) = delete;

  [[nodiscard]] virtual const TextLengths& lengths() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<Relation>& relations() const noexcept = 0;
  /// Of tokens and labels.
  [[nodiscard]] virtual const Tokenizer& vocabulary() const noexcept = 0;
  /// Of the source: another one than vocabulary() in translation.
  [[nodiscard]] virtual const Tokenizer& source_vocabulary() const noexcept { return vocabulary(); }
  /// A pure function of the options, the split and n (Philox4x32-10, Salmon et al. 2011). Throws InvalidArgument for a
  /// negative n. Allocates the example.
  [[nodiscard]] virtual Example example(Split split, std::int64_t n) const = 0;
  /// Different examples of the split, at least 1: example n holds what another of them does from n = count on. nullopt
  /// where they are drawn without an end.
  [[nodiscard]] virtual std::optional<std::int64_t> count(Split /*split*/) const noexcept { return std::nullopt; }

  /// Writes into an example of a text of the reader's own what is asked of it: labels, scored places and patterns,
  /// where the examples have them. Changes nothing where the text does not tell.
  virtual void mark(Example& /*example*/) const {}
  /// [Tq]: where something is asked in an example that mark() has seen; empty if it is asked everywhere.
  [[nodiscard]] virtual std::vector<bool> asked(const Example& /*example*/) const { return {}; }
  /// Whether tokens are given labels, rather than followed by others.
  [[nodiscard]] virtual bool labels_tokens() const noexcept = 0;

  /// What of an example lies outside of those that are drawn, a sentence each: "it learned from texts of 6 to 12
  /// letters; this one has 5". A model that learned from them may then answer anything. Empty if nothing does.
  [[nodiscard]] virtual std::vector<std::string> outside(const Example& example) const;
  /// The tokens of an answer as people read them: without "</s>", and of addition the sum, highest digit first.
  [[nodiscard]] virtual std::string answer_text(std::vector<std::int32_t> answer) const;

 protected:
  Examples() = default;
};

/// What of an example is longer than `most`, of which 0 stands for a length that is not known, as Examples::outside()
/// says it.
[[nodiscard]] std::vector<std::string> longer_than(const TextLengths& most, const Example& example);
/// The tokens of an answer without "</s>".
[[nodiscard]] std::string answer_in(const Tokenizer& tokenizer, std::vector<std::int32_t> answer);

}  // namespace qkv
