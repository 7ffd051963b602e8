// What the model predicts, and how near captions are to its image.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "explain/numbers.h"
#include "explain/trained/reading.h"

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

bool is_untrained(const Reading& reading, std::size_t place) {
  return place < reading.trained.size() && !reading.trained[place];
}

std::vector<Cell> says_row(const Reading& reading, std::size_t place) {
  const std::vector<double> row = reading.probabilities.view().select(0, static_cast<std::int64_t>(place)).to_vector();
  const std::vector<std::size_t> order = likeliest(row);
  const std::string& predicted = reading.vocabulary[order.front()];
  std::vector<Cell> cells = {whole(static_cast<std::int64_t>(place)), word(reading.tokens[place]),
                             word(is_untrained(reading, place) ? "(" + predicted + ")" : predicted),
                             rounded(row[order.front()])};
  std::string others;
  for (std::size_t n = 1; n < order.size(); ++n) {
    others += fmt::format("{}{} {:.2f}", n > 1 ? ", " : "", reading.vocabulary[order[n]], row[order[n]]);
  }
  cells.push_back(word(others));
  if (!reading.expected.empty()) {
    const std::string& expected = reading.expected[place];
    const bool is_said = expected == predicted;
    cells.push_back(word(expected.empty() ? "" : expected + (is_said ? " ✓" : " ✗")));
  }
  return cells;
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

}  // namespace

Section says_step(const Reading& reading) {
  Section step;
  step.id = "says";
  step.title = "What the model says";
  step.text =
      "The final vector of each token is multiplied by the token embeddings; softmax turns the scores into "
      "probabilities.";
  if (std::ranges::find(reading.trained, false) != reading.trained.end()) {
    step.text += " The task asks at some tokens only; in parentheses what was never trained.";
  }
  step.shape = fmt::format("[T, vocabulary] = {}", reading.probabilities.shape().to_string());
  Table table;
  table.title = "The likeliest token at each place";
  table.columns = {"", "token", "predicted", "probability", "then"};
  if (!reading.expected.empty()) table.columns.emplace_back("expected");
  for (std::size_t place = 0; place < reading.tokens.size(); ++place) {
    table.rows.push_back(says_row(reading, place));
    if (is_untrained(reading, place)) table.faint_rows.push_back(place);
  }
  step.tables.push_back(std::move(table));
  return step;
}

Section captions_step(const Reading& reading) {
  Section step;
  step.id = "captions";
  step.title = "How near each caption is to the image";
  step.text =
      "Both towers end in a vector of length 1; their product is the cosine of the angle between them: 1 if both point "
      "the same way.";
  Table table;
  table.title = "Cosine of image and caption, the nearest first";
  table.columns = {"caption", "cosine"};
  for (const ReadingCaption* caption : nearest_first(reading.captions)) {
    table.rows.push_back({word(caption->text), rounded(caption->cosine)});
  }
  step.tables.push_back(std::move(table));
  return step;
}

}  // namespace qkv::explain_detail
