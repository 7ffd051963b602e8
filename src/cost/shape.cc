#include "cost/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "qkv/error.h"

namespace qkv::cost_detail {
namespace {

struct NamedBounds {
  std::string_view number;
  CostBounds bounds;
};

// Together these keep every figure below 2^128 (cost_test tries the largest of each).
constexpr std::int64_t kMostRows = 1'000'000'000;
constexpr std::array kBounds{
    NamedBounds{"layers", {1, 10'000}},
    NamedBounds{"decoder_layers", {0, 10'000}},
    NamedBounds{"d_model", {1, 10'000'000}},
    NamedBounds{"heads", {1, 10'000}},
    NamedBounds{"kv_heads", {1, 10'000}},
    NamedBounds{"d_k", {1, 100'000}},
    NamedBounds{"d_v", {1, 100'000}},
    NamedBounds{"d_ff", {1, 100'000'000}},
    NamedBounds{"norms_outside_layers", {0, 10'000}},
    NamedBounds{"vocab", {0, kMostRows}},
    NamedBounds{"learned_positions", {0, kMostRows}},
    NamedBounds{"token_types", {0, kMostRows}},
    NamedBounds{"tokens", {1, 1'000'000'000}},
    NamedBounds{"batch", {1, 100'000}},
    NamedBounds{"tile", {1, 1'000'000}},
};

void require(std::string_view option, std::int64_t value) {
  const auto [least, most] = cost_bounds(option);
  if (value >= least && value <= most) return;
  throw InvalidArgument("cost", option,
                        fmt::format("{} to {}", least, Count(static_cast<std::uint64_t>(most)).grouped()),
                        std::to_string(value));
}

void require_extents(const CostConfig& config) {
  require("layers", config.layers);
  require("decoder_layers", config.decoder_layers);
  require("d_model", config.d_model);
  require("heads", config.heads);
  require("kv_heads", *config.kv_heads);
  require("d_k", *config.d_k);
  require("d_v", *config.d_v);
  require("d_ff", *config.d_ff);
  require("norms_outside_layers", config.norms_outside_layers);
  require("vocab", config.vocab);
  require("learned_positions", config.learned_positions);
  require("token_types", config.token_types);
  require("tokens", config.tokens);
  require("batch", config.batch);
  require("tile", config.tile);
}

void require_consistent(const CostConfig& config) {
  if (config.heads % *config.kv_heads != 0) {
    throw InvalidArgument("cost", "kv_heads", fmt::format("a divisor of `heads`, {}", config.heads),
                          std::to_string(*config.kv_heads));
  }
  if (!is_floating(config.dtype)) {
    throw InvalidArgument("cost", "dtype", "f64, f32, f16 or bf16", name_of(config.dtype));
  }
  if (config.output_head != OutputHead::none && config.vocab == 0) {
    throw InvalidArgument("cost", "vocab", "at least 1 if there is an output head", "0");
  }
}

std::int64_t head_width(const CostConfig& config) {
  if (config.heads > 0 && config.d_model % config.heads == 0) return config.d_model / config.heads;
  if (config.heads <= 0) return 1;  // the error about heads comes next
  throw InvalidArgument("cost", "heads",
                        fmt::format("a divisor of `d_model`, {}, where `d_k` is not given", config.d_model),
                        std::to_string(config.heads));
}

}  // namespace

CostConfig resolved(const CostConfig& config) {
  CostConfig full = config;
  require("d_model", config.d_model);
  if (!full.kv_heads) full.kv_heads = config.heads;
  if (!full.d_k) full.d_k = head_width(config);
  if (!full.d_v) full.d_v = full.d_k;
  if (!full.d_ff) full.d_ff = 4 * config.d_model;
  require_extents(full);
  require_consistent(full);
  return full;
}

ModelShape shape_of(const CostConfig& config) {
  return {.layers = config.layers,
          .decoder_layers = config.decoder_layers,
          .d_model = config.d_model,
          .heads = config.heads,
          .kv_heads = *config.kv_heads,
          .d_k = *config.d_k,
          .d_v = *config.d_v,
          .d_ff = *config.d_ff,
          .ffn_matrices = config.gated_ffn ? 3 : 2,
          .vocab = config.vocab,
          .tokens = config.tokens,
          .batch = config.batch,
          .bytes = static_cast<std::int64_t>(size_of(config.dtype)),
          .lse_bytes = config.dtype == DType::f64 ? 8 : 4,
          .tile = config.tile};
}

Visits visits(const ModelShape& shape, bool causal) {
  const std::int64_t t = shape.tokens;
  const std::int64_t n = (t + shape.tile - 1) / shape.tile;
  if (!causal) {
    const Arithmetic each = product({{t, "tokens"}, {n, "tiles"}});
    return {product({{t, "", 2}}), each, each};
  }
  const std::int64_t last = t - (n - 1) * shape.tile;
  if (n == 1) return {product({{t, "", 2}}), product({{t, "tokens"}}), product({{t, "tokens"}})};
  const Factor below = pairs_below(n);
  return {product({{shape.tile, "", 2}, below}) + product({{last}, {t}}),
          product({{shape.tile}, below}) + product({{last}, {n}}), product({{shape.tile}, below}) + product({{t}})};
}

std::int64_t causal_attentions(const CostConfig& config) {
  return (config.causal ? config.layers : 0) + config.decoder_layers;
}

CostItem item(std::string key, std::string name, const Arithmetic& arithmetic, CostUnit unit) {
  return {std::move(key), std::move(name), arithmetic.text, arithmetic.value, unit};
}

CostItem total_of(std::string key, std::string name, const std::vector<CostItem>& items) {
  CostItem total{std::move(key), std::move(name), "", Count(), items.front().unit};
  for (const CostItem& one : items) {
    total.value = total.value + one.value;
    total.arithmetic += (total.arithmetic.empty() ? "" : " + ") + one.value.grouped();
  }
  return total;
}

}  // namespace qkv::cost_detail

qkv::CostBounds qkv::cost_bounds(std::string_view number) {
  using cost_detail::kBounds;
  const auto found = std::ranges::find(kBounds, number, &cost_detail::NamedBounds::number);
  if (found != kBounds.end()) return found->bounds;
  std::vector<std::string_view> names;
  for (const auto& one : kBounds) names.push_back(one.number);
  throw InvalidArgument("cost_bounds", "number", fmt::format("one of {}", fmt::join(names, ", ")),
                        fmt::format("\"{}\"", number));
}
