// The steps from a query to its output, in sentences about that query.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/bench/terms.h"
#include "explain/numbers.h"
#include "explain/words.h"

namespace qkv {
namespace {

using namespace explain_detail;
using math::Term;

constexpr std::size_t kFormulas = 12;  // of one step; the heaviest keys where there are more

/// The chosen query with what is known of it.
struct Asking {
  explicit Asking(const Bench& of)
      : bench(of),
        query(of.inputs().query),
        name(distinct_names(of.inputs().queries)[static_cast<std::size_t>(query)]),
        keys(distinct_names(of.inputs().keys)),
        weights(row_of(of.matrix("weights"), query)) {}

  [[nodiscard]] std::vector<double> row(std::string_view matrix) const { return row_of(bench.matrix(matrix), query); }

  /// The keys that are shown, in their order: all, or the heaviest.
  [[nodiscard]] std::vector<std::size_t> shown() const {
    std::vector<std::size_t> all(weights.size());
    std::iota(all.begin(), all.end(), 0);
    if (all.size() <= kFormulas) return all;
    const auto rank = [&](std::size_t key) { return std::isnan(weights[key]) ? -1.0 : weights[key]; };
    std::ranges::sort(all,
                      [&](std::size_t a, std::size_t b) { return rank(a) > rank(b) || (rank(a) == rank(b) && a < b); });
    all.resize(kFormulas);
    std::ranges::sort(all);
    return all;
  }

  [[nodiscard]] bool sees_nothing() const { return total() == 0; }
  /// What the weights add up to: 1, 0 for a query that sees nothing, in between beside a sink.
  [[nodiscard]] double total() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }

