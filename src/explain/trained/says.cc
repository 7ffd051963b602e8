// What the model predicts, and how near captions are to its image.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/listed.h"
#include "explain/numbers.h"
#include "explain/trained/model_run.h"

namespace qkv::explain_detail {
namespace {

constexpr std::size_t kShownGuesses = 3;

std::vector<std::size_t> likeliest(const std::vector<double>& row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t count = std::min(kShownGuesses, row.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](std::size_t a, std::size_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  order.resize(count);
  return order;
}

bool is_untrained(const ModelRun& model_run, std::size_t place) {
  return place < model_run.trained.size() && !model_run.trained[place];
}

std::vector<Cell> says_row(const ModelRun& model_run, std::size_t place) {
  const std::vector<double> row =
      model_run.probabilities.view().select(0, static_cast<std::int64_t>(place)).to_vector();
  const std::vector<std::size_t> order = likeliest(row);
  const std::string& predicted = model_run.vocabulary[order.front()];
  std::vector<Cell> cells = {whole(static_cast<std::int64_t>(model_run.first + place)), word(model_run.tokens[place]),
                             word(is_untrained(model_run, place) ? "(" + predicted + ")" : predicted),
                             rounded(row[order.front()])};
  const auto other = [&](std::size_t token) {
    return fmt::format("{} {:.2f}", model_run.vocabulary[token], row[token]);
  };
  cells.push_back(word(core::joined(std::span(order).subspan(1), other)));
  if (!model_run.expected.empty()) {
    const std::string& expected = model_run.expected[place];
    const bool is_said = expected == predicted;
    cells.push_back(word(expected.empty() ? "" : expected + (is_said ? " ✓" : " ✗")));
  }
  return cells;
}

// Equally near captions in their own order. Not by stable_sort: Clang cannot compile, or warns of, libstdc++ 12's.
std::vector<const CaptionCosine*> nearest_first(const std::vector<CaptionCosine>& captions) {
  std::vector<const CaptionCosine*> sorted;
  for (const CaptionCosine& caption : captions) sorted.push_back(&caption);
  std::ranges::sort(sorted, [](const CaptionCosine* a, const CaptionCosine* b) {
    return a->cosine != b->cosine ? a->cosine > b->cosine : a < b;
  });
  return sorted;
}

}  // namespace

Section says_step(const ModelRun& model_run) {
  Section step;
  step.id = "says";
  step.title = "What the model says";
  step.text =
      "The output map turns the final vector of each token into scores, and softmax turns these into probabilities.";
  if (std::ranges::find(model_run.trained, false) != model_run.trained.end()) {
    step.text += " The task asks at some tokens only; in parentheses what was never trained.";
  }
  step.shape = fmt::format("[T, vocabulary] = {}", model_run.probabilities.shape().to_string());
  Table table;
  table.title = "The likeliest token at each place";
  table.columns = {"", "token", "predicted", "probability", "then"};
  if (!model_run.expected.empty()) table.columns.emplace_back("expected");
  for (std::size_t place = 0; place < model_run.tokens.size(); ++place) {
    table.rows.push_back(says_row(model_run, place));
    if (is_untrained(model_run, place)) table.faint_rows.push_back(place);
  }
  step.tables.push_back(std::move(table));
  return step;
}

Section classes_step(const ModelRun& model_run) {
  constexpr std::size_t kShown = 10;
  std::vector<std::size_t> order(model_run.classes.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t count = std::min(kShown, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](std::size_t a, std::size_t b) {
                              const double left = model_run.classes[a].score;
                              const double right = model_run.classes[b].score;
                              return left != right ? left > right : a < b;
                            });
  Section step;
  step.id = "classes";
  step.title = "What the model says";
  step.text =
      "A linear map of the last states gives a score for each class, and softmax turns these into probabilities.";
  step.shape = fmt::format("[classes] = [{}]", model_run.classes.size());
  Table table;
  table.title = "The likeliest classes";
  table.columns = {"class", "name", "score", "probability"};
  for (std::size_t n = 0; n < count; ++n) {
    const ClassShare& one = model_run.classes[order[n]];
    table.rows.push_back(
        {whole(static_cast<std::int64_t>(order[n])), word(one.name), rounded(one.score), rounded(one.probability)});
  }
  step.tables.push_back(std::move(table));
  return step;
}

Section captions_step(const ModelRun& model_run) {
  Section step;
  step.id = "captions";
  step.title = "How near each caption is to the image";
  step.text =
      "Both towers end in a vector of length 1; their product is the cosine of the angle between them: 1 if both point "
      "the same way.";
  Table table;
  table.title = "Cosine of image and caption, the nearest first";
  table.columns = {"caption", "cosine"};
  for (const CaptionCosine* caption : nearest_first(model_run.captions)) {
    table.rows.push_back({word(caption->text), rounded(caption->cosine)});
  }
  step.tables.push_back(std::move(table));
  return step;
}

}  // namespace qkv::explain_detail
