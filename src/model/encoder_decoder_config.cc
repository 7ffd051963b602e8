#include "model/config.h"
#include "qkv/model/encoder_decoder.h"

namespace qkv {
namespace {

constexpr const char* kEncoderDecoderKind = "encoder-decoder";

constexpr auto kEncoderDecoderWords = [](auto& o, const auto& each) {
  each_common_option(o, each);
  each("source_vocabulary", o.source_vocabulary);
  each("source_length", o.source_length);
  each("encoder_layers", o.encoder_layers);
  each("layers", o.layers);
  each("order", o.order);
  each("activation", o.activation);
  each("bias", o.bias);
  each("shared", o.shared);
  each("tied", o.tied);
  const EncoderDecoderOptions usual;
  each.later("embedding", o.embedding, usual.embedding);
  each.later("embedding_factor", o.embedding_factor, usual.embedding_factor);
  each.later("output_bias", o.output_bias, usual.output_bias);
  each.later("output_scale", o.output_scale, usual.output_scale);
  each.later("start", o.start, usual.start);
  each_layer_choice(o, each);
};

}  // namespace

std::map<std::string, std::string> config_of(const EncoderDecoderOptions& options) {
  return config_from(kEncoderDecoderKind, options, kEncoderDecoderWords);
}

EncoderDecoderOptions encoder_decoder_options(const std::map<std::string, std::string>& config) {
  return options_from<EncoderDecoderOptions>("encoder_decoder_options", kEncoderDecoderKind, config,
                                             kEncoderDecoderWords);
}

}  // namespace qkv
