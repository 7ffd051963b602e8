#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"
#include "explain/target.h"
#include "qkv/random.h"
#include "qkv/softmax.h"

namespace qkv::worked {
namespace {

using explain_detail::matmul;

void softmax_of_four(Worked& worked) {
  const Tensor scores = vector_of({2.3, -1.2, 4.5, 0.1});
  const Tensor weights = softmax(scores, -1);
  worked.steps = {{"Scores", "", "", {shown("scores", scores, 1)}},
                  {"Weights", "softmax", "", {shown("weights", weights)}}};
  worked.claims = {figure("step 4, softmax of [2.3, -1.2, 4.5, 0.1]", "[0.12, 0.01, 0.85, 0.02]", weights,
                          "The printed weights sum to 1, but belong to other scores.", 2)};
}

void toy(Worked& worked) {
  const Tensor q = matrix_of({{1, 0, 1, 0}});
  const Tensor k = matrix_of({{1, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}});
  const Tensor v = matrix_of({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}});
  const OneHead head = one_head(q, k, v);
  const Tensor of_printed_scores = softmax(matrix_of({{1.0, 0.5, 0.5}}), -1);
  const Tensor of_printed_weights = matmul(matrix_of({{0.5, 0.25, 0.25}}), v);
  worked.steps = {
      {"Query, keys, values", "", "", {shown("Q", q, 0), shown("K", k, 0), shown("V", v, 0)}},
      {"Scores", "Q K^T", "The query shares exactly one 1 with each key.", {shown("scores", head.raw, 0)}},
      {"Scaled", "/ sqrt(4) = / 2", "", {shown("scaled", head.scaled, 1)}},
      {"Weights", "softmax", "Three equal scores: an even third each.", {shown("weights", head.weights)}},
      {"Output", "weights · V", "The mean of the values.", {shown("output", head.out, 1)}},
  };
  worked.claims = {
      figure("step 1, scores", "[[2, 1, 1]]", head.raw,
             "The query is 1 in two places, and each key shares one of them."),
      figure("step 2, scaled", "[[1.0, 0.5, 0.5]]", head.scaled, "From the wrong scores."),
      figure("step 3, weights", "[[0.5, 0.25, 0.25]]", head.weights, "Equal scores have equal weights.", 2),
      figure("step 3, softmax of the printed [[1.0, 0.5, 0.5]]", "[[0.5, 0.25, 0.25]]", of_printed_scores,
             "Wrong for the printed scores, too.", 2),
      figure("step 4, output", "[[4.0, 5.0, 6.0, 7.0]]", head.out, "Even weights give the mean of the values."),
      figure("step 4, the printed weights times V", "[[4.0, 5.0, 6.0, 7.0]]", of_printed_weights,
             "The last step is right for the weights it starts from."),
  };
}

/// Dot products of one standard normal query with 100 keys, of width 512.
void scale(Worked& worked) {
  Generator generator(42);
  const Tensor q = generator.randn({1, 512}, DType::f64);
  const Tensor k = generator.randn({100, 512}, DType::f64);
  const OneHead head = one_head(q, k, k);
  std::vector<double> raw = head.raw.to_vector();
  double squares = 0;
  for (const double score : raw) squares += score * score / 100;
  const auto size = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
  const double largest = std::fabs(*std::max_element(raw.begin(), raw.end(), size));
  const Tensor unscaled = softmax(head.raw, -1);
  const auto top = [](const Tensor& weights) {
    const std::vector<double> all = weights.to_vector();
    return *std::max_element(all.begin(), all.end());
  };
  worked.steps = {
      {"100 scores of width 512",
       "q · k, all standard normal, seed 42",
       "",
       {shown("standard deviation", vector_of({std::sqrt(squares)}), 1), shown("largest", vector_of({largest}), 1)}},
      {"The largest of the 100 weights",
       "softmax",
       "",
       {shown("unscaled", vector_of({top(unscaled)})), shown("scaled", vector_of({top(head.weights)}))}},
  };
  worked.claims = {
      figure("step 3, sqrt(512)", "22.6", std::sqrt(512.0)),
      statement("step 3, the size of q · k for d_k = 512", "can be hundreds",
                fmt::format("standard deviation {:.1f}, the largest of 100 is {:.1f}", std::sqrt(squares), largest),
                holds_if(largest >= 200),
                "100 is 4.4 standard deviations away, one score in 10^5. Tens saturate the "
                "softmax all the same."),
      statement("step 3, the sum of the printed weights", "[0.0000, 0.0000, 0.9999, 0.0000]", "0.9999", Holds::no,
                "Weights sum to 1: next to 0.9999 there is 0.0001 left for the others."),
      statement("step 3, softmax without scaling", "almost one-hot",
                fmt::format("largest of 100 weights {:.2f}; with scaling {:.2f}", top(unscaled), top(head.weights)),
                holds_if(top(unscaled) > 0.5)),
  };
}

void context(Worked& worked) {
  const Tensor weights = matrix_of({{0.1, 0.6, 0.2, 0.1}});
  const Tensor basis = matrix_of({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});
  const Tensor output = matmul(weights, basis);
  worked.steps = {{"Weighted sum",
                   "0.1 v_1 + 0.6 v_2 + 0.2 v_3 + 0.1 v_4",
                   "With v_j the unit vectors, the output shows "
                   "each share.",
                   {shown("output", output, 1)}}};
  worked.claims = {figure("step 5, shares of v_1 to v_4", "0.1, 0.6, 0.2, 0.1", output),
                   figure("step 5, they are weights: their sum", "1", sum_of(weights))};
}

void focus(Worked& worked) {
  const std::vector<std::string> words = {"The", "cat", "sat", "on", "the", "mat"};
  const Tensor rows = matrix_of({{0.1, 0.6, 0.1, 0.1, 0.05, 0.05}, {0.05, 0.1, 0.05, 0.7, 0.05, 0.05}});
  worked.steps = {
      {"The two printed rows over the six words", "", "", {shown("weights", rows, {"sat", "on"}, words, 2)}}};
  const auto top_word = [&](std::int64_t row) {
    const std::vector<double> weights = rows.view().select(0, row).to_vector();
    return words[static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin())];
  };
  worked.claims = {
      figure("section 3, the rows sum to", "1, 1",
             vector_of({sum_of(rows.view().select(0, 0)), sum_of(rows.view().select(0, 1))})),
      statement("section 3, the row of sat focuses on", "cat", top_word(0), holds_if(top_word(0) == "cat"),
                "It is printed as row 0, which is the row of The."),
      statement("section 3, the row of on focuses on", "mat", top_word(1), holds_if(top_word(1) == "mat"),
                "0.7 stands in the fourth column, which is on itself; mat is the sixth."),
  };
}

