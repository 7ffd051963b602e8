#include "model/config.h"
#include "qkv/model/captioner.h"

namespace qkv {
namespace {

constexpr const char* kCaptionerKind = "captioner";

constexpr auto kCaptionerWords = [](auto& o, const auto& each) {
  each_common_option(o, each);
  each("image_side", o.image_side);
  each("patch_side", o.patch_side);
  each("encoder_layers", o.encoder_layers);
  each("layers", o.layers);
  each("tied", o.tied);
  each("relative", o.relative);
};

}  // namespace

std::map<std::string, std::string> config_of(const CaptionerOptions& options) {
  return config_from(kCaptionerKind, options, kCaptionerWords);
}

CaptionerOptions captioner_options(const std::map<std::string, std::string>& config) {
  return options_from<CaptionerOptions>("captioner_options", kCaptionerKind, config, kCaptionerWords);
}

}  // namespace qkv
