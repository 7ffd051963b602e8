// What goes wrong if: mistakes that are often made, on the reader's own numbers, beside what is right.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/listed.h"
#include "explain/bench/terms.h"
#include "explain/numbers.h"
#include "explain/plain.h"
#include "qkv/random.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

using namespace explain_detail;

using Make = BenchWrong (*)(const Bench&, std::int64_t d_k);

struct Mistake {
  std::string_view id;
  std::string_view title;
  std::string_view code;
  Make make;
};

[[noreturn]] void refuse(const std::string& expected, const std::string& got) {
  throw InvalidArgument("bench", "wrong", expected, got);
}

Tensor weights_of(const Bench& bench, const AttentionOptions& options) {
  BenchInputs inputs = bench.inputs();
  inputs.options = options;
  inputs.d_out = {};
  return Bench(std::move(inputs)).matrix("weights").values;
}

Tensor row_sums(const Tensor& matrix) {
  Tensor sums(DType::f64, {matrix.dim(0)});
  for (std::int64_t i = 0; i < matrix.dim(0); ++i) {
    const std::vector<double> row = matrix.view().select(0, i).to_vector();
    sums.values<double>()[static_cast<std::size_t>(i)] = std::accumulate(row.begin(), row.end(), 0.0);
  }
  return sums;
}

double mean_largest(const Tensor& weights) { return mean_spread(weights).largest; }

/// The row that the chosen query has in a matrix of pairs.
std::int64_t kept_row(const Bench& bench) { return bench.inputs().query - bench.matrix("weights").first_row; }

std::string row_text(const Tensor& matrix, std::int64_t row) {
  return vector_of(matrix.view().select(0, row).to_vector()).text;
}

BenchWrong compared(std::string matrix, Tensor right, Tensor wrong, std::string sentence) {
  return {.id = {},
          .title = {},
          .sentence = std::move(sentence),
          .matrix = std::move(matrix),
          .right = std::move(right),
          .wrong = std::move(wrong),
          .first = {},
          .code = {}};
}

BenchWrong scaled_by(const Bench& bench, double scale, const std::string& what) {
  AttentionOptions options = bench.inputs().options;
  options.scale = scale;
  const Tensor right = bench.matrix("weights").values;
  const Tensor wrong = weights_of(bench, options);
  return compared("weights", right, wrong,
                  fmt::format("{}: the largest weight of a row is {} on the average, and would be {}.", what,
                              said(mean_largest(wrong), 3), said(mean_largest(right), 3)));
}

// Of random queries, where the reader's own keys are too short to show it.
BenchWrong unscaled_random(std::int64_t d_k) {
  constexpr std::int64_t kTokens = 64;
  constexpr std::uint64_t kSeed = 42;
  Generator generator(kSeed);
  const auto draw = [&](std::int64_t width) { return generator.randn({1, 1, kTokens, width}, DType::f64); };
  // The worked example forget-scale draws its widths one after the other, and this shows its numbers.
  for (const std::int64_t narrower : {4, 64}) {
    for (int side = 0; side < 2 && narrower < d_k; ++side) static_cast<void>(draw(narrower));
  }
  const Tensor q = draw(d_k);
  const Tensor k = draw(d_k);
  const auto weights = [&](double scale) {
    AttentionOptions options;
    options.scale = scale;
    return matrix_of(attention_stage(q, k, options, Stage::weights), 0);
  };
  const Tensor right = weights(1 / std::sqrt(static_cast<double>(d_k)));
  const Tensor wrong = weights(1);
  return compared(
      "weights", right, wrong,
      fmt::format("{0} random queries on {0} keys of {1} numbers: unscaled, the largest weight is {2} on the average; "
                  "scaled, {3}. Softmax picks one key, and almost no gradient reaches the others.",
                  kTokens, d_k, said(mean_largest(wrong), 3), said(mean_largest(right), 3)));
}

BenchWrong no_scale(const Bench& bench, std::int64_t d_k) {
  if (d_k > 0) return unscaled_random(d_k);
  return scaled_by(bench, 1, "Without scaling");
}

BenchWrong model_scale(const Bench& bench, std::int64_t /*d_k*/) {
  constexpr std::int64_t kHeads = 8;
  const std::int64_t width = bench.inputs().x.empty() ? kHeads * bench.inputs().q.dim(3) : bench.inputs().x.dim(1);
  return scaled_by(bench, 1 / std::sqrt(static_cast<double>(width)),
                   fmt::format("Divided by √d_model = √{}, scores are too flat", width));
}

