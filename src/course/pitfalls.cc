#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"
#include "qkv/error.h"
#include "qkv/random.h"
#include "qkv/softmax.h"

namespace qkv::worked {
namespace {

using explain_detail::matmul;

/// Four tokens of width 4, seed 42: small enough to be read, random enough to be nobody's choice.
struct FourTokens {
  Tensor q, k, v;
};

FourTokens four_tokens() {
  Generator generator(42);
  FourTokens tokens;
  for (Tensor* tensor : {&tokens.q, &tokens.k, &tokens.v}) *tensor = generator.randn({4, 4}, DType::f64);
  return tokens;
}

double furthest_from_one(const TensorView& sums) {
  double furthest = 0;
  for (const double sum : sums.to_vector()) furthest = std::max(furthest, std::fabs(sum - 1));
  return furthest;
}

/// The mean of the largest weight of each row.
double mean_largest(const TensorView& weights) {
  double sum = 0;
  for (std::int64_t i = 0; i < weights.dim(0); ++i) {
    const std::vector<double> row = weights.select(0, i).to_vector();
    sum += *std::max_element(row.begin(), row.end());
  }
  return sum / static_cast<double>(weights.dim(0));
}

void forget_scale(Worked& worked) {
  Generator generator(42);
  std::vector<double> unscaled;
  std::vector<double> scaled;
  for (const std::int64_t width : {4, 64, 512}) {
    const Tensor q = generator.randn({64, width}, DType::f64);
    const Tensor k = generator.randn({64, width}, DType::f64);
    const OneHead head = one_head(q, k, k);
    unscaled.push_back(mean_largest(softmax(head.raw, -1)));
    scaled.push_back(mean_largest(head.weights));
  }
  const Tensor both = matrix_of({unscaled, scaled});
  worked.steps = {{"The largest of 64 weights, mean over 64 queries",
                   "softmax(q · k) and softmax(q · k / sqrt(d_k))",
                   "Standard normal q and k, seed 42.",
                   {shown("largest weight", both, {"unscaled", "scaled"}, {"d_k = 4", "d_k = 64", "d_k = 512"})}}};
  worked.claims = {
      statement("003, pitfall 1: without the scale", "softmax saturates as d_k grows",
                fmt::format("{:.2f}, {:.2f}, {:.2f} for d_k = 4, 64, 512", unscaled[0], unscaled[1], unscaled[2]),
                holds_if(unscaled[0] < unscaled[1] && unscaled[1] < unscaled[2] && unscaled[2] > 0.9)),
      statement("with the scale", "stable", fmt::format("{:.2f}, {:.2f}, {:.2f}", scaled[0], scaled[1], scaled[2]),
                holds_if(std::fabs(scaled[2] - scaled[0]) < 0.05))};
}

void mask_after_softmax(Worked& worked) {
  const FourTokens tokens = four_tokens();
  const OneHead open = one_head(tokens.q, tokens.k, tokens.v);
  const OneHead right = one_head(tokens.q, tokens.k, tokens.v, {.mask = causal()});
  Tensor after = open.weights;
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = i + 1; j < 4; ++j) after.set({i, j}, 0.0);
  }
  const Tensor sums = row_sums(after);
  worked.steps = {
      {"Mask after the softmax", "softmax(S) * mask", "", {shown("weights", after), shown("row sums", sums)}},
      {"Mask before the softmax",
       "softmax(S + mask)",
       "",
       {shown("weights", right.weights), shown("row sums", row_sums(right.weights))}},
  };
  worked.claims = {
      statement("003, pitfall 2: masking after the softmax", "does not work", "row sums " + text_of(sums, 4),
                holds_if(furthest_from_one(sums) > 0.01),
                "What the future had is lost, not given to the past: early rows come out too small."),
      figure("masking before it, row sums", "1, 1, 1, 1", row_sums(right.weights), "", 4),
  };
}

std::string product_without_transpose(const TensorView& q, const TensorView& k) {
  try {
    return matmul(q, k).shape().to_string();
  } catch (const InvalidArgument&) {
    return "an error";
  }
}

