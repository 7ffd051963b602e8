#include "qkv/train/settings.h"

#include <algorithm>
#include <vector>

namespace qkv {

TrainSettings recipe_for(std::string_view task, std::string_view model) {
  static const std::vector<TrainSettings> kRecipes = {
      {.task = "copy", .steps = 1000, .model = "encoder-decoder", .layers = 1, .d_model = 32, .heads = 1, .d_ff = 16},
      {.task = "reverse",
       .steps = 2500,
       .model = "encoder-decoder",
       .layers = 1,
       .d_model = 24,
       .heads = 1,
       .d_ff = 16},
      {.task = "sort", .steps = 1500, .model = "encoder-decoder", .heads = 1, .d_ff = 32, .positions = "none"},
      {.task = "previous",
       .steps = 1200,
       .learning_rate = 1e-2,
       .layers = 1,
       .d_model = 32,
       .heads = 1,
       .positions = "rotary"},
      {.task = "induction", .batch = 64, .learning_rate = 2e-3, .heads = 1, .d_ff = 64},
      {.task = "brackets", .steps = 3000, .layers = 3, .positions = "t5"},
      {.task = "addition", .batch = 64, .learning_rate = 2e-3, .heads = 2, .d_ff = 128},
      {.task = "english", .steps = 3000, .learning_rate = 2e-3, .model = "encoder", .heads = 8, .positions = "rotary"},
      {.task = "translation", .steps = 3000, .learning_rate = 2e-3, .model = "encoder-decoder", .positions = "rotary"},
      {.task = "shapes", .steps = 3000, .learning_rate = 2e-3, .model = "captioner"},
      // With half the examples a batch, and half the steps, towers mistake colours and shapes that have changed places.
      {.task = "shapes", .steps = 6000, .batch = 64, .learning_rate = 2e-3, .model = "two-tower"},
      {.task = "pictures", .learning_rate = 2e-3, .model = "captioner", .positions = "rotary"},
      {.task = "text",
       .steps = 1500,
       .batch = 16,
       .learning_rate = 2e-3,
       .layers = 4,
       .d_model = 128,
       .positions = "rotary"},
  };
  const auto is_for = [&](const TrainSettings& recipe) { return recipe.task == task && recipe.model == model; };
  auto found = std::ranges::find_if(kRecipes, is_for);
  if (found == kRecipes.end()) found = std::ranges::find(kRecipes, task, &TrainSettings::task);
  return found == kRecipes.end() ? TrainSettings{.task = std::string(task)} : *found;
}

}  // namespace qkv
