// Q and K → scores → weights: each T x T matrix in the order in which the engine makes it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "explain/drawing.h"
#include "explain/formula.h"
#include "explain/mask_summary.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

std::string square_shape(const Run& run) {
  return fmt::format("[H, Tq, Tk] = [{}, {}, {}]", run.heads, run.tq(), run.tk());
}

Term indexed(std::string_view letter) { return sub(name(letter), name("ij")); }

void add_scores(Section& step, const Run& run, const Tensor& values, std::string_view title, const TensorView& masked) {
  std::vector<NamedHeatmap> maps = head_scores(step.id, title, run, values, Scores::signed_scores, masked);
  std::move(maps.begin(), maps.end(), std::back_inserter(step.heatmaps));
}

Section raw_step(const Run& run) {
  Section step;
  step.id = "scores";
  step.title = "Raw scores";
  step.text =
      "Every query meets every key. Their dot product is large where question and advertisement point the same way, "
      "near zero where they have nothing to do with each other, negative where they oppose.";
  step.formulas = {row({name("S"), op("="), name("Q"), op("·"), transposed(name("K"))}),
                   row({indexed("s"), op("="), sub(name("q"), name("i")), op("·"), sub(name("k"), name("j")), op("="),
                        sum(name("d"), row({sub(name("q"), name("id")), op("·"), sub(name("k"), name("jd"))}))})};
  step.shape = square_shape(run);
  add_scores(step, run, run.stage(Stage::raw), "Scores", {});
  return step;
}

Section scaled_step(const Run& run) {
  Section step;
  step.id = "scaled";
  step.title = "Scaled scores";
  const double scale = run.scale();
  step.text =
      "A dot product of d_k terms has a spread that grows like the root of d_k. Dividing it out keeps softmax where it "
      "still distinguishes, and where it still has a gradient.";
  const Term root_d = root(sub(name("d"), name("k")));
  step.formulas = {run.attention.scale
                       ? row({name("S′"), op("="), number(shown(scale)), op("·"), name("S")})
                       : row({name("S′"), op("="), fraction(name("S"), root_d), op("="),
                              fraction(name("S"), number(shown(std::sqrt(static_cast<double>(run.d_k)))))})};
  step.shape = square_shape(run);
  add_scores(step, run, run.stage(Stage::scaled), "Scaled", {});
  return step;
}

Section softcap_step(const Run& run) {
  Section step;
  step.id = "softcapped";
  step.title = "Softcapped scores";
  const std::string cap = shown(*run.attention.softcap, 2);
  step.text = fmt::format(
      "Scores are bent so that none leaves ±{}: small ones pass almost unchanged, large ones saturate.", cap);
  step.formulas = {row({name("S″"), op("="), number(cap), op("·"), call("tanh", fraction(name("S′"), number(cap)))})};
  step.shape = square_shape(run);
  add_scores(step, run, run.stage(Stage::softcapped), "Softcapped", {});
  return step;
}

std::string bias_text(Positions position) {
  if (position == Positions::alibi) {
    return "ALiBi subtracts a penalty that grows with the distance, with a slope of its own for each head; no position "
           "is "
           "added to X (Press et al. 2022).";
  }
  if (position == Positions::t5) {
    return "T5 adds a learned number for each bucket of relative distance and each head; near distances have buckets "
           "of "
           "their own, far ones share (Raffel et al. 2020). Untrained, the table is drawn from the seed.";
  }
  return "A number is added to each score before the mask: what the position or the pair itself says, whatever the "
         "words "
         "say.";
}

Tensor bias_values(const Run& run) {
  const MaskShape shape = run.shape();
  Tensor values(DType::f64, {1, shape.H, shape.Tq, shape.Tk});
  const std::span<double> out = values.values<double>();
  std::size_t next = 0;
  for (std::int64_t h = 0; h < shape.H; ++h) {
    for (std::int64_t i = 0; i < shape.Tq; ++i) {
      for (std::int64_t j = 0; j < shape.Tk; ++j) out[next++] = run.attention.bias.at({0, h, i, j}, shape);
    }
  }
  return values;
}

Section bias_step(const Scene& scene) {
  const Run& run = *scene.run;
  Section step;
  step.id = "biased";
  step.title = "Biased scores";
  step.text = bias_text(scene.options->position);
  step.formulas = {row({indexed("s"), op("←"), indexed("s"), op("+"), indexed("b")})};
  step.shape = square_shape(run);
  std::vector<NamedHeatmap> biases = head_scores("bias", "Bias", run, bias_values(run), Scores::signed_scores, {});
  for (NamedHeatmap& map : biases) map.heatmap.value_name = "bias";
  std::move(biases.begin(), biases.end(), std::back_inserter(step.heatmaps));
  add_scores(step, run, run.stage(Stage::biased), "With bias", {});
  return step;
}

Section masked_step(const Scene& scene, const Tensor& masked) {
  const Run& run = *scene.run;
  Section step;
  step.id = "masked";
  step.title = "Masked scores";
  step.shape = square_shape(run);
  if (run.attention.mask.is_all()) {
    step.text =
        "Every query may see every key, so nothing changes here. A causal mask would hide the future, another any "
        "pairs you name.";
    step.formulas = {row({indexed("m"), op("="), indexed("s")})};
    return step;
  }
  step.text =
      "A pair that must not be seen gets −∞ before the softmax, so its weight is exactly zero and the others share the "
      "whole. Masking later could not do that.";
  step.formulas = {row({indexed("m"), op("="), indexed("s"), words("if i sees j, else"), name("−∞")})};
  add_mask_summary(step, run);
  add_scores(step, run, masked, "Masked", masked);
  return step;
}

