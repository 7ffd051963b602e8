// The built-in tasks: examples made from a seed, each with the attention pattern that a solved model must show.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/attention_site.h"
#include "qkv/tensor.h"
#include "qkv/text/vocabulary.h"

namespace qkv {

/// The kind of model that a task is for, and with it which parts of a TaskExample are there.
enum class TaskKind : std::uint8_t {
  decoder,          // tokens; a query sees keys up to itself
  encoder,          // tokens; a query sees all
  encoder_decoder,  // source for the encoder, tokens for the decoder
  image_text,       // image, and the tokens of its caption for a decoder over the patches
};
/// "decoder", "encoder", "encoder-decoder", "image-text"
[[nodiscard]] std::string_view name_of(TaskKind kind) noexcept;

/// Examples to learn from, and to be examined with. No content is in both, whatever the seed: the hash of an example's
/// content says which of the two it is in, one in eight being for the test.
enum class Split : std::uint8_t { train, test };

/// Something that a solved model's attention shows, such as "match": from each closing bracket to its opening one.
struct TaskRelation {
  std::string name;
  AttentionSite site = AttentionSite::tokens;
  std::string description;
};

/// The keys that a query should attend to, in rising order, at least one.
struct PatternRow {
  std::int64_t query = 0;
  std::vector<std::int64_t> keys;
};

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

/// One example. Query p of the tokens is where labels[p] is predicted: the token at p + 1 in a decoder.
struct TaskExample {
  std::vector<std::int32_t> source;                 // encoder_decoder only
  Tensor image;                                     // image_text only: f32 [3, side, side], red, green, blue in [0, 1]
  std::vector<std::int32_t> tokens;                 // [Tq]
  std::vector<std::optional<std::int32_t>> labels;  // [Tq]: what to learn; none if nothing is asked
  std::vector<bool> scored;                         // [Tq]: whether the label counts in the accuracy
  std::vector<std::vector<PatternRow>> patterns;    // rows of each relation of the task, by rising query
  std::optional<Syntax> syntax;                     // tasks of language only
};

/// The longest that an example can be.
struct TaskLengths {
  std::int64_t tokens = 0;
  std::int64_t source = 0;      // 0 if there is no source
  std::int64_t image_side = 0;  // pixels; 0 if there is no image
  std::int64_t patch_side = 0;  // pixels; patches are counted row by row
  /// Keys of cross-attention to an image: (image_side / patch_side)^2.
  [[nodiscard]] std::int64_t patches() const noexcept;
};

struct TaskInfo {
  std::string name;         // "induction"
  std::string description;  // one line
  TaskKind kind = TaskKind::decoder;
  double accuracy = 0;  // share of the scored labels of the test split that a trained model must get right
  /// What TaskOptions::length counts, with the default and the bounds; none if the task has no length.
  struct Length {
    std::string unit;
    std::int64_t usual = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  std::optional<Length> length;
};

struct TaskOptions {
  std::uint64_t seed = 0;
  /// How long examples get, in the unit of TaskInfo::Length: to train short and test long.
  std::optional<std::int64_t> length = std::nullopt;
};

/// A task, immutable: any thread may ask for any example in any order.
class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  [[nodiscard]] virtual const TaskInfo& info() const noexcept = 0;
  [[nodiscard]] virtual const TaskLengths& lengths() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<TaskRelation>& relations() const noexcept = 0;
  /// Of tokens and labels.
  [[nodiscard]] virtual const Tokenizer& vocabulary() const noexcept = 0;
  /// Of the source: another one than vocabulary() in translation.
  [[nodiscard]] virtual const Tokenizer& source_vocabulary() const noexcept { return vocabulary(); }
  /// A pure function of the options, the split and n (Philox4x32-10, Salmon et al. 2011). Throws InvalidArgument for a
  /// negative n. Allocates the example.
  [[nodiscard]] virtual TaskExample example(Split split, std::int64_t n) const = 0;
  /// Different examples of the split, at least 1: example n holds what another of them does from n = count on. nullopt
  /// where they are drawn without an end.
  [[nodiscard]] virtual std::optional<std::int64_t> count(Split /*split*/) const noexcept { return std::nullopt; }
  /// A hash of all data that the examples are made of; nullopt if they follow from the options alone.
  [[nodiscard]] virtual std::optional<std::uint64_t> data_hash() const { return std::nullopt; }

  /// Writes into an example of a text of the reader's own what the task asks of it: labels, scored places and patterns,
  /// where the task's own examples have them. Changes nothing where the text does not tell.
  virtual void mark(TaskExample& /*example*/) const {}
  /// [Tq]: where the task asks for something in an example that mark() has seen; empty if it asks everywhere.
  [[nodiscard]] virtual std::vector<bool> asked(const TaskExample& /*example*/) const { return {}; }

  /// What of an example lies outside of those that the task draws, a sentence each: "it learned from texts of 6 to 12
  /// letters; this one has 5". A model that learned the task may then answer anything. Empty if nothing does.
  [[nodiscard]] virtual std::vector<std::string> outside(const TaskExample& example) const;
  /// The tokens of an answer as people read them: without "</s>", and of addition the sum, highest digit first.
  [[nodiscard]] virtual std::string answer_text(std::vector<std::int32_t> answer) const;

 protected:
  Task() = default;
  /// What of an example is longer than `most`, of which 0 stands for a length that is not known, as outside() says it.
  [[nodiscard]] static std::vector<std::string> longer_than(const TaskLengths& most, const TaskExample& example);
};

/// All built-in tasks, the simplest first.
[[nodiscard]] std::span<const TaskInfo> tasks();

/// Throws InvalidArgument for a name that is no task's, with the nearest one, and for a length out of its bounds, or of
/// a task that has none.
[[nodiscard]] std::unique_ptr<const Task> make_task(std::string_view name, const TaskOptions& options = {});

/// An example as a table for people: a row for each query with its token, its label and the keys of each relation.
/// Unscored labels stand in parentheses. An image comes first, a letter of the colour for each block of 4 x 4 pixels.
[[nodiscard]] std::string show(const Task& task, const TaskExample& example);

/// How well weights show a relation. Scores of more examples add up.
struct PatternScore {
  double weight_sum = 0;  // over rows: the weight on the row's keys
  std::int64_t hits = 0;  // rows whose largest weight is on one of them; the first of equals counts
  std::int64_t rows = 0;  // rows that have a pattern

  PatternScore& operator+=(const PatternScore& other) noexcept;
  /// In [0, 1]; 0 if there are no rows.
  [[nodiscard]] double mean_weight() const noexcept;
  [[nodiscard]] double accuracy() const noexcept;
};

/// One score for each head. `weights` is [heads, Tq, Tk] of the relation's site, floating, any strides, with Tq and Tk
/// those of the example: slice off padding. Rows without a pattern do not count. Throws InvalidArgument for another
/// rank or length, and for a relation that the task has not.
[[nodiscard]] std::vector<PatternScore> score_pattern(const Task& task, const TaskExample& example,
                                                      std::string_view relation, const TensorView& weights);

}  // namespace qkv
