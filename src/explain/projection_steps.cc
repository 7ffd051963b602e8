// X → Q, K, V, the split into heads, and the turning of rotary positions.
#include <fmt/format.h>

#include "explain/drawing.h"
#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

struct Projection {
  std::string_view id;      // "queries"
  std::string_view letter;  // "Q"
  std::string_view role;
  std::string_view width_name;  // "d_k"
};

std::string source_of(const Scene& scene, std::string_view letter) {
  const bool is_pre = scene.options->surroundings == Surroundings::pre_norm_block;
  if (scene.model->is_cross() && letter != "Q") return "C";
  return is_pre ? "N" : "X";
}

std::string heads_note(std::int64_t heads, std::string_view width_name, std::int64_t width) {
  if (heads == 1) return "There is one head, which owns every column.";
  return fmt::format(
      "One product serves all {} heads: head h owns columns {}·h … {}·h + {} ({} = {}), so splitting into heads moves "
      "no number.",
      heads, width, width, width - 1, width_name, width);
}

std::string sharing_note(const Run& run) {
  return fmt::format("{} query heads share {} of keys and values (grouped queries): head h reads key head h / {}.",
                     run.heads, run.kv_heads, run.heads / run.kv_heads);
}

Section projection_step(const Scene& scene, const Projection& projection, const TensorView& weight,
                        const TensorView& split) {
  const bool is_query = projection.letter == "Q";
  const Side& side = is_query ? scene.run->queries : scene.run->keys;
  Section step;
  step.id = projection.id;
  step.title = fmt::format("{}, the {}", projection.letter, projection.id);
  step.text = projection.role;
  const std::string source = source_of(scene, projection.letter);
  step.formulas = {
      row({name(projection.letter), op("="), name(source), op("·"), sub(name("W"), name(projection.letter))})};
  step.shape = fmt::format("[T, {}·{}] = [{}, {}] = [{}, {}] · [{}, {}]", split.dim(1) == scene.run->heads ? "H" : "Hk",
                           projection.width_name, split.dim(2), split.dim(1) * split.dim(3), split.dim(2),
                           weight.dim(0), weight.dim(0), weight.dim(1));
  const std::vector<std::string> labels = packed_labels(split.dim(1), split.dim(3));
  NamedHeatmap weights =
      parameters(fmt::format("{}-weight", projection.id), fmt::format("W_{}", projection.letter), weight, "input");
  NamedHeatmap values =
      vectors(std::string(projection.id), std::string(projection.letter), pack_heads(split), side.tokens);
  if (weights.heatmap.column_labels.size() == labels.size()) weights.heatmap.column_labels = labels;
  if (values.heatmap.column_labels.size() == labels.size()) values.heatmap.column_labels = labels;
  step.heatmaps = {std::move(weights), std::move(values)};
  step.notes.push_back(heads_note(split.dim(1), projection.width_name, split.dim(3)));
  if (split.dim(1) != scene.run->heads) step.notes.push_back(sharing_note(*scene.run));
  if (source == "C") step.notes.emplace_back("C is X of the context: the text asks, the context answers.");
  if (source == "N") step.notes.emplace_back("N is X after the block's first LayerNorm.");
  return step;
}

Section rotation_step(const Scene& scene) {
  Section step;
  step.id = "rotation";
  step.title = "Q and K, turned by their position";
  step.text =
      "Rotary positions turn each pair of a query's or key's numbers by an angle that grows with the position. Turning "
      "both leaves q · k depending on the distance i − j alone (Su et al. 2021, section 3.2).";
  const Term a = sub(name("x"), row({number("2"), name("i")}));
  const Term b = sub(name("x"), row({number("2"), name("i"), op("+"), number("1")}));
  const Term angle = name("θ");
  step.formulas = {row({sup(a, name("′")), op("="), a, call("cos", angle), op("−"), b, call("sin", angle)}),
                   row({sup(b, name("′")), op("="), a, call("sin", angle), op("+"), b, call("cos", angle)}),
                   row({angle, op("="),
                        fraction(name("t"), sup(number("10000"),
                                                row({number("2"), name("i"), op("/"), sub(name("d"), name("k"))})))})};
  step.shape = fmt::format("[H, T, d_k] = [{}, {}, {}]", scene.run->heads, scene.run->tq(), scene.run->d_k);
  for (const auto& [id, title, values, side] :
       {std::tuple{"queries-turned", "Q turned", &scene.run->q, &scene.run->queries},
        std::tuple{"keys-turned", "K turned", &scene.run->k, &scene.run->keys}}) {
    for (NamedHeatmap& map : head_vectors(id, title, *values, side->tokens)) step.heatmaps.push_back(std::move(map));
  }
  return step;
}

Section own_step(const Scene& scene) {
  const Run& run = *scene.run;
  Section step;
  step.id = "tensors";
  step.title = "Q, K and V, as they were given";
  step.text =
      "These are the reader's own tensors. What follows is exact for them: no parameters are drawn, and no projections "
      "are known.";
  step.shape = fmt::format("Q {}, K {}, V {}  ([H, T, D])", run.q.shape().without(0).to_string(),
                           run.k.shape().without(0).to_string(), run.v.shape().without(0).to_string());
  for (const auto& [id, title, values, side] :
       {std::tuple{"queries", "Q", &run.q, &run.queries}, std::tuple{"keys", "K", &run.k, &run.keys},
        std::tuple{"values", "V", &run.v, &run.keys}}) {
    for (NamedHeatmap& map : head_vectors(id, title, *values, side->tokens)) step.heatmaps.push_back(std::move(map));
  }
  if (run.heads != run.kv_heads) step.notes.push_back(sharing_note(run));
  for (const auto& [name, given] : {std::pair{"Q", &scene.options->own->q}, std::pair{"K", &scene.options->own->k},
                                    std::pair{"V", &scene.options->own->v}}) {
    if (given->rank() == 4 && given->dim(0) > 1) {
      step.notes.push_back(fmt::format("{} holds {} batch entries; the first is shown.", name, given->dim(0)));
    }
  }
  return step;
}

}  // namespace

std::vector<Section> projection_steps(const Scene& scene) {
  if (scene.model == nullptr) return {own_step(scene)};
  const Run& run = *scene.run;
  const DrawnParameters& parameters = scene.model->parameters();
  const bool is_rotary = !run.q_plain.empty();
  std::vector<Section> steps = {
      projection_step(
          scene,
          {"queries", "Q", "Each token asks a question: a linear map of its vector says what it looks for.", "d_k"},
          parameters.w_q, is_rotary ? run.q_plain : run.q),
      projection_step(
          scene,
          {"keys", "K", "Each token also advertises: another map says by which questions it wants to be found.", "d_k"},
          parameters.w_k, is_rotary ? run.k_plain : run.k),
      projection_step(scene,
                      {"values", "V",
                       "And each token has something to hand over once it is found: a third map, with a "
                       "width of its own.",
                       "d_v"},
                      parameters.w_v, run.v)};
  if (is_rotary) steps.push_back(rotation_step(scene));
  return steps;
}

}  // namespace qkv::explain_detail
