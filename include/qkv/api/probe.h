// Any part of the T x T matrices of weights, scores or gradients: what is asked, and what comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/problem.h"
#include "qkv/api/texts.h"
#include "qkv/files.h"
#include "qkv/picture/heatmap.h"
#include "qkv/probe.h"
#include "qkv/stage.h"

namespace qkv {

/// What `probe` is asked; an empty text is a field that was not given.
struct ProbeRequest : ProblemRequest {
  std::string random, lse;
  std::optional<std::int64_t> planted;            // so many tokens of the made-up text of the page Far
  std::string model, text, file, picture, sound;  // instead of tensors: a model that reads a text or a picture …
  std::string dtype;                              // … that computes in f32, if not in this …
  ChatRequest talk;                               // … of which the text is a message …
  std::optional<std::int64_t> example;            // … or a held-out example of its task
  std::string site;                               // of its attention: cross, else tokens
  std::int64_t layer = 0;
  std::int64_t batch = 0;
  std::string head;  // "3", "0,3,5" or "all"; head 0 if not given, all of them beside `average`
  std::string map;
  std::string area;  // of the map
  std::string reduce = "mean";
  bool average = false;
  std::optional<std::int64_t> row;
  std::string tile;
  std::optional<std::int64_t> top_k;
  bool key_totals = false;
  bool stats = false;
  std::string stage = "weights";
};

/// The fields of the request, those of the problem among them.
[[nodiscard]] const Fields<ProbeRequest>& probe_fields();

/// One of the T x T matrices.
struct ProbeStage {
  Stage stage = Stage::weights;
  bool gradient = false;  // of the loss with respect to it: dP is that of weights, dS that of biased

  /// "weights", "dS", …
  [[nodiscard]] std::string name() const;
  /// "weight", "|dS|": what a map is made of.
  [[nodiscard]] std::string map_value() const;
  /// Numbers from 0 on, of which hidden pairs have none.
  [[nodiscard]] bool is_weights() const { return !gradient && stage >= Stage::weights; }
};

/// What of a map's cells is shown.
enum class Reduce : std::uint8_t { mean, max };

/// What is to be computed of each head.
struct ProbeChoice {
  std::optional<MapSize> map;
  std::optional<MapArea> area;  // of the map; the whole matrix if not given
  Reduce reduce = Reduce::mean;
  bool average = false;
  std::optional<std::int64_t> row;
  std::optional<Tile> tile;
  std::optional<std::int64_t> top_k;
  bool key_totals = false;
  bool stats = false;
  ProbeStage stage;

  [[nodiscard]] bool is_empty() const { return !map && !row && !tile && !top_k && !key_totals && !stats; }
  /// How many arrays it makes, a map's share of visible pairs left out.
  [[nodiscard]] int arrays() const;
};

/// Checked as far as it can be before any file is read. Throws InvalidArgument naming the field.
[[nodiscard]] ProbeChoice probe_choice(const ProbeRequest& request);

/// What a probe looks at.
struct ProbeInputs {
  AttentionProblem problem;
  Upstream upstream;  // d_out is empty() unless gradients are asked for
  Tensor lse;         // empty() unless given, or known from a model's run
  // Of a model: what it was and which attention; of a text that was made up: which; and the tokens at each query and
  // key. Else empty.
  std::string model = {};
  std::string text = {};
  std::vector<std::string> queries = {};
  std::vector<std::string> keys = {};
  std::vector<std::string> sources = {};   // of each token of a conversation, as ReadExample has them
  std::vector<std::string> cautions = {};  // the model's
};

/// From files or texts or, with `random`, drawn: normal numbers for q, k and, for gradients, v as wide as q and d_out.
/// With `model` the model reads the text once, and q, k, v, lse and all options are those of the attention that ran,
/// d_out that of the task's loss or, of a decoder's text, of the cross entropy of each next token. Throws as
/// load_problem(), and Error for a model that cannot be read.
[[nodiscard]] ProbeInputs load_probe_inputs(const ProbeRequest& request, const ProbeChoice& choice);

/// A map by the choice's `reduce`.
struct ProbeMap {
  Tensor cells;
  Tensor visible;
};

struct ProbeHead {
  std::int64_t h = 0;
  std::optional<ProbeMap> map;
  std::optional<Tensor> row;
  std::optional<Tensor> tile;
  Tensor hidden;  // b8, of a tile of weights or gradients: pairs that are forbidden; else empty()
  std::optional<TopKeys> top;
  std::optional<Tensor> key_totals;
  std::optional<RowStatistics> statistics;
};

struct ProbeReply {
  ProbeChoice choice;  // its map no larger than the matrix
  MaskShape shape;
  std::int64_t b = 0;
  std::vector<ProbeHead> heads;
  std::optional<ProbeMap> average;  // the map of the heads' mean
};

/// Called now and then during the walks, with what is walked for ("map", "top keys", …) and the head.
using ProbeReport = std::function<Proceed(std::string_view what, std::int64_t h, const ProbeProgress&)>;

/// Computes what was asked for, one head and one thing after the other. An lse that was given is checked first: all
/// rows where they are few, else sixteen, each of which must be what q, k and the options give as far as rounding goes.
/// Throws InvalidArgument naming the field for what does not fit the matrix, and Cancelled where `report` said stop.
[[nodiscard]] ProbeReply probe(const ProbeRequest& request, const ProbeInputs& inputs, const ProbeReport& report = {});

/// The numbers by name; with several heads, the first axis counts them.
[[nodiscard]] std::vector<NamedTensor> arrays_of(const ProbeReply& reply);

/// The maps, or, where none was asked for, the tiles: a heatmap for each head. A tile of up to 8 x 8 cells has its
/// numbers in them.
[[nodiscard]] Panel picture_of(const ProbeReply& reply, const AttentionProblem& problem, ColourScale scale);

/// What was asked and found, in lines of at most `width` columns.
[[nodiscard]] std::string as_text(const ProbeRequest& request, const ProbeInputs& inputs, const ProbeReply& reply,
                                  int width);

/// The same as data, with every array in full: what `qkv probe --json` prints.
struct ProbeFigures : MatrixExtents, AppliedOptions {
  std::int64_t batch = 0;
  std::vector<std::int64_t> heads;
  std::optional<std::string> model, text;
  std::vector<std::string> queries, keys, sources;
  std::string stage;
  std::optional<std::vector<std::int64_t>> area;
  std::vector<Named<double>> means;
  Named<Tensor> arrays;
  std::vector<std::string> cautions;
};

/// Throws as probe_choice(), load_probe_inputs() and probe().
[[nodiscard]] ProbeFigures answer(const ProbeRequest& request);

[[nodiscard]] ProbeFigures probe_figures(const ProbeInputs& inputs, const ProbeReply& reply);

[[nodiscard]] Members<ProbeFigures> describe(const ProbeFigures* figures);

}  // namespace qkv