void wrong_transpose(Worked& worked) {
  const FourTokens tokens = four_tokens();
  const TensorView three_q = tokens.q.view().slice(0, 0, 3);
  const TensorView three_k = tokens.k.view().slice(0, 0, 3);
  const std::string ragged = product_without_transpose(three_q, three_k);
  const std::string square = product_without_transpose(tokens.q, tokens.k);
  const Tensor wrong = matmul(tokens.q, tokens.k);
  const Tensor right = matmul(tokens.q, tokens.k.view().transpose(0, 1));
  const double difference = largest_difference(wrong, right);
  worked.steps = {{"4 tokens of width 4", "Q K against Q K^T", "", {shown("Q K", wrong), shown("Q K^T", right)}}};
  worked.claims = {
      statement("003, pitfall 3, and 004: Q K with 3 tokens of width 4", "an error", ragged,
                holds_if(ragged == "an error")),
      statement("the same with 4 tokens of width 4", "an error",
                fmt::format("{}, off by up to {:.2f}", square, difference), holds_if(square == "an error"),
                "Where the length happens to be the width, the wrong product runs in silence."),
  };
}

void wrong_axis(Worked& worked) {
  const FourTokens tokens = four_tokens();
  const Tensor scaled = one_head(tokens.q, tokens.k, tokens.v).scaled;
  const Tensor wrong = softmax(scaled, 0);
  const Tensor rows = row_sums(wrong);
  const Tensor columns = row_sums(wrong.view().transpose(0, 1));
  worked.steps = {{"Softmax over the queries",
                   "softmax(S, axis 0)",
                   "",
                   {shown("weights", wrong), shown("row sums", rows), shown("column sums", columns)}}};
  worked.claims = {
      statement("004, pitfalls: softmax along the wrong axis", "weights do not sum to 1",
                "row sums " + text_of(rows, 4), holds_if(furthest_from_one(rows) > 0.01),
                "The columns do, " + text_of(columns, 4) + ": a sum over everything is T either way."),
  };
}

std::string mask_fits(const Mask& mask, const MaskShape& shape) {
  try {
    mask.validate(shape);
    return "fits";
  } catch (const InvalidArgument&) {
    return "an error";
  }
}

void mask_broadcasting(Worked& worked) {
  // Batch entry 0 sees all three keys, batch entry 1 only the first.
  Tensor visible(DType::b8, {2, 3, 3});
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      visible.set({0, i, j}, 1);
      visible.set({1, i, j}, j == 0 ? 1 : 0);
    }
  }
  const Mask three_axes = dense(visible);
  const Mask four_axes = dense(visible.view().unsqueeze(1));
  const Mask two_axes = dense(visible.view().select(0, 1));
  const std::string two = mask_fits(two_axes, {2, 4, 3, 3});
  const std::string ragged = mask_fits(three_axes, {2, 4, 3, 3});
  const MaskShape twins{2, 2, 3, 3};
  const bool silent = three_axes.allows({0, 1, 0, 2}, twins) != four_axes.allows({0, 1, 0, 2}, twins);
  worked.claims = {
      statement("004, pitfalls: a mask [B, T, T] for 2 batch entries and 4 heads", "broadcasting failure", ragged,
                holds_if(ragged == "an error")),
      statement("the same for 2 batch entries and 2 heads", "broadcasting failure",
                silent ? "it runs, each batch entry's mask on a head" : "the mask of the batch", Holds::no,
                "Where B = H nothing fails: the mask meets the wrong axis."),
      statement("004, the mask must be 4-D, [B, 1, T, T]", "must be", "a mask [T, T] " + two, holds_if(two != "fits"),
                "Axes are aligned from the right: [T, T] serves every batch entry and head."),
  };
}

