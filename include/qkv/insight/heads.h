// What the heads of a model do over many texts: how spread they are, which patterns they show, how alike they are, and
// what the model loses without them. docs/insight.md has the formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qkv/insight/patterns.h"
#include "qkv/model/examples.h"
#include "qkv/model/model.h"

namespace qkv {

/// The mean weight on the keys of a pattern, over the rows that see one of them.
struct PatternShare {
  double weight_sum = 0;
  double even_sum = 0;  // what the sum would be if each row were even over the keys that it sees
  std::int64_t rows = 0;
  /// In [0, 1]; 0 if there are no rows.
  [[nodiscard]] double mean() const noexcept { return rows > 0 ? weight_sum / static_cast<double>(rows) : 0; }
  /// The mean of an even head.
  [[nodiscard]] double even() const noexcept { return rows > 0 ? even_sum / static_cast<double>(rows) : 0; }
};

/// The mean weight from which a head is said to show a pattern, the share of the largest entropy from which it is
/// "broad", and the fewest rows that tell either from chance.
inline constexpr double kShowsPattern = 0.5;
inline constexpr double kIsBroad = 0.9;
inline constexpr std::int64_t kFewestRows = 2;

/// What a head is, and why.
struct HeadClass {
  std::string word;      // of a TextPattern, or "broad", or "mixed", or "-" of a head without rows
  double weight = 0;     // mean weight on the pattern; of a broad head its evenness, of a mixed one its largest share
  std::string evidence;  // "0.97 on the previous token"
};

/// One head over all rows that see two keys or more; others say nothing and are left out.
struct HeadStatistics {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::int64_t rows = 0;
  double entropy = 0;                             // mean, in nats
  double evenness = 0;                            // mean of entropy / log(visible keys), in [0, 1]
  std::optional<double> distance = std::nullopt;  // mean of |i - j|, in tokens; self-attention over text only
  std::vector<PatternShare> shares = {};          // in the order of text_patterns()
  /// On random tokens that come twice (RepeatedTokens): on the token after the same one, and on the same one.
  std::optional<double> repeat_induction = std::nullopt;
  std::optional<double> repeat_duplicate = std::nullopt;
  /// Spearman's correlation of the weights with how alike the tokens' embeddings are, mean over rows of three other
  /// words or more; self-attention over text only.
  std::optional<double> similarity = std::nullopt;
  std::optional<double> removal = std::nullopt;        // rise of the mean loss if the head gives zeros, in nats
  std::optional<double> gradient = std::nullopt;       // mean over texts of |sum of gradient x output|
  std::optional<std::int64_t> nearest = std::nullopt;  // the head of its layer whose weights are most alike
  double nearest_distance = 0;
  HeadClass shown = {};
};

/// Sums of the heads of one layer over texts. Keeps O(heads²) numbers, whatever the texts.
class LayerHeads {
 public:
  explicit LayerHeads(std::int64_t heads);

  /// Adds one text: weights [H, Tq, Tk], floating, any strides. `hidden`, b8 [Tq, Tk], is true where the mask hides;
  /// empty: nowhere. `cosines`, f64 [Tq, Tk], say how alike tokens are; empty: it is not known. Tokens without queries
  /// stand for places that are no text: no patterns and no distance. Throws InvalidArgument naming weights, tokens,
  /// hidden or cosines for another shape. Allocates O(H * Tk).
  void add(const TensorView& weights, const PatternTokens& tokens, const TensorView& hidden = {},
           const TensorView& cosines = {});

  /// The same of some rows of a text alone, those of the queries from `first` on: weights [H, rows, Tk], hidden and
  /// cosines [rows, Tk]. Rows that are added one after the other give what the whole text gives.
  void add_rows(std::int64_t first, const TensorView& weights, const PatternTokens& tokens,
                const TensorView& hidden = {}, const TensorView& cosines = {});

  /// Means so far, one a head; with nearest, without classes and all that needs a model.
  [[nodiscard]] std::vector<HeadStatistics> statistics() const;
  /// f64 [H, H]: the mean over rows of the Jensen-Shannon distance of two heads, the root of their divergence in bits,
  /// in [0, 1] (Lin 1991; Endres and Schindelin 2003).
  [[nodiscard]] Tensor distances() const;

 private:
  struct Row;

  void sum_rows(std::int64_t first, const TensorView& weights, const PatternTokens& tokens, const TensorView& hidden,
                const TensorView& cosines);
  void add_row(const Row& row);
  void add_distances(const Row& row);
  void add_similarities(const Row& row);

