// Everything from words to the output, step by step with its formulas and numbers, and why it is done so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/given.h"
#include "qkv/api/member.h"
#include "qkv/api/models.h"
#include "qkv/api/texts.h"
#include "qkv/course/worked.h"
#include "qkv/explain.h"

namespace qkv {

/// A text through a drawn model; or one's own q, k and v; or a trained model; or a worked example.
struct ExplainRequest {
  std::string text, context;
  std::string q, k, v, npz;
  std::string worked;
  std::int64_t heads = 2;
  std::int64_t d_model = 8;
  std::optional<std::int64_t> kv_heads, d_k, d_v;
  std::optional<std::uint64_t> seed;
  std::string positions = "sinusoidal";
  std::string block;
  bool causal = false;
  std::string mask, bias;
  std::optional<double> scale, softcap, dropout;
  std::string query;
  std::string model, dtype;
  std::optional<std::int64_t> example;
  std::string picture, sound;
  std::vector<std::string> captions;  // to hold the picture against
  ChatRequest talk;
  std::string site;
  std::optional<std::int64_t> layer, answer;
  std::string head;              // "1.5": layer 1, head 5
  std::vector<std::string> why;  // the kinds of answers, or "all"; empty: none is asked for
  std::string steps;             // "7,softmax"
  std::string all;               // "", "known" or "full"
  std::optional<bool> numbers;   // true
};

/// Refuses what has no meaning beside other values; explain_fields() say which fields have none beside others. Throws
/// InvalidArgument naming the field.
void require_explain(const ExplainRequest& request, const Given& given);

/// Which parts of a drawn model's explanation are made; a trained model's has all, but removal in large models.
struct ExplainedParts {
  bool steps = true;
  std::string only_steps = {};  // those that keep_steps() would keep; empty: all
  bool whys = true;
  bool removal = false;  // of a trained model: what each head's removal does, also where that takes long
};

/// The model that the request names; null where it names none. Throws as open_model().
[[nodiscard]] OpenedModel asked_model(const ExplainRequest& request);

/// The explanation that is asked for, of `model` where the request names one. Throws InvalidArgument naming the field.
/// Allocates every T x T matrix.
[[nodiscard]] Explanation explanation_of(const ExplainRequest& request, const OpenedModel& model,
                                         const ExplainedParts& parts = {});

/// A matrix with what its rows and columns are, and the ends of its colours.
struct ExplainedMap {
  std::string id, title;
  std::vector<std::string> rows, columns;
  std::string row_axis, column_axis, value_name;
  std::string colours;  // "sequential" or "diverging"
  double low = 0, high = 0;
  int decimals = 2;
  Tensor values;                 // [rows, columns], f32 as shown and f64 in numbers
  std::optional<Tensor> hidden;  // b8 [rows, columns]
  std::optional<Tensor> whole;   // of numbers: every value, where `values` are means of blocks
};

struct ExplainedSeries {
  std::string name;
  std::vector<double> x, y;
};

/// Lines, boxes and words of a diagram, as picture/diagram.h has them: places in points, y downwards.
struct ExplainedStroke {
  std::string kind, ink;
  std::vector<double> x, y;
};

struct ExplainedBox {
  double x = 0, y = 0, width = 0, height = 0;
  std::string text, ink, fill;
};

struct ExplainedCaption {
  double x = 0, y = 0;
  std::string text, ink, align;
};

struct ExplainedDiagram {
  double width = 0, height = 0;
  std::vector<ExplainedStroke> strokes;
  std::vector<ExplainedBox> boxes;
  std::vector<ExplainedCaption> captions;
};

/// What a chart, a diagram or an image is drawn from.
struct ExplainedPicture {
  std::string id, title, text;
  std::string x_axis, y_axis;
  bool logarithmic = false;  // both axes
  std::vector<ExplainedSeries> series;
  std::optional<ExplainedDiagram> diagram;
  std::optional<std::int64_t> image;  // which of the reply's images
  std::optional<Tensor> weights, marked;
};

struct ExplainedPart {
  std::string kind;         // "step", "query" or "why"
  std::int64_t number = 0;  // of a step, from 1
  std::string id, title, text, finding;
  std::vector<Formula> formulas;
  std::string shape;
  std::vector<ExplainedMap> maps;
  bool is_folded = false;  // of the maps the titles are shown, and the rest when asked
  std::vector<Table> tables;
  std::vector<ExplainedPicture> pictures;
  std::vector<std::string> notes;
};

struct ExplainReply {
  std::string title;
  std::vector<std::string> tokens, keys;
  std::vector<std::string> sources;  // of each token of a conversation
  std::vector<Setting> settings;
  std::vector<std::string> notes;
  std::vector<ExplainedPart> parts;
  std::vector<Tensor> images;  // u8 [height, width, 3]
  Named<Tensor> tensors;       // of numbers
};

[[nodiscard]] const Fields<ExplainRequest>& explain_fields();

/// How much of an explanation is told: what a page shows, or all its tensors and every value of its maps as well, which
/// is what `numbers` asks for.
enum class Explained : std::uint8_t { as_shown, in_numbers };

/// An explanation without its thumbnails.
[[nodiscard]] ExplainReply explained(const Explanation& explanation, Explained how);

/// Whether a step of its own was asked for, which is left out of large models otherwise.
[[nodiscard]] bool asks_for_removal(const ExplainRequest& request);
[[nodiscard]] ExplainedParts parts_of(const ExplainRequest& request);
/// Leaves what was asked for, of an explanation that may hold more.
void keep_asked(Explanation& explanation, const ExplainRequest& request);

/// ExplainReply, or the list of WorkedExample where `worked` is "list". Opens the model, if there is one. Throws as
/// require_explain() and explanation_of().
[[nodiscard]] AnyReply answer(const ExplainRequest& request, const Given& given);

[[nodiscard]] Members<ExplainReply> describe(const ExplainReply* reply);
[[nodiscard]] Members<ExplainedPart> describe(const ExplainedPart* part);
[[nodiscard]] Members<ExplainedMap> describe(const ExplainedMap* map);
[[nodiscard]] Members<ExplainedPicture> describe(const ExplainedPicture* picture);
[[nodiscard]] Members<ExplainedSeries> describe(const ExplainedSeries* series);
[[nodiscard]] Members<ExplainedDiagram> describe(const ExplainedDiagram* diagram);
[[nodiscard]] Members<ExplainedStroke> describe(const ExplainedStroke* stroke);
[[nodiscard]] Members<ExplainedBox> describe(const ExplainedBox* box);
[[nodiscard]] Members<ExplainedCaption> describe(const ExplainedCaption* caption);
[[nodiscard]] Members<WorkedExample> describe(const WorkedExample* example);
[[nodiscard]] Members<Setting> describe(const Setting* setting);
[[nodiscard]] Members<Table> describe(const Table* table);
[[nodiscard]] Members<Cell> describe(const Cell* cell);

}  // namespace qkv
