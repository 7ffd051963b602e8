#include "model/config.h"
#include "qkv/model/encoder.h"

namespace qkv {
namespace {

constexpr const char* kEncoderKind = "encoder";

constexpr auto kEncoderWords = [](auto& o, const auto& each) {
  each_common_option(o, each);
  each("layers", o.layers);
  each("tied", o.tied);
  each("order", o.order);
  each("embedding", o.embedding, embedding_scale(o));
  each("activation", o.activation);
  each("bias", o.bias);
  const EncoderOptions usual;
  each.later("types", o.types, usual.types);
  each.later("self_attention", o.self_attention, usual.self_attention);
  each.later("head", o.head, usual.head);
  each.later("head_activation", o.head_activation, usual.head_activation);
  each.later("head_map_bias", o.head_map_bias, usual.head_map_bias);
  each.later("head_bias", o.head_bias, usual.head_bias);
  each.later("d_embedding", o.d_embedding, usual.d_embedding);
  each.later("relative_span", o.relative.span, usual.relative.span);
  each.later("relative_buckets", o.relative.buckets, usual.relative.buckets);
  each.later("relative_longest", o.relative.longest, usual.relative.longest);
  each.later("relative_of_queries", o.relative.of_queries, usual.relative.of_queries);
  each.later("relative_of_keys", o.relative.of_keys, usual.relative.of_keys);
  each.later("relative_has_maps", o.relative.has_maps, usual.relative.has_maps);
  each.later("relative_norm", o.relative_norm, usual.relative_norm);
  each.later("placeless", o.placeless, usual.placeless);
  each.later("embedding_factor", o.embedding_factor, usual.embedding_factor);
  each_layer_choice(o, each);
};

}  // namespace

std::map<std::string, std::string> config_of(const EncoderOptions& options) {
  return config_from(kEncoderKind, options, kEncoderWords);
}

EncoderOptions encoder_options(const std::map<std::string, std::string>& config) {
  return options_from<EncoderOptions>("encoder_options", kEncoderKind, config, kEncoderWords);
}

}  // namespace qkv