BenchWrong mask_after(const Bench& bench, std::int64_t /*d_k*/) {
  AttentionOptions masked = bench.inputs().options;
  if (masked.mask.is_all()) masked.mask = causal();
  AttentionOptions open = masked;
  open.mask = Mask();
  const Tensor right = weights_of(bench, masked);
  Tensor wrong(weights_of(bench, open).view(), DType::f64);
  for (std::size_t at = 0; at < wrong.values<double>().size(); ++at) {
    if (right.values<double>()[at] == 0) wrong.values<double>()[at] = 0;
  }
  BenchWrong mistake = compared("weights", right, wrong, {});
  mistake.sums = row_sums(wrong);
  const double sum = mistake.sums->at({kept_row(bench)});
  const double wanted = row_sums(right).at({kept_row(bench)});
  constexpr double kAlike = 5e-4;  // the same in three digits
  std::string rest = fmt::format(", not {}.", brief(std::round(wanted * 1e9) / 1e9));
  if (std::abs(sum - wanted) < kAlike) rest = ", for it sees every key: look at another row.";
  if (wanted == 0) rest = ": it sees nothing, before the softmax or after it.";
  mistake.sentence = fmt::format("Masked with {} after the softmax, the weights of the chosen row add up to {}{}",
                                 masked.mask.to_string(), said(sum, 3), rest);
  return mistake;
}

BenchWrong minus_1e9(const Bench& bench, std::int64_t /*d_k*/) {
  BenchInputs inputs = bench.inputs();
  inputs.d_out = {};
  inputs.options.mask = none();
  const Tensor right = Bench(inputs).matrix("out").values;
  inputs.options.mask = Mask();
  const Tensor scores = Bench(inputs).matrix(last_scores(bench) == "masked" ? "scaled" : last_scores(bench)).values;
  Tensor lowered(DType::f64, scores.shape());
  std::ranges::transform(scores.values<double>(), lowered.values<double>().begin(),
                         [](double score) { return static_cast<double>(static_cast<float>(score) - 1e9F); });
  const Tensor wrong = matmul(softmax(lowered, 1), bench.matrix("v").values);
  if (!(wrong.shape() == right.shape())) {
    refuse("a bench of at most " + std::to_string(kBenchPairs) + " pairs", "a longer text");
  }
  const std::int64_t query = bench.inputs().query;
  return compared(
      "out", right, wrong,
      fmt::format("Every key is hidden. With −1e9 in place of −∞ all scores are lowered alike, softmax sees no "
                  "difference, and the output is {}: values that must not be seen. With −∞ it is {}.",
                  row_text(wrong, query), row_text(right, query)));
}

BenchWrong wrong_axis(const Bench& bench, std::int64_t /*d_k*/) {
  const Tensor& right = bench.matrix("weights").values;
  const Tensor wrong = softmax(bench.matrix(last_scores(bench)).values, 0);
  BenchWrong mistake = compared("weights", right, wrong, {});
  mistake.sums = row_sums(wrong);
  mistake.sentence = fmt::format(
      "Softmax down the columns: the weights on each key that is seen add up to 1, those of a query need not; the "
      "chosen row adds up to {}.",
      said(mistake.sums->at({kept_row(bench)}), 3));
  return mistake;
}

/// As many keys as a key has numbers: the first ones but the last of them, and key `last`.
Tensor square_of(const Tensor& k, std::int64_t last) {
  const std::int64_t width = k.dim(1);
  Tensor square(k.view().slice(0, 0, width), DType::f64);
  for (std::int64_t d = 0; d < width; ++d) {
    square.values<double>()[static_cast<std::size_t>((width - 1) * width + d)] = k.at({last, d});
  }
  return square;
}

bool is_symmetric(const Tensor& square) {
  return largest_difference(square, Tensor(square.view().transpose(0, 1), DType::f64)) == 0;
}

BenchWrong no_transpose(const Bench& bench, std::int64_t /*d_k*/) {
  const Tensor& q = bench.matrix("q").values;
  const Tensor& k = bench.matrix("k").values;
  const std::int64_t width = k.dim(1);
  if (k.dim(0) < width) {
    refuse(fmt::format("{} keys or more, as many as their numbers", width), std::to_string(k.dim(0)));
  }
  // A symmetric square of keys would hide the mistake, and the bench's first two are one.
  std::int64_t last = width - 1;
  while (last + 1 < k.dim(0) && is_symmetric(square_of(k, last))) ++last;
  const Tensor square = square_of(k, last);
  const std::string keys = last == width - 1 ? fmt::format("the first {}", width)
                                             : fmt::format("the first {} and key {}", width - 1, last + 1);
  return compared(
      "raw", matmul(q, square.view().transpose(0, 1)), matmul(q, square),
      fmt::format("Q K without the transpose: [{0}, {1}] times [{2}, {1}] fits only where there are as many "
                  "keys as numbers in a key, and then nobody complains. Here with {3}.{4}",
                  q.dim(0), width, k.dim(0), keys,
                  is_symmetric(square) ? " They even agree: this square of keys is symmetric." : ""));
}

