#include "model/config.h"
#include "qkv/model/image_encoder.h"

namespace qkv {
namespace {

constexpr const char* kImageEncoderKind = "image-encoder";

constexpr auto kImageEncoderWords = [](auto& o, const auto& each) {
  each("image_side", o.patches.image_side);
  each("patch_side", o.patches.patch_side);
  each("layers", o.patches.layers);
  each("d_model", o.patches.d_model);
  each("heads", o.patches.heads);
  each("d_ff", o.patches.d_ff, 4 * o.patches.d_model);
  each("classes", o.classes);
  const ImageEncoderOptions usual;
  each.later("image_margin", o.patches.margin, usual.patches.margin);
  each.later("qkv_bias", o.patches.qkv_bias, usual.patches.qkv_bias);
  each.later("feed_forward", o.patches.feed_forward, usual.patches.feed_forward);
  each.later("layer_scale", o.patches.layer_scale, usual.patches.layer_scale);
  each.later("resized_positions", o.patches.resized_positions, usual.patches.resized_positions);
  each.later("activation", o.patches.activation, usual.patches.activation);
  each.later("epsilon", o.patches.epsilon, usual.patches.epsilon);
  each.later("distilled", o.patches.distilled, usual.patches.distilled);
  each.later("registers", o.patches.registers, usual.patches.registers);
  each.later("classes_read", o.classes_read, usual.classes_read);
};

}  // namespace

std::map<std::string, std::string> config_of(const ImageEncoderOptions& options) {
  return config_from(kImageEncoderKind, options, kImageEncoderWords);
}

ImageEncoderOptions image_encoder_options(const std::map<std::string, std::string>& config) {
  return options_from<ImageEncoderOptions>("image_encoder_options", kImageEncoderKind, config, kImageEncoderWords);
}

}  // namespace qkv
