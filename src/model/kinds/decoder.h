// A decoder as a Model: one text, of which it says what comes next.
#pragma once

#include "model/kinds/kind.h"

namespace qkv::kinds {

template <>
struct Kind<Decoder> : Defaults<Decoder> {
  static constexpr KindTraits kTraits = {.name = "decoder", .goes_on = true, .writes = true};

  static NetworkParts parts(const Decoder& decoder) { return {.decoder = &decoder}; }
  static Decoder make(const ModelConfig& config, const Init& init, DType dtype) {
    return Decoder(decoder_options(config), init, dtype);
  }
  static Decoder make(const Sizes& sizes, const Init& init) {
    return Decoder({.vocabulary = sizes.joined_vocabulary,
                    .length = sizes.lengths.source + sizes.lengths.tokens,
                    .layers = sizes.layers,
                    .d_model = sizes.d_model,
                    .heads = sizes.heads,
                    .d_ff = sizes.d_ff,
                    .positions = sizes.positions,
                    .tied = true},
                   init);
  }
  static bool scores_tokens(const Decoder& decoder) { return decoder.options().scores; }
  static Variable forward(const Decoder& decoder, const ModelInput& in, const ModelCall& call) {
    return decoder.forward(in.ids, call);
  }
  static Variable read_out(const Decoder& decoder, const Variable& stream, const ModelCall& call) {
    return decoder.read_out(stream, call);
  }
  static Variable states(const Decoder& decoder, const ModelInput& in, const ModelCall& call) {
    return decoder.hidden(in.ids, call);
  }
  static NewTokens generate(const Decoder& decoder, const ModelInput& in, const GenerateOptions& options) {
    return decoder.generate(in.ids, options);
  }
  // All sites are parts of the attention over the one text.
  static std::optional<SiteScope> scope_of(const Decoder& decoder, AttentionSite /*site*/) {
    return SiteScope{"", "attn", decoder.options().layers};
  }
};

}  // namespace qkv::kinds
