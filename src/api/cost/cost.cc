#include "qkv/api/cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/replies/lines.h"
#include "core/counted.h"
#include "core/dtype_named.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

using api_detail::prose;
using api_detail::refuse;
using api_detail::shared_field;

DType dtype_named(const std::string& name) {
  if (const auto dtype = core::dtype_named(name); dtype && is_floating(*dtype)) return *dtype;
  refuse("dtype", "f64, f32, f16 or bf16", "\"" + name + "\"");
}

template <class Value, class Target>
void override_with(const std::optional<Value>& given, Target& target) {
  if (given) target = *given;  // NOLINT(bugprone-optional-value-conversion)
}

std::string heading(const CostConfig& c, int width) {
  std::string text = fmt::format("{}: {}", c.name, core::counted(c.layers, "layer"));
  if (c.decoder_layers > 0) text += " + " + core::counted(c.decoder_layers, "decoder layer");
  text += fmt::format(", d_model {}, {}", c.d_model, core::counted(c.heads, "head"));
  if (*c.kv_heads != c.heads) text += " over " + core::counted(*c.kv_heads, "kv head");
  text += fmt::format(", d_k {}, d_v {}, d_ff {}{}", *c.d_k, *c.d_v, *c.d_ff, c.gated_ffn ? " gated" : "");
  if (c.vocab > 0) text += fmt::format(", vocabulary {}", c.vocab);
  return prose(text, width) + fmt::format("{}, batch {}, {}, {}\n", core::counted(c.tokens, "token"), c.batch,
                                          name_of(c.dtype), c.causal ? "causal" : "every token sees every token");
}

// The arithmetic stands beside its figure in a wide terminal, and below it in one of 80 columns.
std::string item_lines(const CostItem& item, int width) {
  constexpr int kWide = 120;
  constexpr int kBeside = 60;
  constexpr int kBelow = 6;
  const std::string exact = item.value.grouped();
  const std::string arithmetic = item.arithmetic == exact ? exact : item.arithmetic + " = " + exact;
  std::string figure = fmt::format("  {:<42} {:>13}", item.name, short_amount(item.value, item.unit));
  if (width < kWide) return figure + "\n" + prose(arithmetic, width, kBelow);
  figure += std::string(static_cast<std::size_t>(std::max(2, kBeside - display_width(figure))), ' ');
  return prose(arithmetic, width, kBeside).replace(0, kBeside, figure);
}

// A model without a preset: the first of the three numbers that is missing is named.
void require_shape(const CostRequest& request) {
  if (!request.layers && !request.d_model && !request.heads) {
    refuse("preset", fmt::format("one of {}, or `layers`, `d_model` and `heads`", fmt::join(cost_presets(), ", ")),
           "none of them");
  }
  constexpr const char* kAll = "a number, as `layers`, `d_model` and `heads` describe a model without a preset";
  if (!request.layers) refuse("layers", kAll, "none");
  if (!request.d_model) refuse("d_model", kAll, "none");
  if (!request.heads) refuse("heads", kAll, "none");
}

}  // namespace

std::string as_text(const CostReport& report, int width) {
  std::string text = heading(report.config, width);
  for (const CostGroup& group : report.groups) {
    text += fmt::format("\n{}\n{}", group.title, group.note.empty() ? "" : prose(group.note, width, 2));
    for (const CostItem& item : group.items) text += item_lines(item, width);
  }
  return text;
}

CostConfig cost_config(const CostRequest& request) {
  if (request.preset.empty()) require_shape(request);
  CostConfig config = request.preset.empty() ? CostConfig{} : cost_preset(request.preset);
  override_with(request.layers, config.layers);
  override_with(request.decoder_layers, config.decoder_layers);
  override_with(request.d_model, config.d_model);
  override_with(request.heads, config.heads);
  override_with(request.kv_heads, config.kv_heads);
  override_with(request.d_k, config.d_k);
  override_with(request.d_v, config.d_v);
  override_with(request.d_ff, config.d_ff);
  override_with(request.vocab, config.vocab);
  override_with(request.tokens, config.tokens);
  override_with(request.batch, config.batch);
  override_with(request.tile, config.tile);
  override_with(request.gated, config.gated_ffn);
  override_with(request.causal, config.causal);
  if (request.d_model && !request.heads && !config.d_k && config.d_model % config.heads != 0) {
    refuse("d_model",
           fmt::format("a multiple of {}, the heads of {}, or `d_k` beside it", config.heads, request.preset),
           std::to_string(config.d_model));
  }
  if (request.preset.empty() && config.vocab > 0) config.output_head = OutputHead::tied;
  config.dtype = dtype_named(request.dtype);
  return config;
}

const Fields<CostRequest>& cost_fields() {
  using Request = CostRequest;
  static const Fields<Request> kFields = [] {
    constexpr const char* kModel = "The model (over the preset's, or on its own)";
    Fields<Request> fields;
    const auto count = [&](std::optional<std::int64_t> Request::* place, const char* name, const char* meaning,
                           const char* group) {
      const CostBounds bounds = cost_bounds(name);
      fields.add(
          place,
          {.name = name, .form = "N", .meaning = meaning, .group = group, .least = bounds.least, .most = bounds.most});
    };
    fields.add(
        &Request::preset,
        {.name = "preset", .form = "PRESET", .meaning = fmt::format("One of {}", fmt::join(cost_presets(), ", "))});
    count(&Request::layers, "layers", "Layers", kModel);
    count(&Request::decoder_layers, "decoder_layers", "Decoder layers with cross-attention, too", kModel);
    const auto shared = [&](std::optional<std::int64_t> Request::* place, const char* name) {
      const CostBounds bounds = cost_bounds(name);
      fields.add(place, shared_field(name, kModel));
      fields.give_bounds({{name, bounds.least, bounds.most}});
    };
    shared(&Request::d_model, "d_model");
    shared(&Request::heads, "heads");
    shared(&Request::kv_heads, "kv_heads");
    shared(&Request::d_k, "d_k");
    shared(&Request::d_v, "d_v");
    shared(&Request::d_ff, "d_ff");
    fields.add(&Request::gated,
               {.name = "gated", .meaning = "A feed-forward layer of three matrices", .group = kModel});
    count(&Request::vocab, "vocab", "Words of the vocabulary", kModel);
    fields.add(&Request::causal, shared_field("causal", kModel));
    count(&Request::tokens, "tokens", "Tokens of a sequence", "");
    count(&Request::batch, "batch", "Sequences at once", "");
    fields.add(&Request::dtype,
               {.name = "dtype", .form = "TYPE", .meaning = "Of every number", .words = {"f64", "f32", "f16", "bf16"}});
    count(&Request::tile, "tile", "Side of the tiled algorithm's tiles", "");
    fields.add(&Request::range, cost_range_fields());
    fields.give_fallbacks({{"batch", "1"}, {"tile", "64"}});
    fields.give_otherwise({{"tokens", "the preset's context, or 1024"}});
    fields.give_examples({{"preset", "gpt2"}, {"dtype", "bf16"}});
    return fields;
  }();
  return kFields;
}

}  // namespace qkv
