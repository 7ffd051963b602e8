// Two towers as a Model: an image, a text, or both, which are then held against each other.
#pragma once

#include "model/kinds/kind.h"

namespace qkv::kinds {

template <>
struct Kind<TwoTower> : Defaults<TwoTower> {
  static constexpr KindTraits kTraits = {.name = "two-tower", .reads_images = true, .is_pair = true};

  static NetworkParts parts(const TwoTower& towers) { return {.towers = &towers}; }
  static TwoTower make(const ModelConfig& config, const Init& init, DType dtype) {
    return TwoTower(two_tower_options(config), init, dtype);
  }
  static TwoTower make(const Sizes& sizes, const Init& init) {
    return TwoTower({.image_side = sizes.lengths.image_side,
                     .patch_side = sizes.lengths.patch_side,
                     .vocabulary = sizes.vocabulary,
                     .length = sizes.lengths.tokens,
                     .image_layers = sizes.layers,
                     .text_layers = sizes.layers,
                     .d_model = sizes.d_model,
                     .heads = sizes.heads,
                     .d_ff = sizes.d_ff,
                     .positions = sizes.positions},
                    init);
  }
  static bool scores_tokens(const TwoTower& /*towers*/) { return false; }
  static Variable result(const TwoTower& towers, const ModelInput& in, const ModelCall& call) {
    const bool has_image = in.images.data() != nullptr;
    return has_image ? towers.embed_images(in.images, call) : towers.embed_texts({in.ids, in.lengths}, call);
  }
  static Variable loss(const TwoTower& towers, const ModelInput& in, const TensorView& /*targets*/,
                       const ModelCall& call) {
    return towers.loss(in.images, {in.ids, in.lengths}, call);
  }
  static void run(const TwoTower& towers, const ModelInput& in, const ModelCall& call) {
    const bool has_image = in.images.data() != nullptr;
    const bool has_text = in.ids.data() != nullptr;
    if (has_image && has_text) {
      static_cast<void>(towers.loss(in.images, {in.ids, in.lengths}, call));
    } else if (has_image) {
      static_cast<void>(towers.embed_images(in.images, call));
    } else if (has_text) {
      static_cast<void>(towers.embed_texts({in.ids, in.lengths}, call));
    } else {
      throw InvalidArgument("Model::run", "input", "images, ids or both, of two towers", "neither");
    }
  }
  static std::optional<SiteScope> scope_of(const TwoTower& towers, AttentionSite site) {
    if (site == AttentionSite::cross) return std::nullopt;
    if (site == AttentionSite::source) return SiteScope{"image.", "attn", towers.options().image_layers};
    return SiteScope{"text.", "attn", towers.options().text_layers};
  }
};

}  // namespace qkv::kinds
