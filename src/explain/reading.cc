#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// Weights far below 1 would all look like none on a scale that ends there.
double high_end(const TensorView& weights) {
  constexpr double kFaint = 0.5;
  double most = 0;
  for (const double weight : weights.to_vector()) most = std::max(most, weight);
  return most > kFaint || most <= 0 ? 1 : most;
}

NamedHeatmap head_map(const ReadingSite& site, std::size_t layer, std::int64_t head, const std::string& id) {
  const TensorView weights = site.weights[layer];
  NamedHeatmap map = matrix_picture(id, fmt::format("{}, layer {}, head {}", capital(site.name), layer, head),
                                    weights.select(0, head), {site.queries, site.keys});
  map.heatmap.value_name = "weight";
  map.heatmap.low = 0;
  map.heatmap.high = high_end(map.heatmap.values);
  // A matrix too large to be drawn whole is drawn as means, which have cells of their own.
  const Tensor hidden = hidden_of(site, weights);
  if (map.heatmap.values.shape() == hidden.shape()) map.heatmap.hidden = hidden;
  return map;
}

constexpr std::string_view kRows =
    "Each row is a query and says how it shares its attention out; a row's weights sum to 1.";

Section head_step(const Reading& reading) {
  const ReadingSite& site = reading.sites[reading.site];
  Section step;
  step.id = "head";
  step.title = fmt::format("One head: {}, layer {}, head {}", site.name, reading.layer, reading.head);
  step.text = kRows;
  step.heatmaps = {head_map(site, reading.layer, static_cast<std::int64_t>(reading.head), "head")};
  return step;
}

// All heads of one site, a picture each.
Section heads_step(const ReadingSite& site) {
  Section step;
  step.id = "heads-" + site.name;
  std::ranges::replace(step.id, ' ', '-');  // fit for a file name
  step.title = fmt::format("What every head looks at: {}", site.name);
  step.text = kRows;
  for (std::size_t layer = 0; layer < site.weights.size(); ++layer) {
    for (std::int64_t head = 0; head < site.weights[layer].dim(0); ++head) {
      step.heatmaps.push_back(head_map(site, layer, head, fmt::format("{}-layer{}-head{}", step.id, layer, head)));
    }
  }
  const std::size_t layers = site.weights.size();
  step.shape = fmt::format("{} {} of [H, Tq, Tk] = {}", layers, layers == 1 ? "layer" : "layers",
                           site.weights.front().shape().to_string());
  return step;
}

// A picture has one number a cell: how far a pixel stands from the colour in the middle of all, which is the ground
// where most of an image is ground.
Tensor distance_from_ground(const TensorView& image) {
  const auto pixels = static_cast<std::size_t>(image.dim(1) * image.dim(2));
  std::vector<double> far(pixels);
  for (std::int64_t channel = 0; channel < image.dim(0); ++channel) {
    const std::vector<double> values = image.select(0, channel).to_vector();
    std::vector<double> sorted = values;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(pixels / 2);
    std::ranges::nth_element(sorted, middle);
    for (std::size_t n = 0; n < pixels; ++n) far[n] = std::max(far[n], std::abs(values[n] - *middle));
  }
  return {far, {image.dim(1), image.dim(2)}};
}

Section picture_step(const Reading& reading) {
  Section step;
  step.id = "picture";
  step.title = "The image";
  step.text =
      "A cell is a pixel as the model sees it: the most by which its red, green or blue differs from the "
      "image's median.";
  step.shape = fmt::format("[3, H, W] = {}", reading.image.shape().to_string());
  Heatmap map;
  map.title = "image";
  map.values = distance_from_ground(reading.image);
  map.row_axis = "row";
  map.column_axis = "column";
  map.value_name = "difference";
  map.low = 0;
  map.high = 1;
  step.heatmaps.push_back({.id = "picture", .heatmap = std::move(map)});
  return step;
}

