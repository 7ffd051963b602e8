// Weights and values → the sum of each head, the heads side by side, concatenation and output projection.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "explain/drawing.h"
#include "explain/formula.h"
#include "explain/mask_summary.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

constexpr std::int64_t kOutputRows = 64;

Section sum_step(const Run& run) {
  Section step;
  step.id = "sum";
  step.title = "Weighted sum of the values";
  if (no_query_sees_a_key(run)) {
    step.text = "No query sees a key, so there is nothing to sum: every row is zeros.";
  } else {
    step.text = "Each query takes from every value the share that its weight says.";
    step.text += run.attention.dropout ? " After dropout the shares no longer sum to 1."
                                       : " As the weights are shares of one whole, the sum lies between the values it "
                                         "sees, never outside them.";
    if (!blind_queries(run).empty()) step.text += " A query that sees none gets zeros.";
  }
  const std::string letter = run.attention.dropout ? "α̃" : "α";
  step.formulas = {row({name("O"), op("="), name(run.attention.dropout ? "Ã" : "A"), op("·"), name("V")}),
                   row({sub(name("o"), name("i")), op("="),
                        sum(name("j"), row({sub(name(letter), name("ij")), op("·"), sub(name("v"), name("j"))}))})};
  step.shape = fmt::format("[H, Tq, d_v] = [{}, {}, {}]", run.heads, run.tq(), run.d_v);
  step.heatmaps = head_vectors("sum", "Output", run.out, run.queries.tokens);
  return step;
}

struct HeadView {
  Tensor weights;  // [Tq, Tk]
  Spread spread;
};

std::vector<HeadView> views_of(const Run& run) {
  const Tensor weights = run.stage(Stage::weights);
  std::vector<HeadView> views;
  for (std::int64_t h = 0; h < run.heads; ++h) {
    HeadView view;
    view.weights = matrix_of(weights, h);
    view.spread = mean_spread(view.weights);
    views.push_back(std::move(view));
  }
  return views;
}

Cell favourite(const Run& run, const HeadView& view, std::int64_t query) {
  std::vector<double> weights(static_cast<std::size_t>(run.tk()));
  view.weights.view().load_row(std::vector<std::int64_t>{query}, weights);
  const auto best = std::max_element(weights.begin(), weights.end());
  if (*best == 0) return word("nothing");
  return word(fmt::format("{} {:.2f}", run.keys.tokens[static_cast<std::size_t>(best - weights.begin())], *best));
}

Table favourites(const Run& run, const std::vector<HeadView>& views) {
  Table table;
  const std::int64_t rows = std::min(run.tq(), kOutputRows);
  table.title = "What each head looks at most, and its weight";
  if (rows < run.tq()) table.title += fmt::format(" (the first {} queries)", rows);
  table.columns = {"query"};
  for (std::size_t h = 0; h < views.size(); ++h) table.columns.push_back(fmt::format("head {}", h));
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<Cell> line = {word(run.queries.tokens[static_cast<std::size_t>(i)])};
    for (const HeadView& view : views) line.push_back(favourite(run, view, i));
    table.rows.push_back(std::move(line));
  }
  return table;
}

Table spreads(const std::vector<HeadView>& views) {
  Table table;
  table.title = "How spread a head's rows are, on average";
  table.columns = {"head", "largest weight", "keys in effect, exp(entropy)"};
  for (std::size_t h = 0; h < views.size(); ++h) {
    table.rows.push_back({whole(static_cast<std::int64_t>(h)), rounded(views[h].spread.largest, 3),
                          rounded(views[h].spread.effective_keys, 2)});
  }
  return table;
}

Section heads_step(const Scene& scene) {
  const Run& run = *scene.run;
  Section step;
  step.id = "heads";
  step.title = run.heads == 1 ? "The head" : "The heads, side by side";
  step.text =
      "Every head went through the same steps with projections of its own, so each may look elsewhere: one head alone "
      "would have to average all that it looks for into one set of weights.";
  const Term h = name("h");
  step.formulas = {
      row({sub(name("head"), h), op("="),
           call("Attention", row({sub(name("Q"), h), op(","), sub(name("K"), h), op(","), sub(name("V"), h)}))})};
  step.shape = fmt::format("{} × [Tq, d_v] = {} × [{}, {}]", run.heads, run.heads, run.tq(), run.d_v);
  const std::vector<HeadView> views = views_of(run);
  step.tables = {favourites(run, views), spreads(views)};
  if (scene.model != nullptr) {
    step.notes.emplace_back(
        "The parameters are drawn, not trained: what these heads look at means nothing yet. What is exact "
        "is the arithmetic.");
  }
  return step;
}

Section concat_step(const Run& run) {
  Section step;
  step.id = "concat";
  step.title = "Concatenation";
  step.text = "The heads' outputs are laid side by side again, one row a token: nothing is computed, nothing is lost.";
  step.formulas = {row({name("C"), op("="), name("["), sub(name("O"), number("0")), words("|"), name("…"), words("|"),
                        sub(name("O"), name("H-1")), name("]")})};
  step.shape = fmt::format("[Tq, H·d_v] = {}", run.concat.shape().to_string());
  NamedHeatmap map = vectors("concat", "Concatenated", run.concat, run.queries.tokens);
  const std::vector<std::string> labels = packed_labels(run.heads, run.d_v);
  if (map.heatmap.column_labels.size() == labels.size()) map.heatmap.column_labels = labels;
  step.heatmaps.push_back(std::move(map));
  return step;
}

Section output_step(const Scene& scene) {
  const Run& run = *scene.run;
  Section step;
  step.id = "output";
  step.title = "Output projection";
  step.text =
      "A last linear map lets the heads speak with one another, and brings the width back to d_model, so that the "
      "result "
      "can be added to what came in.";
  step.formulas = {row({name("Y"), op("="), name("C"), op("·"), sub(name("W"), name("O"))})};
  step.shape = fmt::format("[Tq, d_model] = {}", run.output.shape().to_string());
  NamedHeatmap weight = parameters("output-weight", "W_O", scene.model->parameters().w_o, "input");
  const std::vector<std::string> labels = packed_labels(run.heads, run.d_v);
  if (weight.heatmap.row_labels.size() == labels.size()) weight.heatmap.row_labels = labels;
  step.heatmaps.push_back(std::move(weight));
  step.heatmaps.push_back(vectors("output", "Output Y", run.output, run.queries.tokens));
  return step;
}

}  // namespace

std::vector<LazyStep> output_steps(const Scene& scene) {
  std::vector<LazyStep> steps = {{"sum", [&scene] { return sum_step(*scene.run); }},
                                 {"heads", [&scene] { return heads_step(scene); }},
                                 {"concat", [&scene] { return concat_step(*scene.run); }}};
  if (scene.model != nullptr) steps.push_back({"output", [&scene] { return output_step(scene); }});
  return steps;
}

}  // namespace qkv::explain_detail