double farthest_from_one(const Tensor& weights) {
  const std::vector<double> all = weights.to_vector();
  const auto width = static_cast<std::size_t>(weights.dim(-1));
  double farthest = 0;
  for (std::size_t at = 0; at < all.size(); at += width) {
    double row_sum = 0;
    for (std::size_t j = 0; j < width; ++j) row_sum += all[at + j];
    if (row_sum != 0) farthest = std::max(farthest, std::abs(row_sum - 1.0));
  }
  return farthest;
}

Section softmax_step(const Run& run, const Tensor& masked) {
  Section step;
  step.id = "softmax";
  step.title = "Softmax: the attention weights";
  step.text =
      "Each row becomes shares of one whole: exponentials, so that a lead in score is a factor in weight, over the "
      "row's "
      "sum. The row's largest score is subtracted first, which changes nothing and keeps exp from overflowing.";
  const Term top = call("exp", row({indexed("m"), op("−"), sub(name("max"), name("i"))}));
  const Term bottom =
      sum(name("l"), call("exp", row({sub(name("m"), name("il")), op("−"), sub(name("max"), name("i"))})));
  step.formulas = {row({indexed("α"), op("="), fraction(top, bottom)})};
  step.shape = square_shape(run);
  const Tensor weights = run.stage(Stage::weights);
  std::vector<NamedHeatmap> maps = head_scores("softmax", "Weights", run, weights, Scores::weights, masked);
  std::move(maps.begin(), maps.end(), std::back_inserter(step.heatmaps));
  if (no_query_sees_a_key(run)) {
    step.notes.emplace_back("No query sees a key: every weight is zero, and so is all that is summed from them.");
    return step;
  }
  const double off = farthest_from_one(weights);
  step.notes.push_back(off == 0
                           ? "Every row that sees a key sums to exactly 1."
                           : fmt::format("Every row that sees a key sums to 1; the farthest is off by {}.", said(off)));
  const std::vector<std::string> blind = blind_queries(run);
  if (!blind.empty()) {
    step.notes.push_back(
        fmt::format("{} no key at all: the weights are zeros, and so is what is summed from them.",
                    blind.size() == 1 ? blind.front() + " sees" : fmt::format("{} see", fmt::join(blind, ", "))));
  }
  return step;
}

// How many of a head's visible weights dropout has set to zero.
std::vector<Cell> dropped_row(const Run& run, const Tensor& weights, const Tensor& dropped, std::int64_t head) {
  const std::vector<double> before = matrix_of(weights, head).to_vector();
  const std::vector<double> after = matrix_of(dropped, head).to_vector();
  std::int64_t visible = 0;
  std::int64_t lost = 0;
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    visible += before[i] != 0 ? 1 : 0;
    lost += before[i] != 0 && after[i] == 0 ? 1 : 0;
    sum += after[i];
  }
  return {whole(head), whole(lost), whole(visible), rounded(sum / static_cast<double>(run.tq()), 3)};
}

Section dropout_step(const Run& run) {
  const auto [p, seed] = *run.attention.dropout;
  Section step;
  step.id = "dropped";
  step.title = "Dropout: the weights that are left";
  step.text =
      "In training, each weight is set to zero with probability p, so that no head relies on one key alone. What stays "
      "is divided by 1 − p: a row sums to 1 on average, not each time.";
  step.formulas = {
      row({sub(name("α̃"), name("ij")), op("="),
           fraction(row({sub(name("z"), name("ij")), op("·"), indexed("α")}), row({number("1"), op("−"), name("p")})),
           words("with z = 0 with probability p, else 1")})};
  step.shape = square_shape(run);
  const Tensor weights = run.stage(Stage::weights);
  const Tensor dropped = run.stage(Stage::dropped);
  step.heatmaps = head_scores("dropped", "After dropout", run, dropped, Scores::weights, run.stage(Stage::masked));
  for (NamedHeatmap& map : step.heatmaps) map.heatmap.high = 1 / (1 - p);
  Table table{"What was dropped", {"head", "dropped", "of weights above 0", "mean row sum"}, {}};
  for (std::int64_t h = 0; h < run.heads; ++h) table.rows.push_back(dropped_row(run, weights, dropped, h));
  step.tables = {std::move(table)};
  step.notes.push_back(fmt::format(
      "p = {}, seed {}. Which weights go depends on seed, head, query and key alone, not on the machine.", p, seed));
  return step;
}

}  // namespace

std::vector<LazyStep> score_steps(const Scene& scene) {
  const Run& run = *scene.run;
  std::vector<LazyStep> steps = {{"scores", [&run] { return raw_step(run); }},
                                 {"scaled", [&run] { return scaled_step(run); }}};
  if (run.attention.softcap) steps.push_back({"softcapped", [&run] { return softcap_step(run); }});
  if (!run.attention.bias.is_zero()) steps.push_back({"biased", [&scene] { return bias_step(scene); }});
  // Made once, by the first of the two steps that shows it.
  const auto masked = [&run, kept = std::make_shared<Tensor>()]() -> const Tensor& {
    if (kept->empty()) *kept = run.stage(Stage::masked);
    return *kept;
  };
  steps.push_back({"masked", [&scene, masked] { return masked_step(scene, masked()); }});
  steps.push_back({"softmax", [&run, masked] { return softmax_step(run, masked()); }});
  if (run.attention.dropout) steps.push_back({"dropped", [&run] { return dropout_step(run); }});
  return steps;
}

}  // namespace qkv::explain_detail
