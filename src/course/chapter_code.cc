#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/exact_math.h"
#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"

namespace qkv::worked {
namespace {

/// The chapter's C++, Java and Go loops: exp(score / sqrt(d_k) - max), the maximum taken before the scaling.
Tensor softmax_with_unscaled_maximum(const TensorView& raw, double d_k) {
  std::vector<double> values = raw.to_vector();
  const double maximum = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) {
    value = core::exp(value / std::sqrt(d_k) - maximum);
    sum += value;
  }
  for (double& value : values) value /= sum;
  return vector_of(values);
}

bool any_nan(const TensorView& values) {
  const std::vector<double> all = values.to_vector();
  return std::any_of(all.begin(), all.end(), [](double value) { return std::isnan(value); });
}

/// 64 equal elements a row: q · k = 64 q k.
Tensor rows_of(const std::vector<double>& values) {
  Rows rows;
  for (const double value : values) rows.emplace_back(64, value);
  return matrix_of(rows);
}

void softmax_maximum(Worked& worked) {
  const Tensor q = rows_of({4});
  struct Case {
    const char* title;
    Tensor k;
  };
  const std::vector<Case> cases = {{"Moderate scores", rows_of({0.1, 0.05, 0})},
                                   {"Large scores", rows_of({4, 3.9, 3.8})},
                                   {"Large negative scores", rows_of({-4, -3.9, -3.8})}};
  std::vector<Tensor> wrong;
  std::vector<Tensor> right;
  for (const Case& one : cases) {
    const OneHead head = one_head(q, one.k, one.k);
    const Tensor raw(head.raw.view().select(0, 0));
    wrong.push_back(softmax_with_unscaled_maximum(raw, 64));
    right.emplace_back(head.weights.view().select(0, 0));
    worked.steps.push_back(
        {one.title,
         "exp(s / 8 - max s) against exp(s / 8 - max s / 8)",
         "",
         {shown("raw", raw, 1), shown("as in the listing", wrong.back()), shown("qkv", right.back())}});
  }
  const double moderate = largest_difference(wrong[0], right[0]);
  // Exponents of order 30 carry 30 * 2^-53 each, and so does what they make.
  worked.claims = {
      statement("C++, Java and Go listings, moderate scores", "softmax",
                fmt::format("largest difference {}", bound_text(moderate)), holds_if(moderate <= 4 * 30 * 0x1p-53),
                "Any constant may be subtracted, as long as exp neither overflows nor underflows."),
      statement("the same listings, scores near 1000", "softmax", text_of(wrong[1], 4), holds_if(!any_nan(wrong[1])),
                "Every exp(s / 8 - 1024) is 0, and 0 / 0 is NaN; the right weights are " + text_of(right[1], 4) + "."),
      statement("the same listings, scores near -1000", "softmax", text_of(wrong[2], 4), holds_if(!any_nan(wrong[2])),
                "Every exp is infinite, and so is their sum. The C, JavaScript and NumPy listings scale first."),
  };
}

Tensor divided_by_std_plus_eps(const TensorView& x, double eps) {
  std::vector<double> values = x.to_vector();
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / n;
  for (double& value : values) value = (value - mean) / (std::sqrt(variance) + eps);
  return vector_of(values);
}

void layer_norm_epsilon(Worked& worked) {
  const auto compare = [&](const char* title, const Tensor& x) {
    const Tensor of_listing = divided_by_std_plus_eps(x, 1e-5);
    const Tensor ours = explain_detail::layer_norm(x);
    worked.steps.push_back({title,
                            "(x - mean) / (std + eps) against (x - mean) / sqrt(var + eps), eps = 1e-5",
                            "",
                            {shown("x", x), shown("std + eps", of_listing), shown("sqrt(var + eps)", ours)}});
    return largest_difference(of_listing, ours);
  };
  const double ordinary = compare("Ordinary rows", vector_of({1, 2, 3, 4}));
  const double small = compare("A row that hardly varies", vector_of({0.001, 0.002, 0.003, 0.004}));
  worked.claims = {statement(
      "section 9, layer_norm in NumPy", "(x - mean) / (std + eps)",
      fmt::format("differs from sqrt(var + eps) by {:.1e} for an ordinary row, by {:.2f} for a small one", ordinary,
                  small),
      Holds::no,
      "LayerNorm has epsilon under the root, as the chapter's own JavaScript, C++, Java and Go listings do.")};
}

void gelu_constant(Worked& worked) {
  worked.claims = {
      figure("section 9, sqrt(2 / pi) in the GELU listings", "0.7978845608", std::sqrt(2 / std::numbers::pi))};
}

}  // namespace

std::vector<Entry> chapter_code() {
  return {
      {{"softmax-max", kChapter, "section 5, C++, Java and Go listings", "The maximum of the unscaled scores",
        "Subtracting the wrong maximum gives NaN once scores are large."},
       softmax_maximum},
      {{"layernorm-eps", kChapter, "section 9, NumPy listing", "Where epsilon stands",
        "std + eps is another function than sqrt(var + eps)."},
       layer_norm_epsilon},
      {{"gelu-constant", kChapter, "section 9", "The constant of the tanh GELU", "sqrt(2 / pi) to ten digits."},
       gelu_constant},
  };
}

}  // namespace qkv::worked
