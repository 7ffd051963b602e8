#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "course/pieces.h"
#include "course/scratch_notebook.h"
#include "course/seeds.h"
#include "explain/plain.h"

namespace qkv::worked {
namespace {

std::string range_of_weights(const Tensor& weights) {
  const std::vector<double> values = weights.to_vector();
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format("{:.2f} to {:.2f}", least, most);
}

// The draws are a tenth of randn: times 10 / sqrt(8) they are as large as a layer of width 8 begins with.
Tensor weights_times(const ScratchNotebook& book, double factor) {
  const auto projected = [&](const Tensor& w) {
    std::vector<double> values = w.to_vector();
    for (double& value : values) value *= factor;
    return explain_detail::matmul(book.x, Tensor(Tensor(values, w.shape()), w.dtype()));
  };
  return one_head(projected(book.w_q), projected(book.w_k), projected(book.w_v)).weights;
}

WorkedClaim numbers_of_words() {
  const std::vector<std::string> words = {"the", "cat", "and", "the", "dog"};
  std::map<std::string, std::size_t> vocabulary;
  for (std::size_t place = 0; place < words.size(); ++place) vocabulary[words[place]] = place;
  std::vector<std::size_t> ids;
  for (const std::string& word : words) ids.push_back(vocabulary[word]);
  return statement(
      "section 1, numbers of words: {word: i for i, word in enumerate(tokens)}", "an embedding of len(vocab) rows",
      fmt::format("{}: ids {}, of {} rows", fmt::join(words, " "), fmt::join(ids, ", "), vocabulary.size()),
      holds_if(*std::ranges::max_element(ids) < vocabulary.size()),
      "A word that comes twice has the number of its last place, and the last word no row. The notebook's "
      "own sentence repeats none.");
}

void remarks(Worked& worked) {
  const ScratchNotebook book = draw_scratch_notebook();
  const Tensor drawn = weights_times(book, 1);
  const Tensor larger = weights_times(book, 10 / std::sqrt(8.0));
  worked.steps = {{"Weights of projections a tenth of randn", "0.1", "", {shown("weights", drawn)}},
                  {"The same draws, as large as a layer begins with", "1 / sqrt(8)", "", {shown("weights", larger)}}};
  constexpr double kDeviation = 32;  // sqrt(1024)
  const double beyond = std::erfc(30 / kDeviation / std::numbers::sqrt2);
  const Tensor packed = explain_detail::matmul(book.x, book.packed_q).reshape({4, 2, 4});
  const std::int64_t apart = packed.view().select(1, 0).strides()[0];
  worked.claims = {
      numbers_of_words(),
      statement(
          "section 2, the factor of W_Q and W_K", "0.1",
          fmt::format("all 16 weights are {}; with 1 / sqrt(8), {}", range_of_weights(drawn), range_of_weights(larger)),
          Holds::no, "So small that the output is all but the mean of the values, whatever the words are."),
      statement("section 0.4, scores of d_k = 1024", "e.g., +30, -30",
                fmt::format("one standard deviation is {:.0f}; {:.0f} % of the scores lie beyond 30", kDeviation,
                            100 * beyond),
                Holds::yes, "Not rare extremes: a third of the scores is larger."),
      statement("section 5.1, the tokens of head_0 after view and transpose", "contiguous",
                fmt::format("rows of 4 numbers, {} apart", apart), holds_if(apart == 4),
                "The transpose is a view; the notebook's own code calls .contiguous() on the way back."),
  };
}

}  // namespace

std::vector<Entry> scratch_remarks() {
  return {{{"scratch-remarks", kScratch, "sections 0.4, 1, 2 and 5.1",
            "Numbers of words, sizes of scores, places of heads", "What the notebook says in passing, with seed 42."},
           remarks}};
}

}  // namespace qkv::worked
