// An image encoder as a Model: an image alone.
#pragma once

#include "model/kinds/kind.h"

namespace qkv::kinds {

template <>
struct Kind<ImageEncoder> : Defaults<ImageEncoder> {
  static constexpr KindTraits kTraits = {.name = "image-encoder", .reads_images = true, .sees = true};

  static NetworkParts parts(const ImageEncoder& encoder) { return {.image_encoder = &encoder}; }
  static ImageEncoder make(const ModelConfig& config, const Init& init, DType dtype) {
    return ImageEncoder(image_encoder_options(config), init, dtype);
  }
  [[noreturn]] static ImageEncoder make(const Sizes& /*sizes*/, const Init& /*init*/) {
    refuse("network_of", kTraits, "one that a task trains");
  }
  static bool scores_tokens(const ImageEncoder& /*encoder*/) { return false; }
  static Variable states(const ImageEncoder& encoder, const ModelInput& in, const ModelCall& call) {
    return encoder.states(in.images, call);
  }
  static Variable result(const ImageEncoder& encoder, const ModelInput& in, const ModelCall& call) {
    return encoder.options().classes > 0 ? encoder.class_scores(in.images, call) : encoder.states(in.images, call);
  }
  static Variable loss(const ImageEncoder& encoder, const ModelInput& in, const TensorView& targets,
                       const ModelCall& call) {
    return cross_entropy(encoder.class_scores(in.images, call), targets);
  }
  static Variable read_out(const ImageEncoder& encoder, const Variable& stream, const ModelCall& call) {
    return encoder.read_out(stream, call);
  }
  static void run(const ImageEncoder& encoder, const ModelInput& in, const ModelCall& call) {
    static_cast<void>(result(encoder, in, call));
  }
  static std::optional<SiteScope> scope_of(const ImageEncoder& encoder, AttentionSite site) {
    if (site != AttentionSite::source) return std::nullopt;
    return SiteScope{"", "attn", encoder.options().patches.layers};
  }
};

}  // namespace qkv::kinds
