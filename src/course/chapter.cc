#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/exact_math.h"
#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"
#include "qkv/autograd/rotary.h"
#include "qkv/cost.h"
#include "qkv/nn/position.h"

namespace qkv::worked {
namespace {

using explain_detail::matmul;

// NOLINTNEXTLINE(cert-err58-cpp): three short words
const std::vector<std::string> kChapterTokens = {"the", "cat", "sat"};

struct TinyTokens {
  Tensor q = matrix_of({{1, 0}, {0, 1}, {1, 1}});
  Tensor k = matrix_of({{1, 0}, {0, 1}, {1, 1}});
  Tensor v = matrix_of({{2, 0}, {0, 3}, {1, 1}});
};

Tensor exponentials(const TensorView& row) {
  std::vector<double> values = row.to_vector();
  for (double& value : values) value = core::exp(value);
  return vector_of(values);
}

Tensor rounded(const TensorView& row, double unit) {
  std::vector<double> values = row.to_vector();
  for (double& value : values) value = std::nearbyint(value / unit) * unit;
  return vector_of(values);
}

Tensor weighted_sum(const TensorView& weights, const TensorView& v) {
  return Tensor(matmul(weights.unsqueeze(0), v).view().select(0, 0));
}

void y3(Worked& worked) {
  const TinyTokens tiny;
  const OneHead head = one_head(tiny.q, tiny.k, tiny.v);
  const TensorView scaled = head.scaled.view().select(0, 2);
  const TensorView weights = head.weights.view().select(0, 2);
  const Tensor exps = exponentials(scaled);
  const Tensor three_digits = rounded(weights, 1e-3);
  const Tensor exact = Tensor(head.out.view().select(0, 2));
  const Tensor of_rounded = weighted_sum(three_digits, tiny.v);
  worked.steps = {
      {"Queries, keys, values", "d_k = 2", "", {shown("Q", tiny.q, 0), shown("K", tiny.k, 0), shown("V", tiny.v, 0)}},
      {"Scores of token 3", "q_3 · k_j", "", {shown("raw", Tensor(head.raw.view().select(0, 2)), 0)}},
      {"Scaled", "/ sqrt(2) = / 1.414", "", {shown("scaled", Tensor(scaled), 3)}},
      {"Exponentials", "exp(s_3j)", "", {shown("exp", exps, 3), shown("sum", vector_of({sum_of(exps)}), 3)}},
      {"Weights", "exp / sum", "", {shown("alpha", Tensor(weights), 4)}},
      {"Weighted sum",
       "y_3 = sum of alpha_3j v_j",
       "2 a + b = 1 because the weights sum to 1, so y_3 begins with 1.",
       {shown("y_3", exact, 4), shown("y_3 from weights of three digits", of_rounded, 3)}},
  };
  worked.claims = {
      figure("raw scores", "1, 1, 2", head.raw.view().select(0, 2)),
      figure("square root of 2", "1.414", std::numbers::sqrt2),
      figure("scaled scores", "[0.707, 0.707, 1.414]", scaled),
      figure("exponentials", "[2.028, 2.028, 4.113]", exps),
      figure("their sum", "8.169", sum_of(exps)),
      figure("softmax", "[0.248, 0.248, 0.504]", weights,
             "The last weight rounds to 0.503; 0.504 is what is missing to 1.", 1),
      figure("y_3", "[0.999, 1.247]", exact, "What weights that were rounded to three digits first give.", 1),
      figure("y_3 from the weights rounded to 0.248, 0.248, 0.503", "[0.999, 1.247]", of_rounded),
  };
}

void three_token_figure(Worked& worked) {
  const TinyTokens tiny;
  const OneHead head = one_head(tiny.q, tiny.k, tiny.v);
  const auto row = [](const Tensor& matrix) { return Tensor(matrix.view().select(0, 1)); };
  worked.steps = {
      {"Scores of cat", "q_2 · k_j", "", {shown("raw", row(head.raw), {}, kChapterTokens, 0)}},
      {"Scaled", "/ sqrt(2)", "", {shown("scaled", row(head.scaled), {}, kChapterTokens)}},
      {"Weights", "softmax", "", {shown("alpha", row(head.weights), {}, kChapterTokens)}},
      {"Weighted sum", "y_2 = sum of alpha_2j v_j", "", {shown("y_2", row(head.out))}},
  };
  worked.claims = {not_derivable("section 6, scores, alpha and y_2 of cat", "? ? ?",
                                 "y_2 = " + text_of(row(head.out), 4) + " with the q, k, v of section 4",
                                 "The figure's own q, k, v are not in the text.")};
}

void sizes(Worked& worked) {
  const CostReport gpt3 = cost(cost_preset("gpt3"));
  const CostReport bert = cost(cost_preset("bert-base"));
  const CostReport gpt1 = cost(cost_preset("gpt-1"));
  const auto parameters = [](const CostReport& report) { return report.item("weights.total").value; };
  const auto layers = [](const CostReport& report) {
    return report.item("weights.attention").value + report.item("weights.ffn").value +
           report.item("weights.norms").value;
  };
  const CostConfig base = cost({.layers = 6, .d_model = 512, .heads = 8}).config;
  worked.claims = {
      figure("section 7, d_k of the original Transformer, 512 / 8", "64", static_cast<double>(*base.d_k)),
      figure("section 7, d_model of GPT-3, 96 × 128", "12288", static_cast<double>(96 * *gpt3.config.d_k)),
      statement("section 9, parameters of GPT-3", "175B", parameters(gpt3).grouped(),
                holds_if(std::round(parameters(gpt3).to_double() / 1e9) == 175)),
      statement("section 9, 12 blocks: BERT-base or GPT-1", "the same blocks",
                fmt::format("{} and {} parameters in 12 layers", layers(bert).grouped(), layers(gpt1).grouped()),
                holds_if(layers(bert) == layers(gpt1)),
                fmt::format("The embeddings around them differ: {} and {} in all.", parameters(bert).grouped(),
                            parameters(gpt1).grouped())),
      figure("section 9, d_ff of GPT-3 over d_model", "4",
             static_cast<double>(*gpt3.config.d_ff) / static_cast<double>(gpt3.config.d_model)),
  };
}

/// Bytes of one head's f32 scores, and FLOPs of Q K^T, at a length and a width.
CostReport one_layer(std::int64_t tokens, std::int64_t d_k) {
  return cost({.layers = 1, .d_model = d_k, .heads = 1, .tokens = tokens});
}

void quadratic_cost(Worked& worked) {
  std::vector<double> bytes;
  for (const std::int64_t tokens : {1'000, 100'000, 1'000'000}) {
    bytes.push_back(one_layer(tokens, 64).item("scores.one_head").value.to_double());
  }
  const CostReport narrow = one_layer(1000, 64);
  const CostReport wide = one_layer(1000, 128);
  const auto ratio = [&](const char* key) {
    return wide.item(key).value.to_double() / narrow.item(key).value.to_double();
  };
  worked.steps = {{"One head's scores in f32",
                   "n² × 4 B",
                   "For n = 1,000, 100,000 and 1,000,000, in MB.",
                   {shown("MB", vector_of({bytes[0] / 1e6, bytes[1] / 1e6, bytes[2] / 1e6}), 0)}}};
  worked.claims = {
      statement("section 10, how memory and compute of Q K^T grow", "both as n² d",
                fmt::format("twice the width: {:.0f} × the FLOPs, {:.0f} × the bytes of scores",
                            ratio("flops.layer.scores"), ratio("scores.one_head")),
                Holds::no, "Compute grows as n² d; the scores take n² whatever the width is."),
      statement("section 5, the work of a full layer", "three matrix multiplications and a softmax",
                "Q, K, V projections, Q K^T, weights · V: five, six with W_O", Holds::no,
                "Three are the projections alone; section 5's own formula has two products more."),
  };
}

void rotary(Worked& worked) {
  const Tensor q = matrix_of({{0.3, -1.2, 0.7, 2.0}});
  const Tensor k = matrix_of({{1.1, 0.4, -0.6, 0.9}});
  const auto score = [&](std::int64_t i, std::int64_t j) {
    const auto turned = [](const Tensor& row, std::int64_t position) {
      const Tensor positions(std::vector<std::int64_t>{position}, {1});
      return Tensor(rotary(Variable(Tensor(as_head(row))), rotary_tables({.dim = 4}, positions)).value());
    };
    return attention_stage(turned(q, i), turned(k, j), {}, Stage::raw).at({0, 0, 0, 0});
  };
  const Tensor same = vector_of({score(3, 1), score(7, 5), score(1002, 1000)});
  worked.steps = {{"q at i, k at j",
                   "rotate(q, i) · rotate(k, j)",
                   "Positions (3, 1), (7, 5) and (1002, 1000): i - j is 2.",
                   {shown("scores", same, 6), shown("at (3, 2)", vector_of({score(3, 2)}), 6)}}};
  const std::vector<double> scores = same.to_vector();
  const double spread = std::fabs(scores[0] - scores[1]) + std::fabs(scores[0] - scores[2]);
  worked.claims = {statement("section 8, what rotary scores depend on", "i - j alone",
                             fmt::format("largest difference {}", bound_text(spread)),
                             // Angles near 1000 carry 1000 * 2^-53 each; four products of order 1.
                             holds_if(spread <= 16 * 1000 * 0x1p-53))};
}

}  // namespace

std::vector<Entry> chapter() {
  return {
      {{"chapter-y3", kChapter, "section 4, a tiny attention computation", "Attention by hand, d_k = 2",
        "Every step to y_3 = [1, 1.248]; the printed [0.999, 1.247] comes from rounding the weights first."},
       y3},
      {{"chapter-figure", kChapter, "section 6, interactive figure", "Attention of one token over three",
        "The figure's steps for cat, with the numbers of section 4."},
       three_token_figure},
      {{"chapter-sizes", kChapter, "sections 7 and 9", "Typical sizes", "Widths and parameters of known models."},
       sizes},
      {{"chapter-cost", kChapter, "sections 5 and 10", "What grows with n and with d",
        "Compute grows as n² d, the scores' memory as n²."},
       quadratic_cost},
      {{"chapter-rotary", kChapter, "section 8", "Rotary scores depend on the distance",
        "Shown at three pairs of positions."},
       rotary},
  };
}

}  // namespace qkv::worked
