// Why the scores are divided by the root of d_k: variance, saturation, and what forgetting it does to this text.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/sections.h"
#include "qkv/random.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

constexpr std::array<std::int64_t, 5> kWidths = {4, 16, 64, 256, 1024};
constexpr std::int64_t kPairs = 2000;
constexpr std::int64_t kRows = 128;
constexpr std::int64_t kKeys = 16;

std::vector<double> dot_products(Generator& generator, std::int64_t count, std::int64_t width) {
  const Tensor q = generator.randn({count, width});
  const Tensor k = generator.randn({count, width});
  std::vector<double> products;
  products.reserve(static_cast<std::size_t>(count));
  const float* a = q.values<float>().data();
  const float* b = k.values<float>().data();
  for (std::int64_t row = 0; row < count; ++row) {
    double dot = 0;
    for (std::int64_t d = 0; d < width; ++d) dot += static_cast<double>(*a++) * static_cast<double>(*b++);
    products.push_back(dot);
  }
  return products;
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Moments moments;
  moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  for (const double value : values) moments.variance += (value - moments.mean) * (value - moments.mean);
  moments.variance /= count - 1;
  return moments;
}

Formula variance_formula() {
  const Term qk = row({name("q"), op("·"), name("k")});
  const Term width = sub(name("d"), name("k"));
  return row({call("Var", qk), op("="), width, words("so"), call("Var", row({qk, op("/"), root(width)})), op("="),
              number("1")});
}

Series series(std::string series_name) {
  Series one;
  one.name = std::move(series_name);
  return one;
}

Chart width_chart(std::string title, std::string y_axis, std::vector<Series> lines) {
  Chart chart;
  chart.title = std::move(title);
  chart.x = logarithmic_axis("d_k", Unit::tokens);
  chart.y = logarithmic_axis(std::move(y_axis));
  chart.series = std::move(lines);
  return chart;
}

void add_point(Series& line, std::int64_t x, double y) {
  line.x.push_back(static_cast<double>(x));
  line.y.push_back(y);
}

Section variance_why(std::uint64_t seed) {
  Section why;
  why.id = "variance";
  why.title = "Why divide by √d_k? The variance of q · k";
  why.text = fmt::format(
      "A dot product adds d_k terms. If each has variance 1, the sum has variance d_k. Measured on {} pairs of normal "
      "vectors for each width, drawn just now from seed {}; a variance from so many is uncertain by about {:.1f} %.",
      kPairs, seed, 100 * std::sqrt(2.0 / static_cast<double>(kPairs - 1)));
  why.formulas = {variance_formula()};
  Table table{"", {"d_k", "mean of q·k", "Var(q·k)", "Var(q·k) / d_k", "Var(q·k / √d_k)"}, {}};
  Series before = series("q·k");
  Series after = series("q·k / √d_k");
  Generator generator(seed);
  Moments last;
  double last_scaled = 0;
  for (const std::int64_t width : kWidths) {
    std::vector<double> products = dot_products(generator, kPairs, width);
    last = moments_of(products);
    for (double& product : products) product /= std::sqrt(static_cast<double>(width));
    last_scaled = moments_of(products).variance;
    table.rows.push_back({whole(width), rounded(last.mean, 3), rounded(last.variance, 2),
                          rounded(last.variance / static_cast<double>(width), 3), rounded(last_scaled, 3)});
    add_point(before, width, last.variance);
    add_point(after, width, last_scaled);
  }
  why.finding = fmt::format("at d_k = {} the variance of q·k is {}; after scaling, it is {}", kWidths.back(),
                            said(last.variance, 0), said(last_scaled, 3));
  why.tables = {std::move(table)};
  why.charts.push_back({"variance", width_chart("Variance of q·k", "variance", {before, after})});
  return why;
}

Table saturation_by_factor(std::uint64_t seed) {
  constexpr std::int64_t kScores = 8;
  Generator generator(seed);
  const std::vector<double> scores = generator.randn({kScores}).to_vector();
  Table table{fmt::format("Softmax of {} normal scores, multiplied by a growing factor", kScores),
              {"factor", "largest weight", "keys in effect", "‖Jacobian‖"},
              {}};
  for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    std::vector<double> stretched = scores;
    for (double& score : stretched) score *= factor;
    const Spread spread = spread_of(softmax_of(stretched));
    table.rows.push_back(
        {rounded(factor, 2), rounded(spread.largest), rounded(spread.effective_keys, 3), rounded(spread.jacobian, 6)});
  }
  return table;
}

Spread attention_spread(const Tensor& q, const Tensor& k, double scale) {
  AttentionOptions options;
  options.scale = scale;
  return mean_spread(attention_stage(q, k, options, Stage::weights));
}

