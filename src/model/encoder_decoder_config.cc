#include "model/config.h"
#include "qkv/model/encoder_decoder.h"

namespace qkv {

std::map<std::string, std::string> config_of(const EncoderDecoderOptions& options) {
  return {{"kind", "encoder-decoder"},
          {"source_vocabulary", std::to_string(options.source_vocabulary)},
          {"vocabulary", std::to_string(options.vocabulary)},
          {"source_length", std::to_string(options.source_length)},
          {"length", std::to_string(options.length)},
          {"encoder_layers", std::to_string(options.encoder_layers)},
          {"layers", std::to_string(options.layers)},
          {"d_model", std::to_string(options.d_model)},
          {"heads", std::to_string(options.heads)},
          {"d_ff", std::to_string(options.d_ff.value_or(4 * options.d_model))},
          {"positions", std::string(name_of(options.positions))},
          {"order", std::string(name_of(options.order))},
          {"activation", std::string(name_of(options.activation))},
          {"bias", yes_or_no(options.bias)},
          {"shared", yes_or_no(options.shared)},
          {"tied", yes_or_no(options.tied)}};
}

EncoderDecoderOptions encoder_decoder_options(const std::map<std::string, std::string>& config) {
  const ConfigReader read("encoder_decoder_options", config);
  read.require("kind", "encoder-decoder");
  return {.source_vocabulary = read.number("source_vocabulary"),
          .vocabulary = read.number("vocabulary"),
          .source_length = read.number("source_length"),
          .length = read.number("length"),
          .encoder_layers = read.number("encoder_layers"),
          .layers = read.number("layers"),
          .d_model = read.number("d_model"),
          .heads = read.number("heads"),
          .d_ff = read.number("d_ff"),
          .positions = positions_named(read.text("positions")),
          .order = read.one_of("order", kOrders),
          .activation = read.one_of("activation", kActivations),
          .bias = read.truth("bias"),
          .shared = read.truth("shared"),
          .tied = read.truth("tied")};
}

}  // namespace qkv
