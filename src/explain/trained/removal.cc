// What a head's removal does: the model runs again, one head giving zeros.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "explain/drawing.h"
#include "explain/numbers.h"
#include "explain/trained/path.h"
#include "insight/removed_heads.h"

namespace qkv::explain_detail {
namespace {

constexpr double kFaint = 0.01;  // smaller changes have no colour

// Of one row of what a pass left.
using Measure = std::function<double(std::span<const Tensor> kept, std::int64_t row)>;

// [layers, heads] of the site: what `measure` finds without the head, less what it finds as it ran.
Tensor changes_at(const Ran& ran, const SiteScope& scope, const std::vector<std::string>& kept,
                  const Measure& measure) {
  const double before = measure(insight::values_in(ran.trace, kept), 0);
  const std::int64_t heads = ran.trace[scope.name(0, "heads")].dim(1);
  std::vector<double> changes;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) {
    insight::without_each_head(ran.trained.model(), input_of(ran.batch), ran.trace,
                               {.scope = scope, .layer = layer, .heads = heads}, kept,
                               [&](std::int64_t, std::span<const Tensor> without, std::int64_t row) {
                                 changes.push_back(measure(without, row) - before);
                               });
  }
  return {changes, {scope.layers, heads}};
}

std::vector<std::string> counted(std::string_view what, std::int64_t count) {
  std::vector<std::string> labels;
  for (std::int64_t n = 0; n < count; ++n) labels.push_back(fmt::format("{} {}", what, n));
  return labels;
}

Section removal_of(const Ran& ran, const std::vector<TracedSite>& sites, const std::vector<std::string>& kept,
                   const Measure& measure) {
  Section step;
  step.id = "removal";
  double largest = kFaint;
  std::vector<std::string> done;
  for (const TracedSite& site : sites) {
    const std::string first = site.scope.name(0);
    if (std::ranges::find(done, first) != done.end()) continue;  // sites of a joined text share their heads
    done.push_back(first);
    NamedHeatmap map{.id = "removal-" + site.shown.name, .heatmap = {}};
    map.heatmap.title = site.shown.name;
    map.heatmap.values = changes_at(ran, site.scope, kept, measure);
    map.heatmap.row_labels = counted("layer", map.heatmap.values.dim(0));
    map.heatmap.column_labels = counted("head", map.heatmap.values.dim(1));
    map.heatmap.value_name = "change";
    map.heatmap.colours = ColourMap::diverging;
    map.heatmap.decimals = 3;
    for (const double change : map.heatmap.values.to_vector()) largest = std::max(largest, std::abs(change));
    step.heatmaps.push_back(std::move(map));
  }
  for (NamedHeatmap& map : step.heatmaps) {
    map.heatmap.low = -largest;
    map.heatmap.high = largest;
  }
  return step;
}

// What stands for the image: where no map follows, the pool's result (SigLIP).
std::string image_name(const TextModel& trained) {
  return trained.model().parts().towers->options().image_map ? "image_map" : "image_pool";
}

// Of the vectors of image and text.
double cosine_of(std::span<const Tensor> vectors, std::int64_t row) {
  const std::vector<double> image = vectors[0].view().select(0, row).to_vector();
  const std::vector<double> text = vectors[1].view().select(0, row).to_vector();
  const auto product = [](const auto& a, const auto& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  return product(image, text) / std::sqrt(product(image, image) * product(text, text));
}

}  // namespace

Section removal_step(const Ran& ran, const std::vector<TracedSite>& sites, const Answer& answer) {
  const auto probability = [&](std::span<const Tensor> logits, std::int64_t row) {
    return softmax_of(scores_at(logits.front(), answer, row))[static_cast<std::size_t>(answer.token)];
  };
  const std::vector<std::string> kept = {stack_of(ran.trained) + "logits"};
  Section step = removal_of(ran, sites, kept, probability);
  step.title = fmt::format("What a head's removal does to “{}” at {} “{}”", answer.text, answer.place, answer.at);
  step.text = fmt::format(
      "The model gives “{}” the probability {}. It runs again for each head, whose output is set to zero; the change "
      "of "
      "that probability follows. Later layers may make up for a head, or lean on it.",
      answer.text, shown(probability(insight::values_in(ran.trace, kept), 0)));
  return step;
}

Section pair_removal_step(const Ran& ran, const std::vector<TracedSite>& sites) {
  const std::vector<std::string> kept = {image_name(ran.trained), "text_map"};
  Section step = removal_of(ran, sites, kept, cosine_of);
  step.title = "What a head's removal does to the cosine";
  step.text = fmt::format(
      "Image and caption have the cosine {}. The model runs again for each head, whose output is set to zero; the "
      "change "
      "of the cosine follows.",
      shown(cosine_of(insight::values_in(ran.trace, kept), 0)));
  return step;
}

}  // namespace qkv::explain_detail