Heatmap patches_map(std::string title, const std::vector<double>& values, std::int64_t columns) {
  Heatmap map;
  map.title = std::move(title);
  map.values = Tensor(values, {static_cast<std::int64_t>(values.size()) / columns, columns});
  map.row_axis = "row";
  map.column_axis = "column";
  map.low = 0;
  return map;
}

// What the query at this token is asked for.
std::string asked_at(const Reading& reading, std::size_t query) {
  return query < reading.right.size() ? reading.right[query] : "";
}

// The weight of the head that is shown on the keys of each row.
Table rows_table(const Reading& reading, const TensorView& head) {
  Table table;
  table.title = "The weight on the patches where the right ones are";
  table.columns = {"", "token", "asked for", "pattern", "patches", "weight on them"};
  for (const ReadingRelation& relation : reading.sites[reading.site].relations) {
    for (const ReadingRow& row : relation.rows) {
      const std::vector<double> weights = head.select(0, static_cast<std::int64_t>(row.query)).to_vector();
      double sum = 0;
      for (const std::size_t key : row.keys) sum += weights[key];
      table.rows.push_back({{.text = fmt::format("{}", row.query)},
                            {.text = reading.sites[reading.site].queries[row.query]},
                            {.text = asked_at(reading, row.query)},
                            {.text = relation.name},
                            {.text = fmt::format("{} of {}", row.keys.size(), weights.size())},
                            number_cell(sum)});
    }
  }
  return table;
}

// Where in the image each token of the chosen head looks, and beside it where what it is asked for is.
Section image_step(const Reading& reading) {
  const ReadingSite& site = reading.sites[reading.site];
  Section step;
  step.id = "image";
  step.is_gallery = true;
  step.title = fmt::format("Where each token looks: layer {}, head {}", reading.layer, reading.head);
  step.text =
      "A row of the weights, laid out as the patches lie in the image, each on a scale that ends at its own largest "
      "weight.";
  const TensorView head = site.weights[reading.layer].view().select(0, static_cast<std::int64_t>(reading.head));
  const std::int64_t rows = head.dim(1) / site.key_columns;
  step.shape = fmt::format("{} tokens of [rows, columns] = [{}, {}]", head.dim(0), rows, site.key_columns);
  for (std::size_t token = 0; token < site.queries.size(); ++token) {
    const std::vector<double> weights = head.select(0, static_cast<std::int64_t>(token)).to_vector();
    Heatmap map = patches_map(fmt::format("{} {}", token, site.queries[token]), weights, site.key_columns);
    const double most = *std::ranges::max_element(weights);
    map.value_name = "weight";
    map.high = most > 0 ? most : 1;
    step.heatmaps.push_back({.id = fmt::format("image-token{}", token), .heatmap = std::move(map)});
    for (const ReadingRelation& relation : site.relations) {
      const auto row = std::ranges::find(relation.rows, token, &ReadingRow::query);
      if (row == relation.rows.end()) continue;
      std::vector<double> there(weights.size());
      for (const std::size_t key : row->keys) there[key] = 1;
      const std::string asked = asked_at(reading, token);
      Heatmap where = patches_map(fmt::format("{} → {}: {}", token, asked, relation.name), there, site.key_columns);
      where.value_name = "is there";
      where.decimals = 0;
      where.high = 1;
      step.heatmaps.push_back(
          {.id = fmt::format("image-token{}-{}", token, relation.name), .heatmap = std::move(where)});
    }
  }
  Table table = rows_table(reading, head);
  if (!table.rows.empty()) {
    step.text += " Beside it the patches of the pattern: where what the token is asked for is.";
    step.tables.push_back(std::move(table));
  }
  return step;
}

