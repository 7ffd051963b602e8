// What a transformer block puts around its attention.
#include <fmt/format.h>

#include "explain/drawing.h"
#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

struct Matrix {
  std::string id;
  std::string title;
  std::string shape_symbols;
  const Tensor* values;
};

Section vector_step(const Scene& scene, const Matrix& matrix, std::string text, std::vector<Formula> formulas) {
  Section step;
  step.id = matrix.id;
  step.title = matrix.title;
  step.text = std::move(text);
  step.formulas = std::move(formulas);
  step.shape = fmt::format("{} = {}", matrix.shape_symbols, matrix.values->shape().to_string());
  step.heatmaps.push_back(vectors(matrix.id, matrix.title, *matrix.values, scene.run->queries.tokens));
  return step;
}

Formula norm_formula(std::string_view result, std::string_view input) {
  const Term x = name(input);
  return row({name(result), op("="),
              fraction(row({x, op("−"), call("mean", x)}), root(row({call("var", x), op("+"), name("ε")})))});
}

struct NormNames {
  std::string_view result;
  std::string_view input;
};

Section norm_step(const Scene& scene, const Matrix& matrix, const NormNames& names) {
  Section step =
      vector_step(scene, matrix,
                  "Each token's vector is centred and brought to unit spread, so that the next layer sees numbers "
                  "of one size however deep the stack. ε = 0.00001 stands under the root; gain 1 and shift 0, as "
                  "before training.",
                  {norm_formula(names.result, names.input)});
  return step;
}

Section residual_step(const Scene& scene, const Matrix& matrix, std::string_view result, std::string_view kept,
                      std::string_view added) {
  return vector_step(
      scene, matrix,
      "What went into the sublayer is added to what came out: the sublayer only has to learn a change, and "
      "gradients have a way around it.",
      {row({name(result), op("="), name(kept), op("+"), name(added)})});
}

std::vector<Section> feed_forward_steps(const Scene& scene, std::string_view input) {
  const BlockRun& block = *scene.run->block;
  std::vector<Section> steps;
  steps.push_back(vector_step(scene, {"ffn-up", "Feed-forward: expand", "[T, 4·d_model]", &block.up},
                              "Now each token is worked on by itself: a linear map into four times the width.",
                              {row({name("U"), op("="), name(input), op("·"), sub(name("W"), number("1"))})}));
  const Term x = name("U");
  steps.push_back(vector_step(
      scene, {"gelu", "Feed-forward: GELU", "[T, 4·d_model]", &block.activated},
      "A bend between the two maps, without which both would be one. GELU passes large numbers, silences very negative "
      "ones, and is smooth between (Φ is the normal distribution's cumulative function).",
      {row({name("G"), op("="), x, op("·"), call("Φ", x), op("="), x, op("·"),
            fraction(row({number("1"), op("+"), call("erf", row({x, op("/"), root(number("2"))}))}), number("2"))})}));
  steps.push_back(vector_step(scene, {"ffn-down", "Feed-forward: project back", "[T, d_model]", &block.down},
                              "And a linear map back to the width of the model.",
                              {row({name("F"), op("="), name("G"), op("·"), sub(name("W"), number("2"))})}));
  for (const auto& [step, id, title, weight] :
       {std::tuple{0, "ffn-up-weight", "W_1", &scene.model->parameters().w_1},
        std::tuple{2, "ffn-down-weight", "W_2", &scene.model->parameters().w_2}}) {
    auto& maps = steps[static_cast<std::size_t>(step)].heatmaps;
    maps.insert(maps.begin(), parameters(id, title, *weight, "input"));
  }
  return steps;
}

}  // namespace

std::vector<Section> norm_steps_before(const Scene& scene) {
  const Matrix matrix{"norm-1", "LayerNorm before attention", "[T, d_model]", &scene.run->block->norm_1};
  return {norm_step(scene, matrix, {"N", "X"})};
}

std::vector<Section> block_steps(const Scene& scene) {
  const BlockRun& block = *scene.run->block;
  const bool is_pre = scene.options->surroundings == Surroundings::pre_norm_block;
  std::vector<Section> steps;
  steps.push_back(residual_step(scene, {"residual-1", "Residual around attention", "[T, d_model]", &block.residual_1},
                                "R", "X", "Y"));
  if (is_pre) {
    steps.push_back(
        norm_step(scene, {"norm-2", "LayerNorm before the feed-forward", "[T, d_model]", &block.norm_2}, {"M", "R"}));
  } else {
    steps.push_back(
        norm_step(scene, {"norm-1", "LayerNorm after attention", "[T, d_model]", &block.norm_1}, {"N", "R"}));
  }
  for (Section& step : feed_forward_steps(scene, is_pre ? "M" : "N")) steps.push_back(std::move(step));
  steps.push_back(residual_step(scene,
                                {"residual-2", "Residual around the feed-forward", "[T, d_model]", &block.residual_2},
                                is_pre ? "Z" : "S", is_pre ? "R" : "N", "F"));
  if (!is_pre) {
    steps.push_back(
        norm_step(scene, {"norm-2", "LayerNorm after the feed-forward", "[T, d_model]", &block.norm_2}, {"Z", "S"}));
  }
  return steps;
}

}  // namespace qkv::explain_detail
