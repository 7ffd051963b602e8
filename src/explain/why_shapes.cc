// Why the axis, the transpose and the packing matter: the slips that run without an error.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "explain/drawing.h"
#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/plain.h"
#include "explain/sections.h"
#include "qkv/heads.h"
#include "qkv/random.h"
#include "qkv/softmax.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

constexpr std::int64_t kShapeRows = 16;

double sum_of_row(const Tensor& weights, std::int64_t row) {
  const std::vector<double> values = weights.view().select(0, row).to_vector();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Section axis_why(const Run& run) {
  const Tensor scores = matrix_of(run.stage(Stage::masked), 0);
  const Tensor right = matrix_of(run.stage(Stage::weights), 0);
  const Tensor wrong = softmax(scores, 0);
  Section why;
  why.id = "softmax-axis";
  why.title = "Why softmax along the keys?";
  why.text =
      "Softmax over the other axis has the same shape and no error: the columns sum to 1, so each key divides itself "
      "among "
      "the queries, and a query's output is no average any more.";
  Table table{"Head 0: sum of each query's weights", {"query", "softmax over queries", "softmax over keys"}, {}};
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (std::int64_t i = 0; i < run.tq(); ++i) {
    const double sum = sum_of_row(wrong, i);
    low = std::min(low, sum);
    high = std::max(high, sum);
    if (i >= kShapeRows) continue;
    table.rows.push_back(
        {word(run.queries.tokens[static_cast<std::size_t>(i)]), rounded(sum), rounded(sum_of_row(right, i))});
  }
  const Tensor values = matrix_of(run.v, 0);
  why.tables = {std::move(table)};
  why.notes.push_back(fmt::format("Head 0's output would be off by up to {}.",
                                  said(largest_difference(matmul(wrong, values), matmul(right, values)))));
  why.finding = run.tq() == 1 && run.tk() == 1
                    ? "one token cannot show it: along either axis its one weight is 1; try a longer text"
                    : fmt::format("over the wrong axis a query's weights sum to anything from {} to {}", said(low, 3),
                                  said(high, 3));
  return why;
}

std::string refused_product(const TensorView& q, const TensorView& k) {
  try {
    return "accepted: " + matmul(q, k).shape().to_string();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

Section transpose_why(std::uint64_t seed) {
  constexpr std::int64_t kWidth = 4;
  Generator generator(seed);
  const Tensor q = generator.randn({kWidth, kWidth}).to(DType::f64);
  const Tensor k = generator.randn({kWidth, kWidth}).to(DType::f64);
  const Tensor longer = generator.randn({kWidth + 1, kWidth}).to(DType::f64);
  const Tensor right = matmul(q, k.view().transpose(0, 1));
  const double difference = largest_difference(right, matmul(q, k));
  Section why;
  why.id = "transpose";
  why.title = "Why K transposed?";
  why.text =
      "Rows of Q and rows of K are to be multiplied, so K has to be turned. Forgotten, the product is refused, unless "
      "there "
      "are just as many keys as dimensions: then it runs, and multiplies queries with columns of K that are no key at "
      "all.";
  why.tables.push_back(
      {"Q · K without the transpose",
       {"Q", "K", "outcome"},
       {{word("[4, 4]"), word("[4, 4]"), word(fmt::format("runs, and is off by up to {}", said(difference)))},
        {word("[5, 4]"), word("[5, 4]"), word(refused_product(longer, longer))}}});
  why.finding =
      fmt::format("with T = d_k = {} Q·K runs without an error and is off by up to {}", kWidth, said(difference, 2));
  return why;
}

std::string slip_in_words(const Run& run, double slip) {
  if (run.heads == 1) return "with one head a reshape without the transpose changes nothing";
  if (run.tq() == 1) return "one token cannot show what a reshape without the transpose mixes; try a longer text";
  return fmt::format("a reshape without the transpose is off by {}", said(slip, 2));
}

Section packing_why(const Scene& scene) {
  const Run& run = *scene.run;
  const DrawnParameters& parameters = scene.model->parameters();
  const Tensor& input =
      run.block && !run.block->norm_1.empty() && scene.options->surroundings == Surroundings::pre_norm_block
          ? run.block->norm_1
          : run.queries.x;
  const Tensor product = matmul(input.view().unsqueeze(0), parameters.w_q);
  const Tensor packed(split_heads(product, run.heads));
  double difference = 0;
  for (std::int64_t h = 0; h < run.heads; ++h) {
    const Tensor own(parameters.w_q.view().slice(1, h * run.d_k, (h + 1) * run.d_k));
    difference = std::max(difference, largest_difference(matrix_of(packed, h), matmul(input, own)));
  }
  const std::int64_t count = parameters.w_q.size();
  // The slip: reshaping [T, H d_k] straight to [H, T, d_k] without the transpose mixes tokens into heads.
  const TensorView mixed = product.view().reshape({1, run.heads, run.tq(), run.d_k});
  const double slip = largest_difference(packed, mixed);
  Section why;
  why.id = "packing";
  why.title = "Why one projection for all heads?";
  why.text =
      "A matrix for each head, or one matrix split afterwards: the same numbers, but one product instead of many. The "
      "split "
      "is a reshape to [T, H, d_k] and then a transpose; reshaping straight to [H, T, d_k] gives the right shape and "
      "the "
      "wrong numbers.";
  why.tables.push_back({"Q of every head, two ways",
                        {"way", "parameters", "largest difference"},
                        {{word("one after another"), whole(run.heads * (count / run.heads)), word("—")},
                         {word("packed, [T, H, d_k] then transposed"), whole(count), rounded(difference)},
                         {word("packed, reshaped straight to [H, T, d_k]"), whole(count), rounded(slip)}}});
  why.finding = fmt::format("packed and one by one differ by {}; ", difference == 0 ? "0" : said(difference));
  why.finding += slip_in_words(run, slip);
  return why;
}

Section epsilon_why(const Scene& scene) {
  constexpr double kEpsilon = 1e-5;
  Section why;
  why.id = "epsilon";
  why.title = "Where does LayerNorm's ε stand?";
  why.text =
      "Under the root: √(var + ε). Adding it to the standard deviation instead is a different function; the difference "
      "is "
      "small for ordinary rows and large for rows of almost equal numbers.";
  Table table{"LayerNorm of a row of 8 numbers", {"spread of the row", "√(var + ε)", "std + ε", "ratio"}, {}};
  double last = 0;
  for (const double spread : {1.0, 1e-2, 1e-4, 1e-6}) {
    Generator generator(scene.options->seed);
    Tensor row = generator.randn({1, 8}, DType::f64);
    for (double& value : row.values<double>()) value *= spread;
    // How far LayerNorm pulls the row together: by 1 / sqrt(var + epsilon).
    const Tensor normed = layer_norm(row, kEpsilon);
    const double inverse = (normed.at({0, 0}) - normed.at({0, 1})) / (row.at({0, 0}) - row.at({0, 1}));
    const double deviation = std::sqrt(std::max(0.0, 1.0 / (inverse * inverse) - kEpsilon));
    last = inverse * (deviation + kEpsilon);
    table.rows.push_back(
        {rounded(spread, 6), rounded(1.0 / inverse, 7), rounded(deviation + kEpsilon, 7), rounded(last, 4)});
  }
  why.tables = {std::move(table)};
  why.finding =
      fmt::format("for a row whose spread is 1e-6 the two divide by numbers {} apart",
                  last < 1 ? fmt::format("a factor {:.0f}", 1.0 / last) : fmt::format("a factor {:.1f}", last));
  return why;
}

}  // namespace

std::vector<Section> whys_about_shapes(const Scene& scene) {
  std::vector<Section> whys = {axis_why(*scene.run), transpose_why(scene.options->seed)};
  if (scene.model != nullptr) whys.push_back(packing_why(scene));
  if (scene.options->surroundings != Surroundings::attention_only) whys.push_back(epsilon_why(scene));
  return whys;
}

}  // namespace qkv::explain_detail
