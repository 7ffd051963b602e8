#include "model/config.h"
#include "qkv/model/encoder.h"

namespace qkv {

std::map<std::string, std::string> config_of(const EncoderOptions& options) {
  return {{"kind", "encoder"},
          {"vocabulary", std::to_string(options.vocabulary)},
          {"length", std::to_string(options.length)},
          {"layers", std::to_string(options.layers)},
          {"d_model", std::to_string(options.d_model)},
          {"heads", std::to_string(options.heads)},
          {"d_ff", std::to_string(options.d_ff.value_or(4 * options.d_model))},
          {"positions", std::string(name_of(options.positions))},
          {"tied", yes_or_no(options.tied)},
          {"order", std::string(name_of(options.order))},
          {"embedding", std::string(name_of(embedding_scale(options)))},
          {"activation", std::string(name_of(options.activation))},
          {"bias", yes_or_no(options.bias)}};
}

EncoderOptions encoder_options(const std::map<std::string, std::string>& config) {
  const ConfigReader read("encoder_options", config);
  read.require("kind", "encoder");
  return {.vocabulary = read.number("vocabulary"),
          .length = read.number("length"),
          .layers = read.number("layers"),
          .d_model = read.number("d_model"),
          .heads = read.number("heads"),
          .d_ff = read.number("d_ff"),
          .positions = positions_named(read.text("positions")),
          .tied = read.truth("tied"),
          .order = read.one_of("order", kOrders),
          .embedding = read.one_of("embedding", kEmbeddingScales),
          .activation = read.one_of("activation", kActivations),
          .bias = read.truth("bias")};
}

}  // namespace qkv
