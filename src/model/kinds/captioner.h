// A captioner as a Model: an image, and tokens that attend to its patches.
#pragma once

#include "model/kinds/kind.h"

namespace qkv::kinds {

template <>
struct Kind<Captioner> : Defaults<Captioner> {
  static constexpr KindTraits kTraits = {.name = "captioner", .reads_images = true, .writes = true};

  static NetworkParts parts(const Captioner& captioner) {
    return {.decoder = &captioner.decoder(), .captioner = &captioner};
  }
  static Captioner make(const ModelConfig& config, const Init& init, DType dtype) {
    return Captioner(captioner_options(config), init, dtype);
  }
  static Captioner make(const Sizes& sizes, const Init& init) {
    return Captioner({.image_side = sizes.lengths.image_side,
                      .patch_side = sizes.lengths.patch_side,
                      .vocabulary = sizes.vocabulary,
                      .length = sizes.lengths.tokens,
                      .encoder_layers = sizes.layers,
                      .layers = sizes.layers,
                      .d_model = sizes.d_model,
                      .heads = sizes.heads,
                      .d_ff = sizes.d_ff,
                      .positions = sizes.positions},
                     init);
  }
  static Variable forward(const Captioner& captioner, const ModelInput& in, const ModelCall& call) {
    return captioner.forward(in.images, in.ids, call);
  }
  static Variable read_out(const Captioner& captioner, const Variable& stream, const ModelCall& call) {
    return read_out_of_decoder(captioner, stream, call);
  }
  static NewTokens generate(const Captioner& captioner, const ModelInput& in, const GenerateOptions& options) {
    return captioner.generate(in.images, in.ids, options);
  }
  static std::optional<SiteScope> scope_of(const Captioner& captioner, AttentionSite site) {
    return scope_in_stacks(site, captioner.options().encoder_layers, captioner.options().layers);
  }
};

}  // namespace qkv::kinds