Tensor additive(DType dtype, const std::vector<double>& scores) {
  Tensor masked(dtype, {static_cast<std::int64_t>(scores.size())});
  Tensor constant(dtype, {1});
  constant.set({0}, -1e9);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    masked.set({static_cast<std::int64_t>(i)}, scores[i] + constant.at({0}));
  }
  return masked;
}

void minus_one_billion(Worked& worked) {
  const Tensor q = matrix_of({{1, 0}});
  const Tensor k = matrix_of({{1, 0}, {2, 0}, {3, 0}});
  const Tensor v = matrix_of({{1, 0}, {0, 1}, {5, 5}});
  const OneHead hidden = one_head(q, k, v, {.mask = none()});
  const std::vector<double> scores = one_head(q, k, v).scaled.to_vector();
  const Tensor replaced = softmax(vector_of({-1e9, -1e9, -1e9}), -1);
  const Tensor in_f64 = softmax(additive(DType::f64, scores), -1);
  const Tensor in_f32 = softmax(additive(DType::f32, scores), -1);
  const Tensor unmasked = softmax(vector_of(scores), -1);
  Tensor half(DType::f16, {1});
  half.set({0}, -1e9);
  worked.steps = {
      {"A row that may see nothing: scores", "q · k / sqrt(2)", "", {shown("scores", vector_of(scores))}},
      {"Replaced by -1e9", "softmax", "", {shown("weights", replaced)}},
      {"-1e9 added, in f32 and in f64",
       "softmax(S - 1e9)",
       "In f32 the scores drown; in f64 they survive.",
       {shown("f32", in_f32), shown("f64", in_f64), shown("no mask at all", unmasked)}},
      {"-inf", "weights and output of qkv", "", {shown("weights", hidden.weights), shown("output", hidden.out)}},
      {"-1e9 in f16", "", "", {shown("-1e9", half), shown("0 × -1e9", vector_of({0.0 * half.at({0})}))}},
  };
  const double survived = largest_difference(in_f64, unmasked);
  worked.claims = {
      statement("003, pro tip 2: -1e9 is -inf without numerical issues", "a hidden row has no weights",
                "even weights " + text_of(replaced, 4), holds_if(largest_difference(replaced, hidden.weights) == 0),
                "The row returns the mean of values that it must not see; -inf with the row set to zeros does not."),
      statement("004, step 3: (1 - mask) · -1e9 added, f64", "excluded",
                fmt::format("the weights of no mask at all, to {:.0e}", survived),
                // -1e9 + s keeps s to 2^-24, half a unit in the last place.
                holds_if(survived > 1e-6), "In a row that may see nothing, all scores move by the same amount."),
      statement("the same in f16", "excluded",
                fmt::format("-1e9 is {}, and 0 · -inf is {}", text_of(half.at({0}), 0), text_of(0.0 * half.at({0}), 0)),
                holds_if(std::isfinite(half.at({0}))), "f16 ends at 65,504, so that visible scores become NaN."),
  };
}

}  // namespace

std::vector<Entry> pitfalls() {
  return {
      {{"forget-scale", kLab, "pitfall 1", "Forgetting to scale", "How the largest weight grows with d_k."},
       forget_scale},
      {{"mask-after", kLab, "pitfall 2", "The mask after the softmax", "Rows no longer sum to 1."}, mask_after_softmax},
      {{"wrong-transpose", kLabAndSlides, "pitfall 3; shape mismatch", "The forgotten transpose",
        "An error, unless the length is the width."},
       wrong_transpose},
      {{"wrong-axis", kSlides, "pitfalls: softmax axis", "Softmax along the wrong axis",
        "Columns sum to 1 instead of rows."},
       wrong_axis},
      {{"mask-broadcast", kSlides, "pitfalls: mask broadcasting", "A mask with an axis too few",
        "When broadcasting fails, and when it is silently wrong."},
       mask_broadcasting},
      {{"minus-1e9", kLabAndSlides, "pro tip 2; step 3", "-1e9 instead of -inf",
        "What a row that may see nothing becomes, in f64, f32 and f16."},
       minus_one_billion},
  };
}

}  // namespace qkv::worked
