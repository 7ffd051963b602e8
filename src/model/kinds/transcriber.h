// A transcriber as a Model: a sound, and tokens that attend to its places.
#pragma once

#include "model/kinds/kind.h"

namespace qkv::kinds {

template <>
struct Kind<Transcriber> : Defaults<Transcriber> {
  static constexpr KindTraits kTraits = {.name = "transcriber", .reads_sound = true, .writes = true};

  static NetworkParts parts(const Transcriber& transcriber) {
    return {.decoder = &transcriber.decoder(), .transcriber = &transcriber};
  }
  static Transcriber make(const ModelConfig& config, const Init& init, DType dtype) {
    return Transcriber(transcriber_options(config), init, dtype);
  }
  [[noreturn]] static Transcriber make(const Sizes& /*sizes*/, const Init& /*init*/) {
    refuse("network_of", kTraits, "one that a task trains");
  }
  static Variable forward(const Transcriber& transcriber, const ModelInput& in, const ModelCall& call) {
    return transcriber.forward(in.sounds, in.ids, call);
  }
  static Variable read_out(const Transcriber& transcriber, const Variable& stream, const ModelCall& call) {
    return read_out_of_decoder(transcriber, stream, call);
  }
  static NewTokens generate(const Transcriber& transcriber, const ModelInput& in, const GenerateOptions& options) {
    return transcriber.generate(in.sounds, in.ids, options);
  }
  static std::optional<SiteScope> scope_of(const Transcriber& transcriber, AttentionSite site) {
    return scope_in_stacks(site, transcriber.options().encoder_layers, transcriber.options().layers);
  }
};

}  // namespace qkv::kinds
