#include "qkv/model/model.h"

#include <array>

#include "model/next_token.h"
#include "model/overloaded.h"
#include "model/require_finite.h"

namespace qkv {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"decoder", "encoder", "encoder-decoder", "captioner", "two-tower"};

Model::Network network_of(const ModelConfig& config, const Init& init, DType dtype) {
  const auto kind = config.find("kind");
  if (kind == config.end()) throw InvalidArgument("Model", "kind", "a kind of model", "none");
  switch (model_kind_named(kind->second)) {
    case ModelKind::encoder:
      return Encoder(encoder_options(config), init, dtype);
    case ModelKind::encoder_decoder:
      return EncoderDecoder(encoder_decoder_options(config), init, dtype);
    case ModelKind::captioner:
      return Captioner(captioner_options(config), init, dtype);
    case ModelKind::two_tower:
      return TwoTower(two_tower_options(config), init, dtype);
    case ModelKind::decoder:
      break;
  }
  return Decoder(decoder_options(config), init, dtype);
}

[[noreturn]] void refuse(std::string_view function, ModelKind kind, std::string_view expected) {
  throw InvalidArgument(function, "model", expected, "a model of kind " + std::string(name_of(kind)));
}

// A model whose trace has "encoder" and "decoder".
SiteScope scope_in_stacks(AttentionSite site, std::int64_t encoder_layers, std::int64_t decoder_layers) {
  if (site == AttentionSite::source) return {.stack = "encoder.", .part = "attn", .layers = encoder_layers};
  return {.stack = "decoder.", .part = site == AttentionSite::cross ? "cross" : "attn", .layers = decoder_layers};
}

void run_towers(const TwoTower& towers, const ModelInput& in, const ModelCall& call) {
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

}  // namespace

std::string_view name_of(ModelKind kind) noexcept { return kKinds[static_cast<std::size_t>(kind)]; }

ModelKind model_kind_named(std::string_view name) {
  std::string names;
  for (std::size_t n = 0; n < kKinds.size(); ++n) {
    if (name == kKinds[n]) return static_cast<ModelKind>(n);
    names += (names.empty() ? "" : ", ") + std::string(kKinds[n]);
  }
  throw InvalidArgument("model_kind_named", "name", "one of " + names, "\"" + std::string(name) + "\"");
}

Model::Model(Network network, ModelTokenizers tokenizers)
    : network_(std::move(network)), tokenizers_(std::move(tokenizers)) {}

Model::Model(const ModelConfig& config, const Init& init, DType dtype, ModelTokenizers tokenizers)
    : Model(network_of(config, init, dtype), std::move(tokenizers)) {}

ModelConfig Model::config() const {
  return std::visit([](const auto& network) { return config_of(network.options()); }, network_);
}

Parameters Model::parameters() const {
  return std::visit([](const auto& network) { return network.parameters(); }, network_);
}

std::vector<std::int32_t> Model::padded(std::vector<std::int32_t> tokens) const {
  if (!tokenizers_.padding) return tokens;
  const std::int64_t length = std::visit([](const auto& network) { return network.options().length; }, network_);
  if (std::ssize(tokens) > length) {
    throw InvalidArgument("Model::padded", "tokens", "at most " + std::to_string(length) + " tokens",
                          std::to_string(tokens.size()));
  }
  tokens.resize(static_cast<std::size_t>(length), static_cast<std::int32_t>(*tokenizers_.padding));
  return tokens;
}

Model Model::to(DType dtype) const {
  Model other(config(), Init::undrawn(), dtype, tokenizers_);
  other.cautions_ = cautions_;
  const Parameters from = parameters();
  const Parameters into = other.parameters();
  for (std::size_t n = 0; n < from.size(); ++n) into[n].value.replace_value(Tensor(from[n].value.value(), dtype));
  return other;
}

std::int64_t Model::parameter_count() const {
  return std::visit([](const auto& network) { return qkv::parameter_count(network.options()); }, network_);
}

