#include "model/config.h"
#include "qkv/model/two_tower.h"

namespace qkv {

std::map<std::string, std::string> config_of(const TwoTowerOptions& options) {
  return {{"kind", "two-tower"},
          {"image_side", std::to_string(options.image_side)},
          {"patch_side", std::to_string(options.patch_side)},
          {"vocabulary", std::to_string(options.vocabulary)},
          {"length", std::to_string(options.length)},
          {"image_layers", std::to_string(options.image_layers)},
          {"text_layers", std::to_string(options.text_layers)},
          {"d_model", std::to_string(options.d_model)},
          {"heads", std::to_string(options.heads)},
          {"d_ff", std::to_string(options.d_ff.value_or(4 * options.d_model))},
          {"d_embedding", std::to_string(options.d_embedding.value_or(options.d_model))},
          {"positions", std::string(name_of(options.positions))},
          {"relative", yes_or_no(options.relative)}};
}

TwoTowerOptions two_tower_options(const std::map<std::string, std::string>& config) {
  const ConfigReader read("two_tower_options", config);
  read.require("kind", "two-tower");
  return {.image_side = read.number("image_side"),
          .patch_side = read.number("patch_side"),
          .vocabulary = read.number("vocabulary"),
          .length = read.number("length"),
          .image_layers = read.number("image_layers"),
          .text_layers = read.number("text_layers"),
          .d_model = read.number("d_model"),
          .heads = read.number("heads"),
          .d_ff = read.number("d_ff"),
          .d_embedding = read.number("d_embedding"),
          .positions = positions_named(read.text("positions")),
          .relative = read.truth("relative")};
}

}  // namespace qkv
