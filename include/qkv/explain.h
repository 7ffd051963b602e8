// Attention on a text, step by step: every intermediate with its formula, shape and numbers, as plain data that the
// command, the studio and Python render.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/bias.h"
#include "qkv/mask.h"
#include "qkv/model/token_input.h"
#include "qkv/picture/chart.h"
#include "qkv/picture/diagram.h"
#include "qkv/picture/heatmap.h"
#include "qkv/picture/image.h"
#include "qkv/random.h"
#include "qkv/tensor.h"

namespace qkv {

/// How much of a transformer is shown: attention alone, or the block around it with its LayerNorms before
/// (Xiong et al. 2020) or after (Vaswani et al. 2017) each sublayer.
enum class Surroundings : std::uint8_t { attention_only, pre_norm_block, post_norm_block };

/// A reader's own tensors of one floating dtype: [T, D], [H, T, D] or [B, H, T, D]; of B entries the first is shown.
struct OwnTensors {
  Tensor q;
  Tensor k;
  Tensor v;
  std::vector<std::string> queries = {};  // names of the rows of q, in place of the words of `text`
  std::vector<std::string> keys = {};     // of the rows of k, in place of those of `context`
};

struct ExplainOptions {
  std::string text;                                   // UTF-8, words between white space
  std::optional<std::string> context = std::nullopt;  // cross-attention: keys and values come from this text
  std::optional<OwnTensors> own = std::nullopt;       // starts at the scores; `text` may then name the queries
  std::int64_t d_model = 8;
  std::int64_t heads = 2;                               // Hq
  std::optional<std::int64_t> kv_heads = std::nullopt;  // Hk, a divisor of heads; heads where not given
  std::optional<std::int64_t> d_k = std::nullopt;       // d_model / heads where not given
  std::optional<std::int64_t> d_v = std::nullopt;       // d_k where not given
  std::uint64_t seed = 42;
  Positions position = Positions::sinusoidal;
  Mask mask = {};
  Bias bias = {};  // added to the one that `position` brings
  std::optional<double> scale = std::nullopt;
  std::optional<double> softcap = std::nullopt;
  std::optional<Dropout> dropout = std::nullopt;  // of the weights, as in training
  Surroundings surroundings = Surroundings::attention_only;
  std::optional<std::string> query = std::nullopt;  // a word of the text, its index, or "cat@5", a word and its index
  bool steps = true;                                // false: the query and the whys alone
  std::string only_steps = {};                      // made alone: those that keep_steps() would keep; empty: all
  bool whys = true;                                 // also answer why, which draws some millions of numbers
};

/// One formula twice: as a line of Unicode text, and as the children of a MathML <math> element.
struct Formula {
  std::string text;
  std::string mathml;
};

struct Cell {
  std::string text;
  std::optional<double> number = std::nullopt;  // where the text is a rounded number
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  bool is_list = false;  // its rows stand alone: where a terminal is too narrow, their cells go below one another
  std::vector<std::size_t> faint_rows = {};  // a page greys them
};

struct NamedHeatmap {
  std::string id;  // fit for a file name, e.g. "softmax-head0"
  Heatmap heatmap;
  Tensor whole = {};  // every value, where the heatmap draws means of blocks; of no elements else
};

struct NamedChart {
  std::string id;
  Chart chart;
};

struct NamedDiagram {
  std::string id;
  Diagram diagram;
};

/// A head in a grid of all: a small picture that leads to the whole one.
struct Thumbnail {
  std::string title;   // "Tokens 1.5"
  std::string label;   // the pattern that it shows; empty if it shows none
  std::string target;  // the id of its heatmap
  Tensor weights;      // [Tq, Tk]
};

/// One step, one query written out, or one answer to a why. Parts that do not apply are empty.
struct Section {
  int number = 0;  // of a step, from 1; 0 elsewhere
  std::string id;  // e.g. "softmax"
  std::string title;
  std::string text;     // why it is done, in a sentence or two
  std::string finding;  // of a why: what the numbers say, in one sentence
  std::vector<Formula> formulas;
  std::string shape;  // e.g. "[H, T, d_k] = [2, 4, 4]"
  std::vector<NamedHeatmap> heatmaps;
  std::vector<Image> images;          // in their own colours
  std::vector<Thumbnail> thumbnails;  // a page shows them as a grid
  bool is_folded = false;             // a page shows the title of each heatmap, and the rest when asked
  std::vector<Table> tables;
  std::vector<NamedChart> charts;
  std::vector<NamedDiagram> diagrams;
  std::vector<std::string> notes;
  bool is_detail = false;  // left out of what says the most in the least room
};

struct Setting {
  std::string name;
  std::string value;
};

struct KeptTensor {
  std::string name;  // e.g. "weights"
  Tensor tensor;
};

struct ModelPass;  // explain/model.h

struct Explanation {
  std::string title;
  std::vector<std::string> tokens;  // of the queries
  std::vector<std::string> keys;    // of the keys; the same words unless there is a context
  std::vector<Setting> settings;
  std::vector<Section> steps;
  std::optional<Section> query;
  std::int64_t asked = -1;                // its place among the tokens; -1 without one
  std::string head = {};                  // of a trained model the one that is shown: "tokens.1.0"
  std::vector<std::string> sources = {};  // of each token of a conversation: "template", "user" or "answer"; else empty
  std::vector<Section> whys;
  std::vector<std::string> notes;
  /// What the pictures are drawn from, whole: x [T, d_model]; q, k, v, out [H, T, D]; raw, scaled, … weights
  /// [H, Tq, Tk] (of texts over 1024 tokens the weights alone); concat and output.
  std::vector<KeptTensor> tensors;
  /// Of a trained model's text the pass that it is told from; null elsewhere, and of a text of over 1024 tokens.
  std::shared_ptr<const ModelPass> pass = nullptr;

