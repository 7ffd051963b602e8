// Direct contributions to a logit: the residual stream is a sum, and the last norm, its divisor held, is linear in it
// (Elhage et al. 2021, "A mathematical framework for transformer circuits").
#include "insight/logit_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "insight/text_batch.h"
#include "qkv/autograd/embedding.h"
#include "qkv/insight/lens.h"
#include "qkv/nn/parameters.h"

namespace qkv {
namespace {

using Numbers = std::vector<double>;

double dot(const Numbers& a, const Numbers& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void require_parts(const Model& model) {
  const char* const why = insight::why_no_parts(model);
  if (why == nullptr) return;
  throw InvalidArgument("logit_parts", "model", "one whose residual stream ends with a norm and the output map", why);
}

// What a unit of the stream, and of the last norm's output, adds to a logit.
struct Direction {
  double logit = 0;  // before a cap
  Numbers stream;
  Numbers normed;
};

class PartsOfALogit {
 public:
  PartsOfALogit(const Model& model, const Trace& trace, std::int64_t place)
      : model_(model),
        scope_(*model.scope_of(AttentionSite::tokens)),
        place_(place),
        parameters_(model.parameters()),
        trace_(trace) {}

  // The logit is a product with one row of the output map, and the norm before it is linear while its divisor is held.
  [[nodiscard]] Direction direction_of(std::int32_t token) const {
    const std::string norm = scope_.stack + "ln_final";
    Direction direction{
        .logit = trace_[scope_.stack + "logits"].at({0, place_, token}), .stream = {}, .normed = row_of_map(token)};
    uncap(direction);
    direction.stream = through_norm(direction.normed, norm, last_divisor());
    return direction;
  }

  [[nodiscard]] LogitParts parts_in(const Direction& direction) const {
    LogitParts parts{.logit = direction.logit};
    const std::string first = fmt::format("{}blocks.0.resid_pre", scope_.stack);
    parts.embedding = dot(direction.stream, row_of(first));
    for (std::int64_t n = 0; n < scope_.layers; ++n) {
      const std::string block = fmt::format("{}blocks.{}", scope_.stack, n);
      LayerParts& layer = parts.layers.emplace_back();
      add_attention(direction.stream, {.block = block, .name = "attn", .layer = n}, layer.heads, layer.bias,
                    parts.keys);
      add_attention(direction.stream, {.block = block, .name = "cross", .layer = n}, layer.cross, layer.bias,
                    parts.cross_keys);
      double shift = 0;
      layer.feed_forward = dot(through_sublayer(direction.stream, block + ".ffn_norm", shift), row_of(block + ".ffn"));
      layer.bias += shift;
    }
    // What the last norm adds by itself, and what the output map adds to the product.
    const Numbers bias = numbers_of(scope_.stack + "ln_final.bias");
    parts.constant = direction.logit - dot(direction.normed, row_of(scope_.stack + "ln_final"));
    if (!bias.empty()) parts.constant += dot(direction.normed, bias);
    return parts;
  }

 private:
  [[nodiscard]] const Parameter* parameter(const std::string& name) const {
    const auto found = std::ranges::find(parameters_, name, &Parameter::name);
    return found == parameters_.end() ? nullptr : &*found;
  }
  [[nodiscard]] Numbers numbers_of(const std::string& name) const {
    const Parameter* const found = parameter(name);
    return found == nullptr ? Numbers() : found->value.value().to_vector();
  }
  [[nodiscard]] Numbers row_of(const std::string& name) const {
    return trace_[name].view().select(0, 0).select(0, place_).to_vector();
  }

  // Of the output map, which may be the table of embeddings, the decoder's own or the one that it shares.
  [[nodiscard]] Numbers row_of_map(std::int32_t token) const {
    const NoGradient constant;
    const Parameter* map = nullptr;
    for (const char* const name : {"output.weight", "embedding.weight"}) {
      if (map == nullptr) map = parameter(scope_.stack + name);
    }
    if (map == nullptr) map = parameter("encoder.embedding.weight");
    Numbers row = embedding(map->value, Tensor(std::vector<std::int64_t>{token}, {1})).value().to_vector();
    const Decoder* const decoder = model_.parts().decoder;
    const double factor = decoder == nullptr ? 1 : decoder->options().output_scale.value_or(1);
    for (double& value : row) value *= factor;
    return row;
  }

  // Capped logits are linear in the stream before their cap alone.
  void uncap(Direction& direction) const {
    const Decoder* const decoder = model_.parts().decoder;
    if (decoder == nullptr || !decoder->options().logit_softcap) return;
    const double cap = *decoder->options().logit_softcap;
    const double share = direction.logit / cap;
    direction.logit = cap * std::atanh(share);
  }

  // What a unit of a sublayer's result adds to the stream, through the norm behind it where there is one. `shift`: what
  // that norm's bias adds.
  [[nodiscard]] Numbers through_sublayer(const Numbers& stream, const std::string& norm, double& shift) const {
    Numbers direction = stream;
    for (double& value : direction) value *= choices().residual_scale.value_or(1);
    if (!trace_.contains(norm + ".divisor")) return direction;
    const Numbers bias = numbers_of(norm + ".bias");
    if (!bias.empty()) shift += dot(direction, bias);
    return through_norm(direction, norm, row_of(norm + ".divisor").front());
  }

  // What a unit of a norm's argument adds, where a unit of its result adds `direction`.
  [[nodiscard]] Numbers through_norm(const Numbers& direction, const std::string& norm, double divisor) const {
    const Numbers weight = numbers_of(norm + ".weight");
    const bool adds_one = choices().norm == NormKind::rms_plus_one;
    Numbers through(direction.size());
    for (std::size_t i = 0; i < through.size(); ++i) {
      through[i] = direction[i] * (adds_one ? 1 + weight[i] : weight[i]) / divisor;
    }
    if (is_centred(choices().norm)) {
      const double mean = std::accumulate(through.begin(), through.end(), 0.0) / static_cast<double>(through.size());
      for (double& value : through) value -= mean;
    }
    return through;
  }

  // Not asked of the trace, for which the norm would run step by step and round otherwise than it does elsewhere.
  [[nodiscard]] double last_divisor() const {
    const Numbers x = row_of(fmt::format("{}blocks.{}", scope_.stack, scope_.layers - 1));
    const auto width = static_cast<double>(x.size());
    const double mean = is_centred(choices().norm) ? std::accumulate(x.begin(), x.end(), 0.0) / width : 0;
    double squares = 0;
    for (const double value : x) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / width + choices().epsilon);
  }

  [[nodiscard]] const LayerChoices& choices() const {
    const NetworkParts parts = model_.parts();
    return parts.decoder != nullptr ? parts.decoder->options().choices : parts.encoder->options().choices;
  }

  // [H][Dv]: what a unit of each head's output adds, through its columns of W_O.
  [[nodiscard]] std::vector<Numbers> head_directions(const Numbers& direction, const std::string& attention,
                                                     std::int64_t heads, std::int64_t width) const {
    const TensorView weight = parameter(attention + ".out.weight")->value.value();  // [d_model, H * Dv]
    std::vector<Numbers> all(static_cast<std::size_t>(heads), Numbers(static_cast<std::size_t>(width)));
    Numbers columns(static_cast<std::size_t>(weight.dim(1)));
    for (std::int64_t row = 0; row < weight.dim(0); ++row) {
      weight.load_row(std::array{row}, columns);
      for (std::size_t n = 0; n < columns.size(); ++n) {
        all[n / static_cast<std::size_t>(width)][n % static_cast<std::size_t>(width)] +=
            direction[static_cast<std::size_t>(row)] * columns[n];
      }
    }
    return all;
  }

  struct Sublayer {
    std::string block;
    std::string name;
    std::int64_t layer;
  };

  void add_attention(const Numbers& direction, const Sublayer& sublayer, Numbers& heads, double& bias,
                     Tensor& keys) const {
    const std::string attention = sublayer.block + "." + sublayer.name;
    if (!trace_.contains(attention + ".heads")) return;
    const Numbers through = through_sublayer(direction, attention + "_norm", bias);
    const Tensor out = trace_[attention + ".heads"];
    const std::vector<Numbers> directions = head_directions(through, attention, out.dim(1), out.dim(3));
    for (std::int64_t h = 0; h < out.dim(1); ++h) {
      heads.push_back(dot(directions[static_cast<std::size_t>(h)],
                          out.view().select(0, 0).select(0, h).select(0, place_).to_vector()));
    }
    const Numbers map_bias = numbers_of(attention + ".out.bias");
    if (!map_bias.empty()) bias += dot(through, map_bias);
    if (has_calls()) add_keys(directions, attention, sublayer.layer, keys);
  }

  // A trace of a long text keeps the calls of some layers alone.
  [[nodiscard]] bool has_calls() const {
    const auto has = [&](std::int64_t n) {
      return trace_.contains(fmt::format("{}blocks.{}.attn.weights", scope_.stack, n));
    };
    return has(0) && has(scope_.layers - 1);
  }

  // weight x value, key by key.
  void add_keys(const std::vector<Numbers>& directions, const std::string& attention, std::int64_t layer,
                Tensor& all) const {
    const Trace::Attention& call = trace_.attention(attention);
    const std::int64_t heads = call.q.dim(1);
    const std::int64_t Tk = call.k.dim(2);
    if (all.empty()) all = Tensor(DType::f64, {scope_.layers, heads, Tk});
    const std::int64_t group = heads / call.v.dim(1);
    Numbers value(static_cast<std::size_t>(call.v.dim(3)));
    for (std::int64_t h = 0; h < heads; ++h) {
      const Numbers weights = trace_.probe(attention)
                                  .tile({.h = h, .i_begin = place_, .i_end = place_ + 1, .j_end = Tk}, Stage::weights)
                                  .to_vector();
      for (std::int64_t j = 0; j < Tk; ++j) {
        call.v.value().load_row(std::array{std::int64_t{0}, h / group, j}, value);
        all.set({layer, h, j},
                weights[static_cast<std::size_t>(j)] * dot(directions[static_cast<std::size_t>(h)], value));
      }
    }
  }

  const Model& model_;
  SiteScope scope_;
  std::int64_t place_;
  Parameters parameters_;
  const Trace& trace_;
};

Direction less(Direction a, const Direction& b) {
  a.logit -= b.logit;
  for (std::size_t n = 0; n < a.stream.size(); ++n) {
    a.stream[n] -= b.stream[n];
    a.normed[n] -= b.normed[n];
  }
  return a;
}

}  // namespace

double LogitParts::sum() const {
  double all = embedding + constant;
  for (const LayerParts& layer : layers) {
    all = std::accumulate(layer.heads.begin(), layer.heads.end(), all);
    all = std::accumulate(layer.cross.begin(), layer.cross.end(), all) + layer.bias + layer.feed_forward;
  }
  return all;
}

namespace insight {

const char* why_no_parts(const Model& model) {
  constexpr const char* kNoMap = "one without an output map";
  constexpr const char* kPostNorm = "post-norm blocks";
  if (model.traits().is_pair) return "two towers";
  if (model.traits().sees) return "an encoder of images";
  const NetworkParts parts = model.parts();
  if (parts.decoder == nullptr) {
    const Encoder* encoder = parts.encoder;
    if (encoder->options().head == EncoderHead::transform) return "one with a layer before the output map";
    if (encoder->options().head == EncoderHead::none) return kNoMap;
    return encoder->options().order == NormOrder::post ? kPostNorm : nullptr;
  }
  if (!model.scores_tokens()) return kNoMap;
  return parts.decoder->options().order == NormOrder::post ? kPostNorm : nullptr;
}

std::vector<std::string> names_of_parts(const SiteScope& scope) {
  std::vector<std::string> names = {"blocks.*.heads", "blocks.*.attn",      "blocks.*.cross",
                                    "blocks.*.ffn",   "ln_final",           "blocks.*_norm.divisor",
                                    "logits",         "blocks.0.resid_pre", fmt::format("blocks.{}", scope.layers - 1)};
  for (std::string& name : names) name.insert(0, scope.stack);
  return names;
}

LogitParts parts_in_pass(const Model& model, const Trace& trace, std::int64_t place, std::int32_t token,
                         std::optional<std::int32_t> against) {
  require_parts(model);
  const PartsOfALogit parts(model, trace, place);
  const Direction direction = parts.direction_of(token);
  return parts.parts_in(against ? less(direction, parts.direction_of(*against)) : direction);
}

}  // namespace insight

LogitParts logit_parts(const Model& model, const HeadText& text, std::int64_t place, std::int32_t token,
                       std::optional<std::int32_t> against) {
  require_parts(model);
  Trace trace(insight::names_of_parts(*model.scope_of(AttentionSite::tokens)));
  insight::run_text(model, text, trace);
  return insight::parts_in_pass(model, trace, place, token, against);
}

}  // namespace qkv