DType Model::dtype() const { return parameters().front().value.dtype() == DType::f64 ? DType::f64 : DType::f32; }

Variable Model::forward(const ModelInput& in, const ModelCall& call) const {
  const Overloaded scores{
      [&](const Decoder& decoder) { return decoder.forward(in.ids, call); },
      [&](const Encoder& encoder) { return encoder.forward({in.ids, in.lengths, in.types}, call); },
      [&](const EncoderDecoder& both) { return both.forward({in.source, in.source_lengths}, in.ids, call); },
      [&](const Captioner& captioner) { return captioner.forward(in.images, in.ids, call); },
      [&](const TwoTower&) -> Variable { refuse("Model::forward", kind(), "one that scores tokens"); }};
  return std::visit(scores, network_);
}

bool Model::scores_tokens() const {
  const Overloaded scores{[](const Decoder& decoder) { return decoder.options().scores; },
                          [](const Encoder& encoder) { return encoder.options().head != EncoderHead::none; },
                          [](const TwoTower&) { return false; }, [](const auto&) { return true; }};
  return std::visit(scores, network_);
}

Variable Model::states(const ModelInput& in, const ModelCall& call) const {
  const Overloaded hidden{[&](const Decoder& decoder) { return decoder.hidden(in.ids, call); },
                          [&](const Encoder& encoder) { return encoder.hidden({in.ids, in.lengths, in.types}, call); },
                          [&](const auto&) -> Variable { refuse("Model::states", kind(), "an encoder or a decoder"); }};
  return std::visit(hidden, network_);
}

NewTokens Model::generate(const ModelInput& in, const GenerateOptions& options) const {
  const Overloaded tokens{
      [&](const Decoder& decoder) { return decoder.generate(in.ids, options); },
      [&](const EncoderDecoder& both) { return both.generate({in.source, in.source_lengths}, in.ids, options); },
      [&](const Captioner& captioner) { return captioner.generate(in.images, in.ids, options); },
      [&](const auto&) -> NewTokens { refuse("Model::generate", kind(), "one that writes"); }};
  try {
    return std::visit(tokens, network_);
  } catch (const generation::NotNumbers&) {
    fail_not_finite(*this, generation::kGenerate, "the scores of the next token");
  }
}

void Model::run(const ModelInput& in, Trace& trace) const {
  const NoGradient constant;
  const ModelCall call{.dtype = dtype(), .trace = &trace};
  if (const auto* towers = std::get_if<TwoTower>(&network_)) {
    run_towers(*towers, in, call);
  } else {
    static_cast<void>(scores_tokens() ? forward(in, call) : states(in, call));
  }
}

std::optional<SiteScope> Model::scope_of(AttentionSite site) const {
  using Scope = std::optional<SiteScope>;
  const Overloaded scope{
      // All sites are parts of the attention over the one text.
      [](const Decoder& decoder) -> Scope { return SiteScope{"", "attn", decoder.options().layers}; },
      [&](const Encoder& encoder) -> Scope {
        if (site != AttentionSite::tokens) return std::nullopt;
        return SiteScope{"", "attn", encoder.options().layers};
      },
      [&](const TwoTower& towers) -> Scope {
        if (site == AttentionSite::cross) return std::nullopt;
        if (site == AttentionSite::source) return SiteScope{"image.", "attn", towers.options().image_layers};
        return SiteScope{"text.", "attn", towers.options().text_layers};
      },
      [&](const auto& both) -> Scope {
        return scope_in_stacks(site, both.options().encoder_layers, both.options().layers);
      }};
  return std::visit(scope, network_);
}

std::vector<Tensor> Model::weights(const ModelInput& input, AttentionSite site) const {
  const std::optional<SiteScope> scope = scope_of(site);
  if (!scope) return {};
  Trace trace({scope->stack + "*." + scope->part + ".weights"});
  run(input, trace);
  std::vector<Tensor> all;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope->layers); ++layer) {
    all.push_back(trace[scope->name(layer, "weights")]);
  }
  return all;
}

}  // namespace qkv