BenchWrong no_max(const Bench& bench, std::int64_t /*d_k*/) {
  constexpr double kTooLarge = 100;  // e^100 has no number in f32
  const Tensor& scores = bench.matrix(last_scores(bench)).values;
  double largest = 0;
  for (const double score : scores.values<double>()) {
    if (std::isfinite(score)) largest = std::max(largest, std::abs(score));
  }
  const double factor = largest == 0 ? 1 : kTooLarge / largest;
  Tensor stretched(DType::f64, scores.shape());
  std::ranges::transform(scores.values<double>(), stretched.values<double>().begin(),
                         [&](double score) { return score * factor; });
  Tensor wrong(DType::f64, scores.shape());
  for (std::int64_t i = 0; i < scores.dim(0); ++i) {
    float sum = 0;
    const auto power = [&](std::int64_t j) { return std::exp(static_cast<float>(stretched.at({i, j}))); };
    for (std::int64_t j = 0; j < scores.dim(1); ++j) sum += power(j);
    for (std::int64_t j = 0; j < scores.dim(1); ++j) {
      wrong.values<double>()[static_cast<std::size_t>(i * scores.dim(1) + j)] = static_cast<double>(power(j) / sum);
    }
  }
  return compared(
      "weights", softmax(stretched, 1), wrong,
      fmt::format(
          "The same scores times {}, in f32. e to the power of 100 is more than f32 can hold, ∞ / ∞ is no number. With "
          "the largest score taken out first, the largest power is e⁰ = 1.",
          brief(factor)));
}

Tensor reversed_rows(const Tensor& tensor) {
  const std::int64_t rows = tensor.dim(2);
  Tensor reversed(tensor.dtype(), tensor.shape());
  const std::int64_t width = tensor.dim(3);
  for (std::int64_t h = 0; h < tensor.dim(1); ++h) {
    for (std::int64_t t = 0; t < rows; ++t) {
      for (std::int64_t d = 0; d < width; ++d) {
        reversed.values<double>()[static_cast<std::size_t>((h * rows + t) * width + d)] =
            tensor.at({0, h, rows - 1 - t, d});
      }
    }
  }
  return reversed;
}

BenchWrong shuffled(const Bench& bench, std::int64_t /*d_k*/) {
  const BenchInputs& inputs = bench.inputs();
  const Tensor out =
      attention(reversed_rows(inputs.q), reversed_rows(inputs.k), reversed_rows(inputs.v), inputs.options).out;
  const Tensor wrong = matrix_of(reversed_rows(out), inputs.head);
  const Tensor& right = bench.matrix("out").values;
  const double difference = largest_difference(right, wrong);
  constexpr double kRounding = 1e-9;
  const std::string sentence = difference < kRounding ? "The words in reverse order give each word the same output: "
                                                        "without positions or a mask, attention does not see order."
                                                      : fmt::format(
                                                            "The words in reverse order change an output by up to {}: "
                                                            "the mask or the positions tell attention the order.",
                                                            said(difference, 3));
  return compared("out", right, wrong, sentence);
}

constexpr std::array<Mistake, 8> kMistakes = {{
    {"no-scale", "No scaling", "scores = q @ k.T                      # no / sqrt(d_k)", no_scale},
    {"model-scale", "Scaled by √d_model", "scores = q @ k.T / sqrt(d_model)      # d_k is meant", model_scale},
    {"mask-after", "Mask after softmax", "weights = softmax(scores) * visible   # the row no longer sums to 1",
     mask_after},
    {"minus-1e9", "−1e9 for −∞", "scores = where(visible, scores, -1e9) # a row that sees nothing", minus_1e9},
    {"wrong-axis", "Softmax over the wrong axis", "weights = softmax(scores, axis=0)     # axis=-1 is meant",
     wrong_axis},
    {"no-transpose", "No transpose", "scores = q @ k                        # k.T is meant", no_transpose},
    {"no-max", "The maximum left in", "weights = exp(scores) / exp(scores).sum()", no_max},
    {"shuffled", "Words shuffled, no positions", "x = embedding[ids]                    # no positions added",
     shuffled},
}};

std::vector<std::int64_t> first_difference(const Tensor& right, const Tensor& wrong) {
  constexpr double kRounding = 1e-9;
  for (std::int64_t i = 0; i < right.dim(0); ++i) {
    for (std::int64_t j = 0; j < right.dim(1); ++j) {
      const double difference = std::abs(right.at({i, j}) - wrong.at({i, j}));
      if (!(difference < kRounding)) return {i, j};
    }
  }
  return {};
}

}  // namespace

const std::vector<std::string>& bench_mistakes() {
  static const std::vector<std::string> kIds = [] {
    std::vector<std::string> ids;
    for (const Mistake& mistake : kMistakes) ids.emplace_back(mistake.id);
    return ids;
  }();
  return kIds;
}

BenchWrong bench_mistake(const Bench& bench, std::string_view id, std::int64_t d_k) {
  const auto mistake = std::ranges::find(kMistakes, id, &Mistake::id);
  if (mistake == kMistakes.end()) {
    refuse("one of " + core::joined(bench_mistakes()), "\"" + std::string(id) + "\"");
  }
  BenchWrong wrong = mistake->make(bench, d_k);
  wrong.id = mistake->id;
  wrong.title = mistake->title;
  wrong.code = mistake->code;
  wrong.first = first_difference(wrong.right, wrong.wrong);
  return wrong;
}

}  // namespace qkv
