#include "qkv/api/study.h"

namespace qkv {
namespace {

VariantFigures variant_figures(const VariantCost& cost) {
  VariantFigures figures;
  figures.tokens = cost.tokens;
  figures.variant = cost.variant;
  figures.skipped = cost.skipped;
  if (!cost.skipped.empty()) return figures;
  figures.seconds = cost.seconds;
  figures.runs = cost.runs;
  figures.bytes = cost.bytes;
  figures.rms_error = cost.relative_error;
  figures.max_error = cost.largest_error;
  figures.pairs.emplace(cost.pairs);
  figures.tiles.emplace(cost.tiles);
  return figures;
}

PositionFigures position_figures(const PositionResult& result) {
  PositionFigures figures;
  figures.positions = name_of(result.kind);
  figures.addressing = addressing_of(result.kind);
  figures.parameters = result.parameters;
  figures.failed = result.failed;
  if (!result.failed.empty()) return figures;
  figures.loss = result.loss;
  figures.seconds = result.seconds;
  figures.accuracy = result.shares;
  return figures;
}

}  // namespace

VariantsFigures variants_figures(const VariantSetup& setup, const std::vector<VariantCost>& costs) {
  VariantsFigures figures;
  figures.heads = setup.heads;
  figures.head_dim = setup.head_dim;
  figures.causal = setup.causal;
  figures.dtype = name_of(DType::f32);
  figures.threads = setup.threads;
  figures.data = name_of(setup.data);
  figures.seed = setup.seed;
  figures.window = setup.window;
  figures.stride = setup.stride;
  figures.block = setup.block;
  figures.sampled_rows = kSampledRows;
  for (const VariantCost& cost : costs) figures.results.push_back(variant_figures(cost));
  return figures;
}

PositionsFigures positions_figures(const PositionSetup& setup, const std::vector<PositionResult>& results) {
  PositionsFigures figures;
  figures.task = setup.task;
  figures.unit = unit_of(setup);
  figures.train_length = setup.train_length;
  figures.test_lengths = setup.test_lengths;
  figures.layers = setup.layers;
  figures.d_model = setup.d_model;
  figures.heads = setup.heads;
  figures.steps = setup.steps;
  figures.batch = setup.batch;
  figures.learning_rate = setup.learning_rate;
  figures.examples = setup.examples;
  figures.seed = setup.seed;
  figures.trained_places = trained_places(setup);
  for (const PositionResult& result : results) figures.results.push_back(position_figures(result));
  return figures;
}

BottleneckFigures bottleneck_figures(const BottleneckModels& models, const BottleneckSetup& setup,
                                     const std::vector<BottleneckPoint>& points) {
  BottleneckFigures figures;
  figures.parameters = {.vector = parameter_count(models.vector.parameters()),
                        .attention = parameter_count(models.attention.parameters())};
  figures.longest = setup.longest;
  figures.steps = setup.steps;
  figures.batch = setup.batch;
  figures.learning_rate = setup.learning_rate;
  figures.seed = setup.seed;
  for (const auto& [vector, attention] : points) {
    figures.lengths.push_back({.length = vector.length,
                               .vector = {.letters = vector.letters, .texts = vector.texts},
                               .attention = {.letters = attention.letters, .texts = attention.texts}});
  }
  return figures;
}

}  // namespace qkv