void causal_table(Worked& worked) {
  const Mask mask = causal();
  const MaskShape shape{1, 1, 5, 5};
  std::string table;
  Tensor visible(DType::f64, {5, 5});
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      const bool allowed = mask.allows({0, 0, i, j}, shape);
      visible.set({i, j}, allowed ? 0.0 : -INFINITY);
      table += std::string(allowed ? "0" : "-inf") + (j < 4 ? " " : i < 4 ? " / " : "");
    }
  }
  const std::string printed = "0 -inf -inf -inf -inf / 0 0 -inf -inf -inf / 0 0 0 -inf -inf / 0 0 0 0 -inf / 0 0 0 0 0";
  worked.steps = {{"Causal mask", "0 where j <= i, else -inf", "", {shown("mask", visible, 0)}}};
  worked.claims = {statement("exercise 3, causal mask of 5 tokens", printed, table, holds_if(table == printed))};
}

void shapes(Worked& worked) {
  Generator generator(42);
  const Tensor drawn = generator.randn({3, 1, 1, 10, 64});
  const auto part = [&](std::int64_t i) { return drawn.view().select(0, i); };
  const AttentionResult result = attention(part(0), part(1), part(2), {.target = explain_detail::kTarget});
  const Tensor weights = attention_stage(part(0), part(1), {}, Stage::weights);
  worked.steps = {{"Random q, k, v of [1, 10, 64]", "", "", {shown("weights", as_matrix(weights), 2)}}};
  worked.claims = {
      statement("exercise 1, Q, K, V = randn(1, 10, 64)", "three tensors",
                fmt::format("one tensor whose first extent is {}; three need randn(3, 1, 10, 64)", 1), Holds::no,
                "Unpacking a tensor runs over its first axis: one value for three names is an error."),
      statement(
          "exercise 1, shapes of output and weights", "(1, 10, 64), (1, 10, 10)",
          result.out.view().select(0, 0).shape().to_string() + ", " + weights.view().select(0, 0).shape().to_string(),
          holds_if(result.out.shape() == Shape{1, 1, 10, 64} && weights.shape() == Shape{1, 1, 10, 10})),
  };
}

}  // namespace

std::vector<Entry> lab() {
  return {
      {{"lab-softmax", kLab, "step 4", "Softmax of four scores",
        "The printed weights are not the softmax of the scores."},
       softmax_of_four},
      {{"lab-toy", kLab, "complete example", "Three tokens of width 4",
        "The scores are [1, 1, 1], so the weights are even and the output is the mean."},
       toy},
      {{"lab-scale", kLab, "step 3", "Why scores are scaled", "Dot products of width 512 before and after scaling."},
       scale},
      {{"lab-context", kLab, "step 5", "A weighted sum", "Weights 0.1, 0.6, 0.2, 0.1 over four values."}, context},
      {{"lab-focus", kLab, "key concepts, section 3", "Reading rows of weights", "Which word a printed row looks at."},
       focus},
      {{"lab-causal", kLab, "exercise 3", "The causal mask of five tokens", "The table, from the mask itself."},
       causal_table},
      {{"lab-shapes", kLab, "exercise 1", "Shapes of ten tokens", "Random q, k, v and the shapes that come out."},
       shapes},
  };
}

}  // namespace qkv::worked
