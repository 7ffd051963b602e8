// An encoder as a Model: one text, seen whole.
#pragma once

#include "model/kinds/kind.h"

namespace qkv::kinds {

template <>
struct Kind<Encoder> : Defaults<Encoder> {
  static constexpr KindTraits kTraits = {.name = "encoder", .fills = true};

  static NetworkParts parts(const Encoder& encoder) { return {.encoder = &encoder}; }
  static Encoder make(const ModelConfig& config, const Init& init, DType dtype) {
    return Encoder(encoder_options(config), init, dtype);
  }
  static Encoder make(const Sizes& sizes, const Init& init) {
    return Encoder({.vocabulary = sizes.vocabulary,
                    .length = sizes.lengths.tokens,
                    .layers = sizes.layers,
                    .d_model = sizes.d_model,
                    .heads = sizes.heads,
                    .d_ff = sizes.d_ff,
                    .positions = sizes.positions},
                   init);
  }
  static bool scores_tokens(const Encoder& encoder) { return encoder.options().head != EncoderHead::none; }
  static Variable forward(const Encoder& encoder, const ModelInput& in, const ModelCall& call) {
    return encoder.forward({in.ids, in.lengths, in.types}, call);
  }
  static Variable read_out(const Encoder& encoder, const Variable& stream, const ModelCall& call) {
    return encoder.read_out(stream, call);
  }
  static Variable states(const Encoder& encoder, const ModelInput& in, const ModelCall& call) {
    return encoder.hidden({in.ids, in.lengths, in.types}, call);
  }
  static std::optional<SiteScope> scope_of(const Encoder& encoder, AttentionSite site) {
    if (site != AttentionSite::tokens) return std::nullopt;
    return SiteScope{"", "attn", encoder.options().layers};
  }
};

}  // namespace qkv::kinds
