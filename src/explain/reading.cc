#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "explain/drawing.h"
#include "explain/numbers.h"
#include "qkv/explain_reading.h"

namespace qkv {
namespace {

using namespace explain_detail;

constexpr std::size_t kShownGuesses = 3;

Cell number_cell(double value) { return {.text = shown(value), .number = value}; }

std::vector<std::size_t> likeliest(const std::vector<double>& row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t count = std::min(kShownGuesses, row.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](std::size_t a, std::size_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  order.resize(count);
  return order;
}

std::vector<Cell> says_row(const Reading& reading, std::size_t place) {
  const std::vector<double> row = reading.probabilities.view().select(0, static_cast<std::int64_t>(place)).to_vector();
  const std::vector<std::size_t> order = likeliest(row);
  std::vector<Cell> cells = {{.text = fmt::format("{}", place)}, {.text = reading.tokens[place]}};
  cells.push_back({.text = reading.vocabulary[order.front()]});
  cells.push_back(number_cell(row[order.front()]));
  std::string others;
  for (std::size_t n = 1; n < order.size(); ++n) {
    others += fmt::format("{}{} {:.2f}", n > 1 ? ", " : "", reading.vocabulary[order[n]], row[order[n]]);
  }
  cells.push_back({.text = others});
  if (!reading.right.empty()) {
    const std::string& right = reading.right[place];
    const bool is_said = right == reading.vocabulary[order.front()];
    cells.push_back({.text = right.empty() ? "" : right + (is_said ? " ✓" : " ✗")});
  }
  return cells;
}

Section says_step(const Reading& reading) {
  Section step;
  step.id = "says";
  step.title = "What the model says";
  step.text =
      "At each token the last layer's vector is held against the table of tokens, and softmax makes shares of it. A "
      "task "
      "asks at some tokens only; what the model says at the others was never trained.";
  step.shape = fmt::format("[T, vocabulary] = {}", reading.probabilities.shape().to_string());
  Table table;
  table.title = "The likeliest at each token";
  table.columns = {"", "token", "says", "share", "then"};
  if (!reading.right.empty()) table.columns.emplace_back("right");
  for (std::size_t place = 0; place < reading.tokens.size(); ++place) table.rows.push_back(says_row(reading, place));
  step.tables.push_back(std::move(table));
  return step;
}

// True where the site's mask hides; empty where it hides nothing.
Tensor hidden_of(const ReadingSite& site, const TensorView& weights) {
  if (site.mask.is_all()) return {};
  const MaskShape shape{1, weights.dim(0), weights.dim(1), weights.dim(2)};
  Tensor hidden(DType::b8, {shape.Tq, shape.Tk});
  const auto values = hidden.values<bool>();
  std::size_t cell = 0;
  for (std::int64_t q = 0; q < shape.Tq; ++q) {
    for (std::int64_t k = 0; k < shape.Tk; ++k) values[cell++] = !site.mask.allows(Place{.i = q, .j = k}, shape);
  }
  return hidden;
}

// All heads of one site, a picture each.
Section heads_step(const ReadingSite& site) {
  Section step;
  step.id = site.name == "tokens" ? "heads" : "heads-" + site.name;
  step.title = fmt::format("What every head looks at: {}", site.name);
  step.text = "Each row is a query and says how it shares its attention out; a row's weights sum to 1.";
  for (std::size_t layer = 0; layer < site.weights.size(); ++layer) {
    const TensorView weights = site.weights[layer];
    const Tensor hidden = hidden_of(site, weights);
    for (std::int64_t head = 0; head < weights.dim(0); ++head) {
      NamedHeatmap map = matrix_picture(fmt::format("{}-layer{}-head{}", step.id, layer, head),
                                        fmt::format("Layer {}, head {}", layer, head), weights.select(0, head),
                                        {site.queries, site.keys});
      map.heatmap.colours = ColourMap::sequential;
      map.heatmap.value_name = "weight";
      map.heatmap.low = 0;
      map.heatmap.high = 1;
      // A matrix too large to be drawn whole is drawn as means, which have cells of their own.
      if (map.heatmap.values.shape() == hidden.shape()) map.heatmap.hidden = hidden;
      step.heatmaps.push_back(std::move(map));
    }
  }
  step.shape =
      fmt::format("{} layers of [H, Tq, Tk] = {}", site.weights.size(), site.weights.front().shape().to_string());
  return step;
}

// Where in the image each token of the chosen head looks.
Section image_step(const Reading& reading) {
  const ReadingSite& site = reading.sites[reading.site];
  Section step;
  step.id = "image";
  step.title = fmt::format("Where each token looks: layer {}, head {}", reading.layer, reading.head);
  step.text = "A row of the weights, laid out as the patches lie in the image.";
  const TensorView head = site.weights[reading.layer].view().select(0, static_cast<std::int64_t>(reading.head));
  const std::int64_t rows = head.dim(1) / site.key_columns;
  step.shape = fmt::format("{} tokens of [rows, columns] = [{}, {}]", head.dim(0), rows, site.key_columns);
  for (std::int64_t token = 0; token < head.dim(0); ++token) {
    Heatmap map;
    map.title = fmt::format("{} {}", token, site.queries[static_cast<std::size_t>(token)]);
    map.values = Tensor(head.select(0, token).to_vector(), {rows, site.key_columns});
    map.row_axis = "row";
    map.column_axis = "column";
    map.value_name = "weight";
    map.low = 0;
    map.high = 1;
    step.heatmaps.push_back({.id = fmt::format("image-token{}", token), .heatmap = std::move(map)});
  }
  return step;
}

Section patterns_step(const Reading& reading) {
  Section step;
  step.id = "patterns";
  step.title = "How well the heads show what a solved model must look at";
  step.text = "The mean weight on the keys of the pattern, over the queries that have one in this text.";
  for (const ReadingSite& site : reading.sites) {
    for (const ReadingRelation& relation : site.relations) {
      Table table;
      table.title = fmt::format("{} ({}): {}", relation.name, site.name, relation.description);
      table.columns = {"layer"};
      for (std::size_t head = 0; head < relation.layers.front().size(); ++head) {
        table.columns.push_back(fmt::format("head {}", head));
      }
      for (std::size_t layer = 0; layer < relation.layers.size(); ++layer) {
        std::vector<Cell> row = {{.text = fmt::format("{}", layer)}};
        for (const double weight : relation.layers[layer]) row.push_back(number_cell(weight));
        table.rows.push_back(std::move(row));
      }
      step.tables.push_back(std::move(table));
    }
  }
  return step;
}

void require(bool holds, const char* argument, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument("explain", argument, expected, got);
}

void require_sound(const Reading& reading) {
  require(reading.site < reading.sites.size(), "site", fmt::format("fewer than {}", reading.sites.size()),
          fmt::format("{}", reading.site));
  const std::size_t layers = reading.sites[reading.site].weights.size();
  require(reading.layer < layers, "layer", fmt::format("fewer than {}", layers), fmt::format("{}", reading.layer));
  const std::int64_t heads = reading.sites[reading.site].weights[reading.layer].dim(0);
  require(static_cast<std::int64_t>(reading.head) < heads, "head", fmt::format("fewer than {}", heads),
          fmt::format("{}", reading.head));
  if (reading.probabilities.empty()) return;
  const Shape wanted{static_cast<std::int64_t>(reading.tokens.size()),
                     static_cast<std::int64_t>(reading.vocabulary.size())};
  require(reading.probabilities.shape() == wanted, "probabilities", wanted.to_string(),
          reading.probabilities.shape().to_string());
}

Explanation explain_heads(const Reading& reading) {
  const ReadingSite& site = reading.sites[reading.site];
  ExplainOptions options;
  options.own = reading.heads;
  options.own->queries = site.queries;
  options.own->keys = site.keys;
  options.mask = site.mask;
  options.bias = reading.bias;
  options.query = reading.query;
  options.whys = false;
  return explain(options);
}

}  // namespace

Explanation explain(const Reading& reading) {
  require_sound(reading);
  Explanation explanation = explain_heads(reading);
  std::vector<Section> steps;
  if (!reading.probabilities.empty()) steps.push_back(says_step(reading));
  for (const ReadingSite& site : reading.sites) steps.push_back(heads_step(site));
  if (reading.sites[reading.site].key_columns > 0) steps.push_back(image_step(reading));
  if (std::ranges::any_of(reading.sites, [](const ReadingSite& site) { return !site.relations.empty(); })) {
    steps.push_back(patterns_step(reading));
  }
  const std::string where = fmt::format("Layer {}, {}: ", reading.layer, reading.sites[reading.site].name);
  for (Section& step : explanation.steps) step.title = where + step.title;
  std::ranges::move(explanation.steps, std::back_inserter(steps));
  int number = 0;
  for (Section& step : steps) step.number = ++number;
  explanation.steps = std::move(steps);
  explanation.title = reading.title;
  explanation.settings.insert(explanation.settings.begin(), reading.settings.begin(), reading.settings.end());
  if (!reading.probabilities.empty()) explanation.tensors.push_back({"probabilities", reading.probabilities});
  return explanation;
}

}  // namespace qkv