// Equally near captions in their own order. Not by stable_sort: Clang cannot compile, or warns of, libstdc++ 12's.
std::vector<const ReadingCaption*> nearest_first(const std::vector<ReadingCaption>& captions) {
  std::vector<const ReadingCaption*> sorted;
  for (const ReadingCaption& caption : captions) sorted.push_back(&caption);
  std::ranges::sort(sorted, [](const ReadingCaption* a, const ReadingCaption* b) {
    return a->cosine != b->cosine ? a->cosine > b->cosine : a < b;
  });
  return sorted;
}

Section captions_step(const Reading& reading) {
  Section step;
  step.id = "captions";
  step.title = "How near each caption is to the image";
  step.text =
      "Both towers end in a vector of length 1; their product is the cosine of the angle between them: 1 where both "
      "point the same way.";
  Table table;
  table.title = "Cosine of image and caption, the nearest first";
  table.columns = {"caption", "cosine"};
  for (const ReadingCaption* caption : nearest_first(reading.captions)) {
    table.rows.push_back({{.text = caption->text}, number_cell(caption->cosine)});
  }
  step.tables.push_back(std::move(table));
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

// What explain() says of a reader's own tensors is not true of a model's.
void say_whose(const Reading& reading, Explanation& explanation) {
  for (Section& step : explanation.steps) {
    if (step.id != "tensors") continue;
    step.title = "Q, K and V";
    step.text = fmt::format(
        "These are the model's own: what the trained projections of layer {} ({}) make of the vectors that reach it{}. "
        "What follows is exact for them.",
        reading.layer, reading.sites[reading.site].name,
        reading.turned ? ", Q and K after the rotary turn by their position" : "");
  }
}

std::vector<Section> steps_of(const Reading& reading) {
  std::vector<Section> steps;
  if (!reading.probabilities.empty()) steps.push_back(says_step(reading));
  if (!reading.captions.empty()) steps.push_back(captions_step(reading));
  steps.push_back(head_step(reading));
  if (std::ranges::any_of(reading.sites, [](const ReadingSite& site) { return !site.relations.empty(); })) {
    steps.push_back(patterns_step(reading));
  }
  if (!reading.image.empty()) steps.push_back(picture_step(reading));
  if (reading.sites[reading.site].key_columns > 0) steps.push_back(image_step(reading));
  for (const ReadingSite& site : reading.sites) steps.push_back(heads_step(site));
  return steps;
}

}  // namespace

Explanation in_short(const Explanation& explanation) {
  Explanation part = explanation;
  const auto heads =
      std::ranges::find_if(part.steps, [](const Section& step) { return step.id.starts_with("heads-"); });
  part.steps.erase(heads, part.steps.end());
  const auto image = std::ranges::find(part.steps, "image", &Section::id);
  if (image == part.steps.end() || image->tables.empty()) return part;
  const std::vector<NamedHeatmap> all = image->heatmaps;
  std::erase_if(image->heatmaps, [&](const NamedHeatmap& map) {
    return std::ranges::none_of(all, [&](const NamedHeatmap& other) {
      return map.id == other.id ? std::ranges::count(map.id, '-') > 1 : other.id.starts_with(map.id + "-");
    });
  });
  return part;
}

Explanation explain(const Reading& reading) {
  require_sound(reading);
  Explanation explanation = explain_heads(reading);
  say_whose(reading, explanation);
  std::vector<Section> steps = steps_of(reading);
  const std::string where = fmt::format("Layer {}, {}: ", reading.layer, reading.sites[reading.site].name);
  for (Section& step : explanation.steps) step.title = where + step.title;
  std::ranges::move(explanation.steps, std::back_inserter(steps));
  int number = 0;
  for (Section& step : steps) step.number = ++number;
  explanation.steps = std::move(steps);
  explanation.title = reading.title;
  explanation.settings.insert(explanation.settings.begin(), reading.settings.begin(), reading.settings.end());
  explanation.notes.insert(explanation.notes.begin(), reading.notes.begin(), reading.notes.end());
  if (!reading.probabilities.empty()) explanation.tensors.push_back({"probabilities", reading.probabilities});
  return explanation;
}

}  // namespace qkv
