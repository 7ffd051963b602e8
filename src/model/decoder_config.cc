#include "model/config.h"
#include "qkv/model/decoder.h"

namespace qkv {
namespace {

constexpr const char* kDecoderKind = "decoder";

constexpr auto kDecoderWords = [](auto& o, const auto& each) {
  each_common_option(o, each);
  each("layers", o.layers);
  each("tied", o.tied);
  const DecoderOptions usual;
  each.later("scores", o.scores, usual.scores);
  each.later("order", o.order, usual.order);
  each.later("embedding", o.embedding, usual.embedding);
  each.later("embedding_factor", o.embedding_factor, usual.embedding_factor);
  each.later("output_bias", o.output_bias, usual.output_bias);
  each.later("output_scale", o.output_scale, usual.output_scale);
  each.later("logit_softcap", o.logit_softcap, usual.logit_softcap);
  each.later("activation", o.activation, usual.activation);
  each.later("bias", o.bias, usual.bias);
  each.later("d_context", o.d_context, usual.d_context);
  each_layer_choice(o, each);
};

}  // namespace

std::map<std::string, std::string> config_of(const DecoderOptions& options) {
  return config_from(kDecoderKind, options, kDecoderWords);
}

DecoderOptions decoder_options(const std::map<std::string, std::string>& config) {
  return options_from<DecoderOptions>("decoder_options", kDecoderKind, config, kDecoderWords);
}

}  // namespace qkv
