#include "model/config.h"
#include "qkv/model/two_tower.h"

namespace qkv {
namespace {

constexpr const char* kTwoTowerKind = "two-tower";

constexpr auto kTwoTowerWords = [](auto& o, const auto& each) {
  each_common_option(o, each);
  each("image_side", o.image_side);
  each("patch_side", o.patch_side);
  each("image_layers", o.image_layers);
  each("text_layers", o.text_layers);
  each("d_embedding", o.d_embedding, o.d_model);
  each("relative", o.relative);
  const TwoTowerOptions usual;
  each.later("image_d_model", o.image_d_model, usual.image_d_model);
  each.later("image_heads", o.image_heads, usual.image_heads);
  each.later("image_d_ff", o.image_d_ff, usual.image_d_ff);
  each.later("activation", o.activation, usual.activation);
  each.later("image_activation", o.image_activation, usual.image_activation);
  each.later("epsilon", o.epsilon, usual.epsilon);
  each.later("image_epsilon", o.image_epsilon, usual.image_epsilon);
  each.later("image_margin", o.image_margin, usual.image_margin);
  each.later("patch_bias", o.patch_bias, usual.patch_bias);
  each.later("image_norm", o.image_norm, usual.image_norm);
  each.later("self_attention", o.self_attention, usual.self_attention);
  each.later("image_pooling", o.image_pooling, usual.image_pooling);
  each.later("text_pooling", o.text_pooling, usual.text_pooling);
  each.later("end", o.end, usual.end);
  each.later("image_map", o.image_map, usual.image_map);
  each.later("text_map_bias", o.text_map_bias, usual.text_map_bias);
  each.later("loss", o.loss, usual.loss);
};

}  // namespace

std::map<std::string, std::string> config_of(const TwoTowerOptions& options) {
  return config_from(kTwoTowerKind, options, kTwoTowerWords);
}

TwoTowerOptions two_tower_options(const std::map<std::string, std::string>& config) {
  return options_from<TwoTowerOptions>("two_tower_options", kTwoTowerKind, config, kTwoTowerWords);
}

}  // namespace qkv
