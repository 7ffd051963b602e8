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
};

}  // namespace

std::map<std::string, std::string> config_of(const TwoTowerOptions& options) {
  return config_from(kTwoTowerKind, options, kTwoTowerWords);
}

TwoTowerOptions two_tower_options(const std::map<std::string, std::string>& config) {
  return options_from<TwoTowerOptions>("two_tower_options", kTwoTowerKind, config, kTwoTowerWords);
}

}  // namespace qkv