  std::vector<HeadStatistics> sums_;
  std::vector<double> distances_;   // [H, H], above the diagonal
  std::int64_t distance_rows_ = 0;  // of self-attention over text
  std::int64_t similarity_rows_ = 0;
};

/// The pattern with the largest share, of those with kShowsPattern or more and at least twice what an even head would
/// have: a broader pattern, which stands later in text_patterns(), has to have 0.05 more than a narrower one. Induction
/// counts by the larger of the texts' share and repeat_induction. Else "broad" by evenness, else "mixed".
[[nodiscard]] HeadClass class_of(const HeadStatistics& head);

/// A text, and where it applies the source or image beside it, as a model reads them.
struct HeadText {
  std::vector<std::int64_t> ids;
  std::vector<TokenRole> roles = {};      // of ids; empty: all words
  std::vector<std::int64_t> types = {};   // of ids; empty: all 0
  std::vector<std::int64_t> source = {};  // of an encoder-decoder
  std::vector<TokenRole> source_roles = {};
  Tensor image = {};                       // f32 [3, side, side]
  Tensor sound = {};                       // f32 [bins, frames]
  std::vector<std::int64_t> targets = {};  // of ids: the token to be said at each place, -100 for none; empty: none
  std::vector<bool> scored = {};           // of ids: whether the target counts in an accuracy; empty: all do
};

/// The usual test for induction: random tokens, and the same once more (Olsson et al. 2022, section 4.1).
struct RepeatedTokens {
  std::vector<std::int64_t> tokens = {};             // drawn from; empty: no test
  std::optional<std::int64_t> begin = std::nullopt;  // stands before each text
  std::int64_t half = 24;                            // tokens before they come again
  std::int64_t count = 8;                            // texts
  std::uint64_t seed = 0;
};

/// Gaps in texts that ask for nothing, for the importance of the heads of an encoder that fills them. In each text a
/// share of its tokens that are no separators is masked, one at least (Devlin et al. 2019, section 3.1, without the
/// tokens that stay or are replaced there).
struct MaskedTokens {
  std::optional<std::int64_t> mask = std::nullopt;  // the model's token for a gap; none: no gaps
  double share = 0.15;
  std::uint64_t seed = 0;
};

/// What a solved model's heads read in each text, by the task that the texts are examples of.
struct TaskPatterns {
  struct OfText {
    std::vector<std::vector<PatternRow>> rows = {};  // of each relation
    std::int64_t before = 0;                         // places of a source that stand before the text's own
  };
  std::vector<Relation> relations = {};  // empty: none is looked for
  std::vector<OfText> texts = {};
};

struct HeadOptions {
  std::vector<AttentionSite> sites = {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross};
  /// Texts by which importance is measured, of those with a target; removal needs a pass over them for each head. 0:
  /// none.
  std::int64_t importance_texts = 16;
  RepeatedTokens repeats = {};  // of decoders
  MaskedTokens masks = {};      // of encoders
  TaskPatterns patterns = {};   // of the texts, one for each
  /// Told what is going on, and how many texts are read or heads removed, of how many.
  std::function<void(const std::string& what, std::int64_t done, std::int64_t total)> doing = {};
};

/// The heads of one attention site.
struct SiteHeads {
  AttentionSite site = AttentionSite::tokens;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::vector<HeadStatistics> all = {};  // layer by layer
  std::vector<Tensor> distances = {};    // LayerHeads::distances() of each layer
};

/// A pattern that the model's task asks for, with the head that shows it best, as relation_scores() would score it.
struct PatternHead {
  std::string pattern;  // "anti-diagonal"
  std::string description;
  AttentionSite site = AttentionSite::tokens;
  std::int64_t layer = 0;
  std::int64_t head = 0;
  double weight = 0;   // mean weight on the keys of the pattern, in [0, 1]
  double largest = 0;  // share of the rows whose largest weight is on one of them
};

struct HeadAnalysis {
  std::int64_t texts = 0;
  std::int64_t tokens = 0;
  std::vector<SiteHeads> sites = {};          // those that the model has; a decoder has one
  std::vector<PatternHead> patterns = {};     // of options.patterns, at these sites
  std::optional<double> loss = std::nullopt;  // mean over the targets of the texts of importance, in nats
  std::int64_t importance_texts = 0;
  std::int64_t masked = 0;         // tokens of these texts that were masked to ask for them
  std::string no_importance = {};  // why there is none
};

/// Runs the texts, those of one length together. Reads each layer right after it has run, a few rows of weights at a
/// time: memory is O(T * D) for each text, plus the cosines of its embeddings, f64 [T, T]. Importance: one pass with
/// gradients (Michel, Levy and Neubig 2019, section 3), and for each head one without it. The gradients of the model's
/// parameters are cleared. Throws InvalidArgument naming texts if there are none, sites if the model has none of them,
/// and as the model does.
[[nodiscard]] HeadAnalysis analyze_heads(const Model& model, std::span<const HeadText> texts,
                                         const HeadOptions& options = {});

}  // namespace qkv
