#include "model/config.h"
#include "qkv/model/decoder.h"

namespace qkv {

std::map<std::string, std::string> config_of(const DecoderOptions& options) {
  const DecoderOptions usual;
  ModelConfig config = {{"kind", "decoder"},
                        {"vocabulary", std::to_string(options.vocabulary)},
                        {"length", std::to_string(options.length)},
                        {"layers", std::to_string(options.layers)},
                        {"d_model", std::to_string(options.d_model)},
                        {"heads", std::to_string(options.heads)},
                        {"d_ff", std::to_string(options.d_ff.value_or(4 * options.d_model))},
                        {"positions", std::string(name_of(options.positions))},
                        {"tied", yes_or_no(options.tied)}};
  // Said only where they differ: a checkpoint that was written before there were such options has none.
  if (options.order != usual.order) config["order"] = name_of(options.order);
  if (options.activation != usual.activation) config["activation"] = name_of(options.activation);
  if (options.bias != usual.bias) config["bias"] = yes_or_no(options.bias);
  if (options.d_context) config["d_context"] = std::to_string(*options.d_context);
  return config;
}

DecoderOptions decoder_options(const std::map<std::string, std::string>& config) {
  const ConfigReader read("decoder_options", config);
  read.require("kind", "decoder");
  const DecoderOptions usual;
  return {.vocabulary = read.number("vocabulary"),
          .length = read.number("length"),
          .layers = read.number("layers"),
          .d_model = read.number("d_model"),
          .heads = read.number("heads"),
          .d_ff = read.number("d_ff"),
          .positions = positions_named(read.text("positions")),
          .tied = read.truth("tied"),
          .order = read.has("order") ? read.one_of("order", kOrders) : usual.order,
          .activation = read.has("activation") ? read.one_of("activation", kActivations) : usual.activation,
          .bias = read.has("bias") ? read.truth("bias") : usual.bias,
          .d_context = read.number_if_there("d_context")};
}

}  // namespace qkv