  /// Throws InvalidArgument listing the names there are.
  [[nodiscard]] const Tensor& tensor(std::string_view name) const;
};

/// Explain shows T x T matrices, so it refuses longer texts.
inline constexpr std::int64_t kExplainTokens = 4096;

/// Runs the engine on the text and keeps what each step made. Parameters are drawn from Generator(seed) in the order
/// embeddings, W_Q, W_K, W_V, W_O, W_1, W_2 (f32 draws; projections divided by the square root of their inputs; a
/// learned or t5 position table comes from Generator(seed + 1)), and everything is computed in f64.
/// Allocates a few T x T matrices a head. Throws InvalidArgument naming text, context, query, d_model, heads, d_k,
/// kv_heads, d_v, own, dropout, mask or bias.
[[nodiscard]] Explanation explain(const ExplainOptions& options);

/// Keeps only the steps that `selector` names: numbers, ranges and ids joined by commas, e.g. "7", "5-8", "softmax".
/// Throws InvalidArgument listing the steps there are.
void keep_steps(Explanation& explanation, std::string_view selector);
/// The ids of all whys; "packing" needs a text and "epsilon" a block.
inline constexpr std::array<std::string_view, 11> kWhyIds = {
    "variance",     "saturation", "no-scale", "order",  "mask-after-softmax", "minus-1e9", "mask-shape",
    "softmax-axis", "transpose",  "packing",  "epsilon"};
/// The same for the whys, by id; "all" keeps all.
void keep_whys(Explanation& explanation, std::string_view selector);

struct ExplainTextOptions {
  TerminalOptions terminal;
  bool whys_in_full = false;  // otherwise their findings only
};

[[nodiscard]] std::string to_text(const Explanation& explanation, const ExplainTextOptions& options);

/// Every picture of the explanation, named for a file: "07-softmax-head0".
struct NamedPicture {
  std::string name;
  std::optional<Panel> panel = std::nullopt;
  std::optional<Chart> chart = std::nullopt;
  std::optional<Diagram> diagram = std::nullopt;
  std::optional<Gallery> gallery = std::nullopt;  // the images of a section
};
[[nodiscard]] std::vector<NamedPicture> pictures(const Explanation& explanation);
[[nodiscard]] std::string to_svg(const NamedPicture& picture);
[[nodiscard]] std::string to_png(const NamedPicture& picture);

}  // namespace qkv
