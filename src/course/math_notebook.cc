#include <fmt/format.h>

#include <cmath>

#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"
#include "qkv/random.h"
#include "qkv/softmax.h"

namespace qkv::worked {
namespace {

using explain_detail::matmul;

constexpr const char* kX =
    "[[ 1.93  1.49  0.9  -2.11  0.68 -1.23 -0.04 -1.6 ] [-0.75  1.65 -0.39 -1.4  -0.73 -0.56 -0.77  0.76] "
    "[ 1.64 -0.16 -0.5   0.44 -0.76  1.08  0.8   1.68] [ 1.28  1.3   0.61  1.33 -0.23  0.04 -0.25  0.86]]";
constexpr const char* kScores =
    "[[ 48.36  -1.43   7.06  16.17] [  1.88  14.59 -10.85 -11.88] [-20.9   -3.98  16.85   5.96] "
    "[  7.22   3.67  49.61  35.63]]";
constexpr const char* kScaled =
    "[[17.1  -0.51  2.5   5.72] [ 0.67  5.16 -3.84 -4.2 ] [-7.39 -1.41  5.96  2.11] [ 2.55  1.3  17.54 12.6 ]]";
constexpr const char* kWeights =
    "[[1.    0.    0.    0.   ] [0.011 0.989 0.    0.   ] [0.    0.001 0.979 0.021] [0.    0.    0.993 0.007]]";
constexpr const char* kOutput =
    "[[-3.69  0.8   9.47 -2.52 -6.27 -0.84 -3.96 -3.32] [-1.78  5.17  3.8   2.56 -3.    1.6   0.38  5.11] "
    "[-5.22  3.38 -5.24  0.9   3.28 -0.42  3.67 -0.99] [-5.21  3.4  -5.28  0.9   3.34 -0.39  3.69 -1.06]]";

/// Equal to 1e-5, the default tolerance of the seed's torch.allclose.
WorkedClaim match(const char* what, const TensorView& a, const TensorView& b) {
  const double difference = largest_difference(a, b);
  return statement(what, "True", fmt::format("largest difference {}", bound_text(difference)),
                   holds_if(difference <= 1e-5));
}

void compute(Worked& worked) {
  Generator generator(42);
  const Tensor x = generator.randn({4, 8});
  const Tensor w_q = generator.randn({8, 8});
  const Tensor w_k = generator.randn({8, 8});
  const Tensor w_v = generator.randn({8, 8});
  const Tensor q = matmul(x, w_q);
  const Tensor k = matmul(x, w_k);
  const Tensor v = matmul(x, w_v);
  const OneHead head = one_head(q, k, v);
  const Tensor by_steps = matmul(head.weights, v);

  worked.steps = {
      {"Four tokens of width 8", "X = randn(4, 8), seed 42", "", {shown("X", x, 2)}},
      {"Projections",
       "Q = X W_Q, K = X W_K, V = X W_V",
       "Each W is randn(8, 8), drawn in this order.",
       {shown("Q", q, 2), shown("K", k, 2), shown("V", v, 2)}},
      {"Scores", "S = Q K^T", "", {shown("scores", head.raw, 2)}},
      {"Scaled", "S / sqrt(8) = S / 2.83", "", {shown("scaled", head.scaled, 2)}},
      {"Weights",
       "softmax of each row",
       "With random projections of variance 1 the scores have variance 8^3, so that "
       "even after scaling each row is all but one-hot.",
       {shown("weights", head.weights, 3)}},
      {"Output", "weights · V", "", {shown("output", head.out, 2)}},
  };
  worked.claims = {
      figure("cell 2, X", kX, x),
      statement("cell 3, shapes of Q, K, V", "[4, 8] each",
                fmt::format("{}, {}, {}", q.shape().to_string(), k.shape().to_string(), v.shape().to_string()),
                holds_if(q.shape() == Shape{4, 8} && k.shape() == q.shape() && v.shape() == q.shape())),
      figure("cell 4, scores", kScores, head.raw),
      figure("cell 5, scale factor", "2.83", std::sqrt(8.0)),
      figure("cell 5, scaled scores", kScaled, head.scaled),
      figure("cell 6, attention weights", kWeights, head.weights),
      figure("cell 6, row sums", "[1. 1. 1. 1.]", row_sums(head.weights), "", 6),
      figure("cell 7, output", kOutput, head.out),
      match("cell 8, the function's output matches", head.out, by_steps),
      match("cell 8, its weights match", head.weights, softmax(head.scaled, -1)),
  };
}

}  // namespace

std::vector<Entry> math_notebook() {
  return {{{"math", kMath, "cells 2 to 8", "Single-head attention, seed 42",
            "Every printed table of the notebook, from the same random numbers."},
           compute}};
}

}  // namespace qkv::worked
