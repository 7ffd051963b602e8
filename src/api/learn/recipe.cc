// Settings of a run that follow from others.
#include "qkv/api/train.h"

namespace qkv {

TrainSettings with_recipe(TrainSettings settings, const Given& given) {
  const TrainSettings recipe = recipe_for(settings.task, given.has("model") ? settings.model : "");
  const auto fill = [&](const char* field, auto& value, const auto& usual) {
    if (!given.has(field)) value = usual;
  };
  fill("model", settings.model, recipe.model);
  fill("layers", settings.layers, recipe.layers);
  fill("d_model", settings.d_model, recipe.d_model);
  fill("heads", settings.heads, recipe.heads);
  fill("d_ff", settings.d_ff, recipe.d_ff);
  fill("positions", settings.positions, recipe.positions);
  fill("steps", settings.steps, recipe.steps);
  fill("batch", settings.batch, recipe.batch);
  fill("learning_rate", settings.learning_rate, settings.from ? kGentleRate : recipe.learning_rate);
  return settings.from ? with_starting_model(settings) : settings;
}

}  // namespace qkv
