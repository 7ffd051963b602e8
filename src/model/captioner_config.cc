#include "model/config.h"
#include "qkv/model/captioner.h"

namespace qkv {

std::map<std::string, std::string> config_of(const CaptionerOptions& options) {
  return {{"kind", "captioner"},
          {"image_side", std::to_string(options.image_side)},
          {"patch_side", std::to_string(options.patch_side)},
          {"vocabulary", std::to_string(options.vocabulary)},
          {"length", std::to_string(options.length)},
          {"encoder_layers", std::to_string(options.encoder_layers)},
          {"layers", std::to_string(options.layers)},
          {"d_model", std::to_string(options.d_model)},
          {"heads", std::to_string(options.heads)},
          {"d_ff", std::to_string(options.d_ff.value_or(4 * options.d_model))},
          {"positions", std::string(name_of(options.positions))},
          {"tied", yes_or_no(options.tied)},
          {"relative", yes_or_no(options.relative)}};
}

CaptionerOptions captioner_options(const std::map<std::string, std::string>& config) {
  const ConfigReader read("captioner_options", config);
  read.require("kind", "captioner");
  return {.image_side = read.number("image_side"),
          .patch_side = read.number("patch_side"),
          .vocabulary = read.number("vocabulary"),
          .length = read.number("length"),
          .encoder_layers = read.number("encoder_layers"),
          .layers = read.number("layers"),
          .d_model = read.number("d_model"),
          .heads = read.number("heads"),
          .d_ff = read.number("d_ff"),
          .positions = positions_named(read.text("positions")),
          .tied = read.truth("tied"),
          .relative = read.truth("relative")};
}

}  // namespace qkv