Section saturation_why(std::uint64_t seed) {
  Section why;
  why.id = "saturation";
  why.title = "Why does a saturated softmax stop learning?";
  why.text =
      "Where one weight is nearly 1, softmax no longer answers to its scores: its Jacobian diag(α) − α αᵀ, through "
      "which "
      "every gradient must pass, goes to zero. Wide heads without scaling end there.";
  why.formulas = {
      row({fraction(row({name("∂"), sub(name("α"), name("i"))}), row({name("∂"), sub(name("s"), name("j"))})), op("="),
           sub(name("α"), name("i")), op("·"),
           parens(row({sub(name("δ"), name("ij")), op("−"), sub(name("α"), name("j"))}))})};
  why.tables.push_back(saturation_by_factor(seed));
  Table table{fmt::format("{} normal queries on {} keys, with and without 1/√d_k (means over the rows)", kRows, kKeys),
              {"d_k", "largest, unscaled", "‖Jacobian‖, unscaled", "largest, scaled", "‖Jacobian‖, scaled"},
              {}};
  Series without = series("unscaled");
  Series with = series("scaled");
  Generator generator(seed);
  Spread unscaled;
  Spread scaled;
  for (const std::int64_t width : kWidths) {
    const Tensor q = generator.randn({1, 1, kRows, width});
    const Tensor k = generator.randn({1, 1, kKeys, width});
    unscaled = attention_spread(q, k, 1.0);
    scaled = attention_spread(q, k, 1.0 / std::sqrt(static_cast<double>(width)));
    table.rows.push_back({whole(width), rounded(unscaled.largest), rounded(unscaled.jacobian, 5),
                          rounded(scaled.largest), rounded(scaled.jacobian, 5)});
    add_point(without, width, unscaled.jacobian);
    add_point(with, width, scaled.jacobian);
  }
  why.tables.push_back(std::move(table));
  why.charts.push_back({"saturation", width_chart("Size of the softmax's Jacobian", "‖J‖", {without, with})});
  why.finding = fmt::format(
      "at d_k = {} unscaled rows put {} on one key and keep a Jacobian of {}; scaled ones {} and {}", kWidths.back(),
      said(unscaled.largest, 3), said(unscaled.jacobian, 4), said(scaled.largest, 3), said(scaled.jacobian, 4));
  return why;
}

Section forgotten_scale_why(const Scene& scene) {
  const Run& run = *scene.run;
  Section why;
  why.id = "no-scale";
  Table table{
      "Mean over the rows of all heads", {"scale", "value", "largest weight", "keys in effect", "‖Jacobian‖"}, {}};
  const auto root_of = [](std::int64_t width) { return 1.0 / std::sqrt(static_cast<double>(width)); };
  // The reader's own tensors have no d_model; the width of all heads together stands for it.
  const bool has_model = scene.model != nullptr;
  const std::int64_t too_wide = has_model ? scene.options->d_model : run.heads * run.d_k;
  const std::string wide_name = has_model ? "d_model" : "(H·d_k)";
  why.title = fmt::format("What if the scale is forgotten, or taken from {}?", has_model ? "d_model" : "all heads");
  why.text = fmt::format(
      "The same queries and keys as above, with three scales. Without one, scores are √d_k times as large and the rows "
      "sharper; with 1/√{} = 1/√{} they are scaled by a width that is not a head's own. The width that counts is the "
      "one "
      "that q · k adds over, d_k = {}.",
      wide_name, too_wide, run.d_k);
  std::vector<Spread> spreads;
  for (const auto& [label, scale] :
       {std::pair{std::string("none"), 1.0}, std::pair{std::string("1/√d_k"), root_of(run.d_k)},
        std::pair{"1/√" + wide_name, root_of(too_wide)}}) {
    AttentionOptions options = run.attention;
    options.scale = scale;
    const Spread spread = mean_spread(attention_stage(run.q, run.k, options, Stage::weights));
    spreads.push_back(spread);
    table.rows.push_back({word(label), rounded(scale), rounded(spread.largest), rounded(spread.effective_keys, 3),
                          rounded(spread.jacobian)});
  }
  why.tables = {std::move(table)};
  why.finding = run.tk() == 1
                    ? "one key cannot show it: its weight is 1 under any scale; try a longer text"
                    : fmt::format("here the largest weight of a row is {} on average without scale, {} with 1/√d_k",
                                  said(spreads[0].largest, 3), said(spreads[1].largest, 3));
  return why;
}

}  // namespace

std::vector<Section> whys_about_scaling(const Scene& scene) {
  const std::uint64_t seed = scene.options->seed;
  return {variance_why(seed), saturation_why(seed), forgotten_scale_why(scene)};
}

}  // namespace qkv::explain_detail
