#include "model/config.h"
#include "qkv/model/two_tower.h"

namespace qkv {
namespace {

constexpr const char* kTwoTowerKind = "two-tower";

constexpr auto kTwoTowerWords = [](auto& o, const auto& each) {
  each("image_side", o.image_side);
  each("patch_side", o.patch_side);
  each("vocabulary", o.vocabulary);
  each("length", o.length);
  each("image_layers", o.image_layers);
  each("text_layers", o.text_layers);
  each("d_model", o.d_model);
  each("heads", o.heads);
  each("d_ff", o.d_ff, 4 * o.d_model);
  each("d_embedding", o.d_embedding, o.d_model);
  each("positions", o.positions);
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
