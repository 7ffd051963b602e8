// What attention is put together from: a dot product, a product of matrices, a convex combination, a reshape.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "course/diagrams.h"
#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"
#include "qkv/heads.h"
#include "qkv/softmax.h"

namespace qkv::worked {
namespace {

using explain_detail::matmul;

Tensor as_tensor(const Vector2& a) { return vector_of({a[0], a[1]}); }

void vectors(Worked& worked) {
  const Vector2 q = {2, 1};
  const Vector2 k = {1, 2};
  const std::vector<Vector2> keys = {{1, 2}, {-1, 2}, {-2, -1}};
  std::vector<double> cosines;
  std::vector<double> products;
  for (const Vector2& key : keys) {
    cosines.push_back(cosine(q, key));
    products.push_back(dot(q, key));
  }
  worked.steps = {
      {"Dot product",
       "q · k = sum of q_i k_i",
       "Each pair of numbers is multiplied, and the products are added: one number says how far two vectors agree.",
       {shown("q", as_tensor(q), 0), shown("k", as_tensor(k), 0)},
       {dot_product_diagram(q, k)}},
      {"Angle",
       "cos(theta) = q · k / (|q| |k|)",
       "A key in the query's direction, one across it, one against it.",
       {shown("q · k", vector_of(products), 0), shown("cos θ", vector_of(cosines), 3)},
       {angle_diagram(q, keys)}},
  };
  const double by_angle = length(q) * length(k) * cosine(q, k);
  worked.claims = {
      statement(
          "section 0.1, a · b for (2, 1) and (1, 2)", "|a| |b| cos θ",
          fmt::format("{:g}, and |a| |b| cos θ differs by {}", dot(q, k), bound_text(std::abs(by_angle - dot(q, k)))),
          holds_if(std::abs(by_angle - dot(q, k)) < 1e-12)),
      statement("section 0.1, negative", "opposite directions",
                fmt::format("(2, 1) · (-1, 1) = {:g} at {:.1f}°", dot(q, {-1, 1}),
                            std::acos(cosine(q, {-1, 1})) * 45 / std::atan(1.0)),
                Holds::no, "More than 90° apart; opposite are only those at 180°."),
      statement("section 0.1, near zero", "roughly orthogonal",
                fmt::format("(2, 1) · (0.02, 0.01) = {:g} at 0°", dot(q, {0.02, 0.01})), Holds::no,
                "The product grows with both lengths: short parallel vectors come near zero as well."),
  };
}

Tensor chapter_keys() { return matrix_of({{1, 0}, {0, 1}, {1, 1}}); }

void products(Worked& worked) {
  const Tensor q = matrix_of({{1, 0}, {2, 1}, {0, 3}});
  const Tensor k = chapter_keys();
  const Tensor scores = matmul(q, k.view().transpose(0, 1));
  worked.steps = {
      {"Every query meets every key",
       "S = Q K^T",
       "A score is a row of Q times a column of K^T, which is a row of K: the sum runs over d_k = 2 places.",
       {shown("Q", q, 0), shown("K", k, 0), shown("S", scores, 0)},
       {product_diagram(q, k, 1, 2)}}};
  double largest = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      const double by_dot = dot({q.at({i, 0}), q.at({i, 1})}, {k.at({j, 0}), k.at({j, 1})});
      largest = std::max(largest, std::abs(by_dot - scores.at({i, j})));
    }
  }
  worked.claims = {statement("section 0.2 and 0.4, each entry of Q K^T", "q_i · k_j",
                             fmt::format("nine dot products differ from the product by {}", bound_text(largest)),
                             holds_if(largest == 0)),
                   statement("section 0.4, terms that a score adds up", "d_k",
                             fmt::format("{}, the width of Q", q.dim(1)), holds_if(q.dim(1) == k.dim(1)))};
}

void convex(Worked& worked) {
  const Tensor values = matrix_of({{2, 0}, {0, 3}, {1, 1}});
  const Tensor scores = vector_of({0, 1 / std::numbers::sqrt2, 1 / std::numbers::sqrt2});
  const std::vector<double> weights = softmax(scores, 0).to_vector();
  const Tensor output = matmul(matrix_of({weights}), values);
  worked.steps = {
      {"A weighted average of the values",
       "y = sum of alpha_j v_j",
       "The chapter's query of “cat” and its values. The weights are not negative and sum to 1, so y cannot "
       "leave the triangle whose corners are the values.",
       {shown("weights", vector_of(weights), 3), shown("V", values, 0), shown("y", output, 3)},
       {convex_diagram(values, weights)}}};
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double least = *std::ranges::min_element(weights);
  worked.claims = {
      statement(
          "section 0.5, the weighted sum of the values", "a convex combination",
          fmt::format("the least weight is {:.4f}, and their sum is off 1 by {}", least, bound_text(std::abs(sum - 1))),
          holds_if(least >= 0 && std::abs(sum - 1) < 1e-15)),
  };
}

void reshape(Worked& worked) {
  constexpr std::int64_t kTokens = 4;
  constexpr std::int64_t kHeads = 2;
  constexpr std::int64_t kWidth = 2;
  std::vector<double> places(static_cast<std::size_t>(kTokens * kHeads * kWidth));
  std::iota(places.begin(), places.end(), 0.0);
  const Tensor x(places, {kTokens, kHeads * kWidth});
  const Tensor split(split_heads(x.view().unsqueeze(0), kHeads));
  const auto head = [&](std::int64_t h) { return Tensor(split.view().select(0, 0).select(0, h)); };
  const TensorView straight = x.view().reshape({kHeads, kTokens, kWidth});
  worked.steps = {{"From columns to heads",
                   "[T, H · d_k] seen as [T, H, d_k], transposed to [H, T, d_k]",
                   "Each number of X is its place in memory. Head h gets the columns that are its own, of every token.",
                   {shown("X", x, 0), shown("head 0", head(0), 0), shown("head 1", head(1), 0)},
                   {heads_diagram(kTokens, kHeads, kWidth)}}};
  const double difference = std::max(largest_difference(head(0), Tensor(x.view().slice(1, 0, kWidth))),
                                     largest_difference(head(1), Tensor(x.view().slice(1, kWidth, 2 * kWidth))));
  worked.claims = {
      statement(
          "section 5.1, head 1 and head 2 after view and transpose", "[Token 1_h1, Token 2_h1, ...], [Token 1_h2, ...]",
          fmt::format("the columns of each head differ by {}", bound_text(difference)), holds_if(difference == 0)),
      statement("section 5.1, step 2 left out: [T, H · d_k] reshaped straight to [H, T, d_k]", "Group by head",
                "head 0 holds " + text_of(straight.select(0, 0), 0), Holds::yes,
                "The shape is right; the head holds the first two tokens whole, and not its half of all four."),
  };
}

}  // namespace

std::vector<Entry> foundations() {
  return {
      {{"vectors", kScratch, "section 0.1", "A dot product, and the angle between two vectors",
        "What one score measures, in two dimensions."},
       vectors},
      {{"products", kScratch, "sections 0.2 and 0.4", "A product of matrices is all dot products at once",
        "Where a row of Q and a column of K^T meet."},
       products},
      {{"convex", kScratch, "section 0.5", "A convex combination of values",
        "Why an output lies between the values that it is made from."},
       convex},
      {{"reshape", kScratch, "section 5.1", "The reshape into heads", "Which number goes to which head."}, reshape},
  };
}

}  // namespace qkv::worked