  const Bench& bench;
  std::int64_t query;
  std::string name;
  std::vector<std::string> keys;
  std::vector<double> weights;
};

constexpr double kRoundedOff = 1e-9;  // how far a sum of weights may be from 1 and still be called so

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Term row_equation(const Asking& asking, std::string_view matrix) {
  return equation({row_symbol(matrix, asking.query), vector_of(asking.row(matrix))});
}

/// The written-out number of a matrix for each key that is shown.
std::vector<Formula> for_each_key(const Asking& asking, std::string_view matrix) {
  std::vector<Formula> formulas;
  for (const std::size_t key : asking.shown()) {
    formulas.push_back(asking.bench.number(fmt::format("{}:{},{}", matrix, asking.query, key)).formula);
  }
  return formulas;
}

std::string ask_sentence(const Asking& asking) {
  return fmt::format("“{}” asks. Its query says what it looks for; it is held against the key of every token.",
                     asking.name);
}

BenchStep query_step(const Asking& asking) {
  const bool is_projected = asking.bench.find("x") != nullptr;
  BenchStep step{.id = "query",
                 .title = "Query",
                 .sentence = ask_sentence(asking),
                 .formulas = {row_equation(asking, "q")},
                 .made = {"q"},
                 .used = {}};
  if (is_projected) {
    step.made = {"q", "k", "v"};
    step.used = {"x", "w_q", "w_k", "w_v"};
    if (asking.bench.find("embedded") != nullptr) step.used.insert(step.used.begin(), {"embedded", "encoding"});
    const Term projected = math::row({row_symbol("x", asking.query), math::typeset("W_Q")});
    step.formulas = {equation({row_symbol("q", asking.query), projected, vector_of(asking.row("q"))})};
  }
  return step;
}

std::string best_key_sentence(const Asking& asking) {
  const std::vector<double> raw = asking.row("raw");
  const double best = *std::ranges::max_element(raw);
  std::string names;
  int count = 0;
  for (std::size_t key = 0; key < raw.size(); ++key) {
    if (raw[key] != best) continue;
    if (++count <= 3) names += (names.empty() ? "" : " and ") + fmt::format("“{}”", asking.keys[key]);
  }
  if (count > 3) names = fmt::format("{} keys", count);
  return fmt::format(
      "A dot product multiplies number by number and adds up: the larger, the better the key fits. {} {}, with {}{}.",
      count == 1 ? "The best fit is" : "The best fits are", names, brief(best), count == 1 ? "" : " each");
}

BenchStep dots_step(const Asking& asking) {
  return {.id = "dots",
          .title = "Dot products",
          .sentence = best_key_sentence(asking),
          .formulas = for_each_key(asking, "raw"),
          .made = {"raw"},
          .used = {"q", "k"}};
}

std::string scale_sentence(const Asking& asking) {
  const Bench& bench = asking.bench;
  const std::int64_t width = bench.inputs().q.dim(3);
  if (bench.inputs().options.scale) {
    const double scale = bench.scale();
    return fmt::format("Each product is multiplied by {}, as asked.{}", brief(scale),
                       scale < 0    ? " That turns their order round: the best fit gets the lowest score."
                       : scale == 0 ? " All keys score alike."
                                    : "");
  }
  return fmt::format(
      "Each product is divided by √d_k = √{} ≈ {}. The longer the keys, the larger products grow; divided, they keep "
      "their spread.",
      width, brief(std::sqrt(static_cast<double>(width))));
}

BenchStep one_of_scores(const Asking& asking, const std::string& id, const std::string& title, std::string sentence) {
  return {.id = id,
          .title = title,
          .sentence = std::move(sentence),
          .formulas = for_each_key(asking, id),
          .made = {id},
          .used = {rule_of(asking.bench, id).sources.front().matrix}};
}

std::string mask_sentence(const Asking& asking) {
  const BenchMatrix& masked = asking.bench.matrix("masked");
  std::int64_t hidden = 0;
  for (std::int64_t j = 0; j < masked.values.dim(1); ++j) {
    hidden += masked.hidden->at({asking.query - masked.first_row, j}) != 0 ? 1 : 0;
  }
  if (hidden == 0) {
    return fmt::format("The mask {} hides no key from “{}”: its scores stay as they are.",
                       asking.bench.inputs().options.mask.to_string(), asking.name);
  }
  return fmt::format("The mask {} hides {} of {} keys from “{}”: their scores become −∞, their weights 0.",
                     asking.bench.inputs().options.mask.to_string(), hidden, masked.values.dim(1), asking.name);
}

BenchStep scale_step(const Asking& asking) {
  BenchStep step = one_of_scores(asking, "scaled", "Scale", scale_sentence(asking));
  step.id = "scale";
  const Bench& bench = asking.bench;
  if (bench.find("softcapped") != nullptr) {
    step.inner.push_back(
        one_of_scores(asking, "softcapped", "Softcap", "Large scores are pressed together, so that none runs away."));
  }
  if (bench.find("biased") != nullptr) {
    step.inner.push_back(one_of_scores(asking, "biased", "Bias",
                                       fmt::format("The bias {} is added.", bench.inputs().options.bias.to_string())));
  }
  if (bench.find("masked") != nullptr) {
    step.inner.push_back(one_of_scores(asking, "masked", "Mask", mask_sentence(asking)));
  }
  for (const BenchStep& inner : step.inner) step.made.push_back(inner.made.front());
  return step;
}

Formula number_formula(const Asking& asking, std::string_view matrix) {
  return asking.bench.number(fmt::format("{}:{},0", matrix, asking.query)).formula;
}

/// What the parts of the softmax do to the row, as it is.
struct SoftmaxSentences {
  std::string max, exp, total, divide;
};

SoftmaxSentences softmax_sentences(const Asking& asking) {
  if (asking.sees_nothing()) {
    return {.max = fmt::format("“{}” sees nothing: all its scores are −∞, and there is no largest one to take out.",
                               asking.name),
            .exp = "e to the power of −∞ is 0.",
            .total = "There is nothing to lay end to end: the sum is 0.",
            .divide = "Nothing is divided by a sum of 0: all weights are 0."};
  }
  const std::vector<double> powers = asking.row("exp");
  const bool has_hidden = std::ranges::find(powers, 0.0) != powers.end();
  const double total = asking.total();
  return {.max = "The largest score is taken out of all: the shares stay the same, and no exponential overflows.",
          .exp = fmt::format("e to the power of each score makes {} positive, and large ones stand out{}.",
                             has_hidden ? "all that are seen" : "all of them", has_hidden ? "; of −∞ it is 0" : ""),
          .total = "Laid end to end they make a strip; its length is the sum.",
          .divide = total < 1 - kRoundedOff
                        ? fmt::format("Each piece over the whole strip and the sink is a weight. All of them make {}.",
                                      brief(total))
                        : "Each piece over the whole strip is a weight. All of them make 1."};
}

std::vector<BenchStep> inside_softmax(const Asking& asking) {
  const std::string scores = last_scores(asking.bench);
  SoftmaxSentences says = softmax_sentences(asking);
  return {{.id = "max",
           .title = "Largest",
           .sentence = std::move(says.max),
           .formulas = {number_formula(asking, "max")},
           .made = {"max"},
           .used = {scores}},
          {.id = "exp",
           .title = "Exponentials",
           .sentence = std::move(says.exp),
           .formulas = for_each_key(asking, "exp"),
           .made = {"exp"},
           .used = {scores, "max"}},
          {.id = "total",
           .title = "Sum",
           .sentence = std::move(says.total),
           .formulas = {number_formula(asking, "sum")},
           .made = {"sum"},
           .used = {"exp"}},
          {.id = "divide",
           .title = "Divide",
           .sentence = std::move(says.divide),
           .formulas = for_each_key(asking, "weights"),
           .made = {"weights"},
           .used = {"exp", "sum"}}};
}

/// The key of the largest weight and its share; all such keys, where several have it.
std::string heaviest(const Asking& asking) {
  const double share = *std::ranges::max_element(asking.weights);
  std::vector<std::size_t> keys;
  for (std::size_t key = 0; key < asking.weights.size(); ++key)
    if (asking.weights[key] >= share * (1 - 1e-12)) keys.push_back(key);
  if (keys.size() == 1) return fmt::format("“{}”: {}", asking.keys[keys[0]], percent(share));
  if (keys.size() == 2)
    return fmt::format("“{}” and “{}”: {} each", asking.keys[keys[0]], asking.keys[keys[1]], percent(share));
  return fmt::format("{} words alike: {} each", keys.size(), percent(share));
}

BenchStep softmax_step(const Asking& asking) {
  BenchStep step{.id = "softmax",
                 .title = "Softmax",
                 .sentence = {},
                 .formulas = {row_equation(asking, "weights")},
                 .made = {"max", "exp", "sum", "weights"},
                 .used = {last_scores(asking.bench)},
                 .inner = inside_softmax(asking)};
  step.sentence = asking.sees_nothing() ? fmt::format("“{}” sees nothing: all its weights are 0.", asking.name)
                                        : fmt::format("Softmax turns scores into shares of 1. “{}” takes most from {}.",
                                                      asking.name, heaviest(asking));
  return step;
}

Formula sum_formula(const Asking& asking) {
  std::vector<Term> terms;
  const std::vector<std::size_t> keys = asking.shown();
  for (const std::size_t key : keys) {
    const std::vector<double> value = row_of(asking.bench.matrix("v"), static_cast<std::int64_t>(key));
    terms.push_back(math::row({factor_of(asking.weights[key]), math::op("·"), vector_of(value)}));
  }
  Term sum = joined(terms, "+");
  if (keys.size() < asking.weights.size()) {
    std::vector<double> others = asking.weights;
    for (const std::size_t key : keys) others[key] = 0;
    const double rest = std::accumulate(others.begin(), others.end(), 0.0);
    sum = math::row(
        {sum, math::words(fmt::format("+ {} others of weight {}", asking.weights.size() - keys.size(), brief(rest)))});
  }
  return equation({row_symbol("out", asking.query), sum, vector_of(asking.row("out"))});
}

std::string sum_sentence(const Asking& asking) {
  if (asking.sees_nothing()) {
    return fmt::format("“{}” sees nothing: there is nothing to mix, and its output is all zeros.", asking.name);
  }
  const double total = asking.total();
  const auto seen = std::ranges::count_if(asking.weights, [](double weight) { return weight > 0; });
  if (total < 1 - kRoundedOff) {
    return fmt::format(
        "The output of “{}” is the values, mixed in these shares of {}: the sink has the rest, and pulls the output "
        "towards 0.",
        asking.name, brief(total));
  }
  if (seen == 1) {
    const auto key = std::ranges::find_if(asking.weights, [](double weight) { return weight > 0; });
    return fmt::format("The output of “{}” is the value of “{}” as it is: no other key has a share.", asking.name,
                       asking.keys[static_cast<std::size_t>(key - asking.weights.begin())]);
  }
  return fmt::format("The output of “{}” is the values, mixed in these shares: it lies between them.", asking.name);
}

BenchStep sum_step(const Asking& asking) {
  return {.id = "sum",
          .title = "Weighted sum",
          .sentence = sum_sentence(asking),
          .formulas = {sum_formula(asking)},
          .made = {"out"},
          .used = {"weights", "v"}};
}

BenchStep heads_step(const Asking& asking) {
  const std::int64_t heads = asking.bench.inputs().q.dim(1);
  const std::string side_by_side =
      heads == 1 ? "There is one head; its output"
                 : fmt::format("{} heads look at once, each in its own way. Their outputs stand side by side, and that",
                               heads);
  return {.id = "heads",
          .title = "Heads",
          .sentence = fmt::format("{} is multiplied by W_O: “{}” has a vector as long as the one it came with.",
                                  side_by_side, asking.name),
          .formulas = {row_equation(asking, "concat"),
                       equation({row_symbol("output", asking.query),
                                 math::row({row_symbol("concat", asking.query), math::typeset("W_O")}),
                                 vector_of(asking.row("output"))})},
          .made = {"concat", "output"},
          .used = {"out", "w_o"}};
}

}  // namespace

std::vector<BenchStep> Bench::steps() const {
  const Asking asking(*this);
  std::vector<BenchStep> steps = {query_step(asking), dots_step(asking), scale_step(asking), softmax_step(asking),
                                  sum_step(asking)};
  if (find("output") != nullptr) steps.push_back(heads_step(asking));
  return steps;
}

}  // namespace qkv
