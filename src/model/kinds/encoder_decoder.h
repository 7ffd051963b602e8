// An encoder-decoder as a Model: a source, and tokens that attend to it.
#pragma once

#include "model/kinds/kind.h"

namespace qkv::kinds {

template <>
struct Kind<EncoderDecoder> : Defaults<EncoderDecoder> {
  static constexpr KindTraits kTraits = {.name = "encoder-decoder", .reads_source = true, .writes = true};

  static NetworkParts parts(const EncoderDecoder& both) {
    return {.encoder = &both.encoder(), .decoder = &both.decoder()};
  }
  static EncoderDecoder make(const ModelConfig& config, const Init& init, DType dtype) {
    return EncoderDecoder(encoder_decoder_options(config), init, dtype);
  }
  static EncoderDecoder make(const Sizes& sizes, const Init& init) {
    return EncoderDecoder({.source_vocabulary = sizes.source_vocabulary,
                           .vocabulary = sizes.vocabulary,
                           .source_length = sizes.lengths.source,
                           .length = sizes.lengths.tokens,
                           .encoder_layers = sizes.layers,
                           .layers = sizes.layers,
                           .d_model = sizes.d_model,
                           .heads = sizes.heads,
                           .d_ff = sizes.d_ff,
                           .positions = sizes.positions,
                           .order = NormOrder::pre,
                           .activation = Activation::gelu},
                          init);
  }
  static Variable forward(const EncoderDecoder& both, const ModelInput& in, const ModelCall& call) {
    return both.forward({in.source, in.source_lengths}, in.ids, call);
  }
  static Variable read_out(const EncoderDecoder& both, const Variable& stream, const ModelCall& call) {
    return read_out_of_decoder(both, stream, call);
  }
  static NewTokens generate(const EncoderDecoder& both, const ModelInput& in, const GenerateOptions& options) {
    return both.generate({in.source, in.source_lengths}, in.ids, options);
  }
  static std::optional<SiteScope> scope_of(const EncoderDecoder& both, AttentionSite site) {
    return scope_in_stacks(site, both.options().encoder_layers, both.options().layers);
  }
};

}  // namespace qkv::kinds
