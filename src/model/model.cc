#include "qkv/model/model.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/counted.h"
#include "core/found.h"
#include "core/listed.h"
#include "model/kinds/captioner.h"
#include "model/kinds/decoder.h"
#include "model/kinds/encoder.h"
#include "model/kinds/encoder_decoder.h"
#include "model/kinds/image_encoder.h"
#include "model/kinds/transcriber.h"
#include "model/kinds/two_tower.h"
#include "model/next_token.h"
#include "model/require_finite.h"
#include "model/weights.h"

namespace qkv {
namespace {

using kinds::Kind;

constexpr std::size_t kKinds = std::variant_size_v<Model::Network>;

template <std::size_t n>
using KindAt = Kind<std::variant_alternative_t<n, Model::Network>>;

// What each kind has, in the order of ModelKind.
template <class Element, class Ask, std::size_t... n>
constexpr std::array<Element, kKinds> of_each_kind(const Ask& ask, std::index_sequence<n...> /*all*/) {
  return { ask.template operator()<n>()... };
}

constexpr std::array<KindTraits, kKinds> kTraits =
    of_each_kind<KindTraits>([]<std::size_t n>() { return KindAt<n>::kTraits; }, std::make_index_sequence<kKinds>());

using MakeNetwork = Model::Network (*)(const ModelConfig& config, const Init& init, DType dtype);

template <std::size_t n>
Model::Network made(const ModelConfig& config, const Init& init, DType dtype) {
  return KindAt<n>::make(config, init, dtype);
}

Model::Network network_of(const ModelConfig& config, const Init& init, DType dtype) {
  static constexpr std::array<MakeNetwork, kKinds> kMakers =
      of_each_kind<MakeNetwork>([]<std::size_t n>() { return &made<n>; }, std::make_index_sequence<kKinds>());
  const auto kind = config.find("kind");
  if (kind == config.end()) throw InvalidArgument("Model", "kind", "a kind of model", "none");
  return kMakers.at(static_cast<std::size_t>(model_kind_named(kind->second)))(config, init, dtype);
}

using MakeSized = Model::Network (*)(const kinds::Sizes& sizes, const Init& init);

template <std::size_t n>
Model::Network made_sized(const kinds::Sizes& sizes, const Init& init) {
  return KindAt<n>::make(sizes, init);
}

}  // namespace

Model::Network kinds::network_of(ModelKind kind, const Sizes& sizes, const Init& init) {
  static constexpr std::array<MakeSized, kKinds> kMakers =
      of_each_kind<MakeSized>([]<std::size_t n>() { return &made_sized<n>; }, std::make_index_sequence<kKinds>());
  return kMakers.at(static_cast<std::size_t>(kind))(sizes, init);
}

NetworkParts parts_of(const Model::Network& network) {
  return std::visit([]<class N>(const N& one) { return Kind<N>::parts(one); }, network);
}

const KindTraits& traits_of(ModelKind kind) noexcept { return kTraits[static_cast<std::size_t>(kind)]; }

std::string_view name_of(ModelKind kind) noexcept { return traits_of(kind).name; }

std::vector<std::string> trained_kind_names() {
  std::vector<std::string> names;
  for (const KindTraits& traits : kTraits) {
    if (!traits.sees && !traits.reads_sound) names.emplace_back(traits.name);
  }
  return names;
}

ModelKind model_kind_named(std::string_view name) {
  if (const auto* const found = core::found_in(kTraits, name, &KindTraits::name)) {
    return static_cast<ModelKind>(found - kTraits.data());
  }
  throw InvalidArgument("model_kind_named", "model", "one of " + core::joined(kTraits, &KindTraits::name),
                        "\"" + std::string(name) + "\"");
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

std::vector<std::int32_t> Model::padded(std::vector<std::int32_t> tokens, std::string_view called) const {
  if (!tokenizers_.padding) return tokens;
  const std::int64_t length = std::visit(
      []<class N>(const N& network) -> std::int64_t {
        if constexpr (requires { network.options().length; }) return network.options().length;
        return 0;  // reads no text
      },
      network_);
  if (std::ssize(tokens) > length) {
    throw InvalidArgument("Model::padded", called, "at most " + core::counted(length, "token"),
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
  for (std::size_t n = 0; n < from.size(); ++n) {
    const QuantisedTensor* blocks = from[n].value.quantised();
    into[n].value.replace_value(
        held_weight(blocks == nullptr ? Tensor(from[n].value.value(), dtype) : blocks->dequantised().to(dtype)));
  }
  return other;
}

std::string Model::quantised_words() const {
  std::set<std::string_view> types;
  for (const Parameter& parameter : parameters()) {
    if (const QuantisedTensor* blocks = parameter.value.quantised()) types.insert(blocks->type_name());
  }
  if (types.empty()) return "";
  return "weights of " + core::joined(types, std::identity(), " and ") + " as in the file, activations in 8 bits";
}

std::int64_t Model::parameter_count() const {
  return std::visit([](const auto& network) { return qkv::parameter_count(network.options()); }, network_);
}

DType Model::dtype() const { return parameters().front().value.dtype() == DType::f64 ? DType::f64 : DType::f32; }

Variable Model::forward(const ModelInput& in, const ModelCall& call) const {
  return std::visit([&]<class N>(const N& network) { return Kind<N>::forward(network, in, call); }, network_);
}

bool Model::scores_tokens() const {
  return std::visit([]<class N>(const N& network) { return Kind<N>::scores_tokens(network); }, network_);
}

Variable Model::states(const ModelInput& in, const ModelCall& call) const {
  return std::visit([&]<class N>(const N& network) { return Kind<N>::states(network, in, call); }, network_);
}

NetworkParts Model::parts() const { return parts_of(network_); }

Variable Model::result(const ModelInput& in, const ModelCall& call) const {
  return std::visit([&]<class N>(const N& network) { return Kind<N>::result(network, in, call); }, network_);
}

Variable Model::loss(const ModelInput& in, const TensorView& targets, const ModelCall& call) const {
  return std::visit([&]<class N>(const N& network) { return Kind<N>::loss(network, in, targets, call); }, network_);
}

Variable Model::read_out(const Variable& stream, const ModelCall& call) const {
  return std::visit([&]<class N>(const N& network) { return Kind<N>::read_out(network, stream, call); }, network_);
}

NewTokens Model::generate(const ModelInput& in, const GenerateOptions& options) const {
  try {
    return std::visit([&]<class N>(const N& network) { return Kind<N>::generate(network, in, options); }, network_);
  } catch (const generation::NotNumbers&) {
    fail_not_finite(*this, generation::kGenerate, "the scores of the next token");
  }
}

void Model::run(const ModelInput& in, Trace& trace) const {
  const NoGradient constant;
  const ModelCall call{.dtype = dtype(), .trace = &trace};
  std::visit([&]<class N>(const N& network) { Kind<N>::run(network, in, call); }, network_);
}

std::optional<SiteScope> Model::scope_of(AttentionSite site) const {
  return std::visit([&]<class N>(const N& network) { return Kind<N>::scope_of(network, site); }, network_);
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
