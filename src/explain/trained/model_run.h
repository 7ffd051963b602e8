// What a trained model makes of a text, as plain data, and the sections that show it. Nothing here knows of models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explain/numbers.h"
#include "qkv/attention.h"
#include "qkv/explain.h"
#include "qkv/insight/heads.h"
#include "qkv/insight/patterns.h"

namespace qkv::explain_detail {

/// The keys that a query of this text should attend to.
struct PatternKeys {
  std::size_t query = 0;
  std::vector<std::size_t> keys;
};

/// Which keys a solved model's queries attend to, and how far each head does so in this text.
struct SitePattern {
  std::string name;                         // "induction"
  std::string description;                  // "a query to the token after ..."
  std::vector<std::vector<double>> layers;  // mean weight on the pattern, a layer and head
  std::vector<PatternKeys> rows = {};       // by rising query
};

/// One head of a long text, by some of its rows.
struct HeadInLongText {
  HeadClass shown;
  Spread spread;
};

/// Of a text too long for its T x T matrices.
struct LongText {
  std::int64_t block = 1;                          // of queries and of keys: a cell is the mean of block x block
  std::int64_t step = 1;                           // each step-th query is in the statistics
  std::vector<std::vector<HeadInLongText>> heads;  // a layer and head
};

/// The attention of one kind in all layers: of the tokens, of the source, or across.
struct SiteWeights {
  std::string name;                   // "tokens"
  std::vector<std::string> queries;   // Tq
  std::vector<std::string> keys;      // Tk
  std::vector<TokenRole> roles = {};  // Tk, of the keys; empty where they are no tokens
  std::vector<Tensor> weights;        // [H, Tq, Tk] a layer, as they ran
  Tensor hidden = {};                 // b8 [Tq, Tk], true where the mask hides; empty where it hides nothing
  std::vector<SitePattern> relations = {};
  std::int64_t key_columns = 0;  // where keys are the places of an image, row by row: places in a row
  std::int64_t places_from = 0;  // likewise: keys before them, such as a class token
  /// With it, `weights` are means, [H, rows, columns] over all keys as queries and as keys; `queries` and `hidden` are
  /// of the rows alone that are shown in full.
  std::optional<LongText> long_text = std::nullopt;
};

/// A text beside an image, and how near the two are.
struct CaptionCosine {
  std::string text;
  double cosine = 0;
};

/// A class of images, and how likely the model says it is.
struct ClassShare {
  std::string name;
  double score = 0;
  double probability = 0;
};

/// The attention call of the layer whose steps are shown: q, k, v and out [1, H, T, D] as they ran, after any rotation.
struct LayerCall {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor out;
  AttentionOptions options = {};
  bool is_rotated = false;
};

struct ModelRun {
  std::string title;
  std::vector<Setting> settings;
  std::vector<std::string> notes = {};  // what is to be known first, a line each
  std::vector<std::string> tokens;      // T; of a long text those that are shown in full
  std::size_t first = 0;                // the place of the first of them in the text
  Tensor probabilities;                 // [T, vocabulary] of what is predicted at each token; empty where nothing is
  std::vector<std::string> vocabulary;
  std::vector<std::string> expected;      // what should be predicted, "" where that is not asked; empty where not known
  std::vector<std::string> sources = {};  // of the tokens of a conversation, as Explanation has them
  std::vector<bool> trained = {};         // whether the task asks for anything there; empty where not known
  std::vector<CaptionCosine> captions = {};
  std::vector<ClassShare> classes = {};  // by their numbers
  Tensor image = {};                     // [3, H, W] in [0, 1]; empty where there is none
  std::vector<Section> maps = {};        // what the answer rests on, over the image
  std::vector<SiteWeights> sites;
  std::size_t site = 0;   // whose steps are shown
  std::size_t layer = 0;  // likewise
  std::size_t head = 0;   // of that layer: the one that is shown first, and laid over the image
  LayerCall call;
  std::optional<std::string> query = std::nullopt;  // a token to write out, or its index
  bool whys = false;
};

// Which tokens of a conversation are the template's.
[[nodiscard]] Section template_step(const ModelRun& model_run);
// What the model says, how near captions are, and which class the image is of.
[[nodiscard]] Section says_step(const ModelRun& model_run);
[[nodiscard]] Section captions_step(const ModelRun& model_run);
[[nodiscard]] Section classes_step(const ModelRun& model_run);
// One head, all heads of a site, and how well they show the patterns of the task.
[[nodiscard]] Section head_step(const ModelRun& model_run);
[[nodiscard]] Section heads_step(const SiteWeights& site);
[[nodiscard]] Section overview_step(const ModelRun& model_run);
[[nodiscard]] Section patterns_step(const ModelRun& model_run);
// A head's matrix, which shares the memory of its layer's.
[[nodiscard]] Tensor matrix_in(const SiteWeights& site, std::size_t layer, std::int64_t head);
// The id of a head's map in heads_step().
[[nodiscard]] std::string head_id(const SiteWeights& site, std::size_t layer, std::size_t head);
// b8 [rows, columns]: the patches of any pattern that this query has; empty without one.
[[nodiscard]] Tensor marks_of(const SiteWeights& site, std::size_t query);
// The image, and the weights of one head over it.
[[nodiscard]] Section picture_step(const ModelRun& model_run);
[[nodiscard]] Section image_step(const ModelRun& model_run);
// The image, and over it the weights of the class token in each head of the layer.
[[nodiscard]] Section class_step(const ModelRun& model_run);

/// Answers to why from the numbers of the call: the variance of its scores, and those of explain() that need nothing
/// else.
[[nodiscard]] std::vector<Section> whys_of(const ModelRun& model_run, std::vector<Section> all);

/// Steps "says", "captions" or "classes" if there are some, "head", "patterns" if a site has relations, "overview",
/// "picture" and "image" if the keys are places of one, the maps, "heads" of each site; then the steps of the attention
/// call, and `path`, which leads from there to the answer. Throws InvalidArgument naming site, layer, head,
/// probabilities or query.
[[nodiscard]] Explanation explain(const ModelRun& model_run, std::vector<Section> path = {});

}  // namespace qkv::explain_detail
