// What a Model does with a network of its kind. A kind of model is a header beside this one, which model.cc includes,
// and an entry in Model::Network.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/kinds/sizes.h"
#include "nn/trace_record.h"
#include "nn/tracing.h"
#include "qkv/autograd/softmax.h"
#include "qkv/error.h"
#include "qkv/model/model.h"

namespace qkv::kinds {

/// Has kTraits, parts(), make() of a config and of sizes, scope_of(), and what a Defaults does otherwise.
template <class Network>
struct Kind;

[[noreturn]] inline void refuse(std::string_view function, const KindTraits& traits, std::string_view expected) {
  throw InvalidArgument(function, "model", expected, "a model of kind " + std::string(traits.name));
}

/// Whether the trace of a call has a use for what stands behind the states. Scores of a long text over a vocabulary are
/// the largest tensor of a pass.
inline bool reads_scores(const ModelCall& call) {
  const auto is_used = [&](const char* name) { return call.trace->record()->uses(name); };
  return is_used("logits") || is_used("head.dense") || is_used("head.ln");
}

template <class Network>
struct Defaults {
  static bool scores_tokens(const Network& /*network*/) { return true; }
  static Variable forward(const Network& /*network*/, const ModelInput& /*in*/, const ModelCall& /*call*/) {
    refuse("Model::forward", Kind<Network>::kTraits, "one that scores tokens");
  }
  static Variable states(const Network& /*network*/, const ModelInput& /*in*/, const ModelCall& /*call*/) {
    refuse("Model::states", Kind<Network>::kTraits, "an encoder or a decoder");
  }
  static Variable result(const Network& network, const ModelInput& in, const ModelCall& call) {
    using K = Kind<Network>;
    return K::scores_tokens(network) ? K::forward(network, in, call) : K::states(network, in, call);
  }
  static Variable loss(const Network& network, const ModelInput& in, const TensorView& targets, const ModelCall& call) {
    return cross_entropy(Kind<Network>::forward(network, in, call), targets);
  }
  static Variable read_out(const Network& /*network*/, const Variable& /*stream*/, const ModelCall& /*call*/) {
    refuse("Model::read_out", Kind<Network>::kTraits, "one that scores tokens");
  }
  static NewTokens generate(const Network& /*network*/, const ModelInput& /*in*/, const GenerateOptions& /*options*/) {
    refuse("Model::generate", Kind<Network>::kTraits, "one that writes");
  }
  static void run(const Network& network, const ModelInput& in, const ModelCall& call) {
    using K = Kind<Network>;
    const bool has_states = K::kTraits.goes_on || K::kTraits.fills;
    const bool has_scores = K::scores_tokens(network) && (!has_states || reads_scores(call));
    static_cast<void>(has_scores ? K::forward(network, in, call) : K::states(network, in, call));
  }
};

/// The end of a decoder that stands under its name in a trace.
template <class Both>
Variable read_out_of_decoder(const Both& both, const Variable& stream, const ModelCall& call) {
  const nn::Tracing tracing(call.trace);
  const OperationScope scope("decoder");
  ModelCall inner = call;
  inner.trace = nullptr;
  return tracing.result(both.decoder().read_out(stream, inner));
}

/// Of a model whose trace has "encoder" and "decoder".
inline SiteScope scope_in_stacks(AttentionSite site, std::int64_t encoder_layers, std::int64_t decoder_layers) {
  if (site == AttentionSite::source) return {.stack = "encoder.", .part = "attn", .layers = encoder_layers};
  return {.stack = "decoder.", .part = site == AttentionSite::cross ? "cross" : "attn", .layers = decoder_layers};
}

}  // namespace qkv::kinds
