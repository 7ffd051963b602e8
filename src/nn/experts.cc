#include "qkv/nn/experts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>

#include "nn/require.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/masked_fill.h"
#include "qkv/autograd/shape.h"
#include "qkv/autograd/softmax.h"

namespace qkv {
namespace {

constexpr std::string_view kExperts = "Experts";

LinearOptions router_of(const ExpertOptions& options, const FeedForwardOptions& layer) {
  nn::require_positive(kExperts, "count", options.count);
  if (options.per_token < 1 || options.per_token > options.count) {
    throw InvalidArgument(kExperts, "per_token", "1 to count, " + std::to_string(options.count),
                          std::to_string(options.per_token));
  }
  if (!(options.router_jitter >= 0)) {
    throw InvalidArgument(kExperts, "router_jitter", "0 or more", std::to_string(options.router_jitter));
  }
  return {.in = layer.d_model, .out = options.count, .bias = options.router_bias, .dtype = layer.dtype};
}

std::vector<FeedForward> experts_of(const ExpertOptions& options, FeedForwardOptions layer, const Init& init) {
  if (options.d_ff) layer.d_ff = options.d_ff;
  std::vector<FeedForward> experts;
  for (std::int64_t e = 0; e < options.count; ++e) experts.emplace_back(layer, init);
  return experts;
}

std::optional<FeedForward> shared_of(const ExpertOptions& options, FeedForwardOptions layer, const Init& init) {
  if (!options.shared_d_ff) return std::nullopt;
  layer.d_ff = options.shared_d_ff;
  return FeedForward(layer, init);
}

std::optional<Linear> shared_gate_of(const ExpertOptions& options, const FeedForwardOptions& layer, const Init& init) {
  if (!options.shared_d_ff || !options.shared_gate) return std::nullopt;
  return Linear({.in = layer.d_model, .out = 1, .bias = false, .dtype = layer.dtype}, init);
}

// True for all but the k largest of each row of E.
Tensor all_but_largest(const TensorView& scores, std::int64_t k) {
  const std::vector<double> values = scores.to_vector();
  const auto E = static_cast<std::size_t>(scores.dim(-1));
  Tensor hidden(DType::b8, scores.shape());
  const std::span<bool> flags = hidden.values<bool>();
  std::vector<std::size_t> order(E);
  for (std::size_t row = 0; row < values.size(); row += E) {
    const auto value = [&](std::size_t e) {
      return std::isnan(values[row + e]) ? std::numeric_limits<double>::infinity() : values[row + e];
    };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::size_t a, std::size_t b) {
      return value(a) > value(b) || (value(a) == value(b) && a < b);
    });
    for (std::size_t n = 0; n < E; ++n) flags[row + order[n]] = n >= static_cast<std::size_t>(k);
  }
  return hidden;
}

// Of each row of E the next choice, where `taken` are the ones before.
struct Turn {
  Tensor others;   // true for all but the largest of those left
  Tensor unheard;  // true for those taken, and for those too far below it
};

Turn next_turn(const TensorView& scores, const Tensor& taken, double jitter) {
  const std::vector<double> values = scores.to_vector();
  const auto E = static_cast<std::size_t>(scores.dim(-1));
  Turn turn{.others = Tensor(DType::b8, scores.shape()), .unheard = Tensor(DType::b8, scores.shape())};
  const std::span<const bool> before = taken.values<bool>();
  const std::span<bool> others = turn.others.values<bool>();
  const std::span<bool> unheard = turn.unheard.values<bool>();
  for (std::size_t row = 0; row < values.size(); row += E) {
    std::size_t best = E;
    for (std::size_t e = 0; e < E; ++e) {
      if (before[row + e]) continue;
      const bool is_larger = best == E || values[row + e] > values[row + best];
      if (is_larger || (std::isnan(values[row + e]) && !std::isnan(values[row + best]))) best = e;
    }
    const double largest = values[row + best];
    for (std::size_t e = 0; e < E; ++e) {
      const double score = values[row + e];
      others[row + e] = e != best;
      unheard[row + e] = before[row + e] || (largest - score) / std::max(std::fabs(score), largest) > 2 * jitter;
    }
  }
  return turn;
}

// The tokens of each expert, those of expert 0 first, and their places in shares [N, E].
struct Routes {
  std::vector<std::int64_t> tokens = {};
  std::vector<std::int64_t> places = {};
  std::vector<std::int64_t> first = {0};  // of expert e: from first[e] to first[e + 1]
};

Routes routes_of(const TensorView& shares) {
  const std::vector<double> values = shares.to_vector();
  const std::int64_t N = shares.dim(0);
  const std::int64_t E = shares.dim(1);
  Routes routes;
  for (std::int64_t e = 0; e < E; ++e) {
    for (std::int64_t n = 0; n < N; ++n) {
      if (values[static_cast<std::size_t>(n * E + e)] == 0) continue;
      routes.tokens.push_back(n);
      routes.places.push_back(n * E + e);
    }
    routes.first.push_back(static_cast<std::int64_t>(routes.tokens.size()));
  }
  return routes;
}

Tensor ids_of(const std::vector<std::int64_t>& ids) { return {ids, {static_cast<std::int64_t>(ids.size())}}; }

}  // namespace

std::string_view name_of(ExpertShares shares) noexcept {
  if (shares == ExpertShares::of_chosen) return "of_chosen";
  return shares == ExpertShares::of_all ? "of_all" : "in_turn";
}

Experts::Experts(const ExpertOptions& options, const FeedForwardOptions& layer, const Init& init)
    : options_(options),
      router_(router_of(options, layer), init),
      experts_(experts_of(options, layer, init)),
      shared_(shared_of(options, layer, init)),
      shared_gate_(shared_gate_of(options, layer, init)) {}

Variable Experts::shares_in_turn(const Variable& scores) const {
  Tensor taken(DType::b8, scores.shape());
  Variable all;
  for (std::int64_t n = 0; n < options_.per_token; ++n) {
    const Turn turn = next_turn(scores.value(), taken, options_.router_jitter);
    const Variable heard = masked_fill(scores, turn.unheard, -std::numeric_limits<double>::infinity());
    const Variable share = masked_fill(softmax(heard), turn.others, 0);
    all = n == 0 ? share : all + share;
    const std::span<bool> flags = taken.values<bool>();
    const std::span<const bool> others = turn.others.values<bool>();
    for (std::size_t e = 0; e < flags.size(); ++e) flags[e] = flags[e] || !others[e];
  }
  return all;
}

Variable Experts::shares_of(const Variable& scores) const {
  if (options_.shares == ExpertShares::in_turn) return shares_in_turn(scores);
  const Tensor others = all_but_largest(scores.value(), options_.per_token);
  if (options_.shares == ExpertShares::of_all) return masked_fill(softmax(scores), others, 0);
  return softmax(masked_fill(scores, others, -std::numeric_limits<double>::infinity()));
}

// x [N, d_model], shares [N, E]
Variable Experts::mixed(const Variable& x, const Variable& shares) const {
  const Routes routes = routes_of(shares.value());
  const Tensor tokens = ids_of(routes.tokens);
  const Variable read = embedding(x, tokens);
  std::vector<Variable> parts;
  for (std::size_t e = 0; e < experts_.size(); ++e) {
    const std::int64_t begin = routes.first[e];
    const std::int64_t end = routes.first[e + 1];
    if (begin == end) continue;
    parts.push_back(
        nn::named("experts." + std::to_string(e), [&] { return experts_[e].forward(slice(read, 0, begin, end)); }));
  }
  if (parts.empty()) return x * 0.0;
  const Variable factors = embedding(reshape(shares, {shares.size(), 1}), ids_of(routes.places));
  return scatter_rows(concat(parts, 0) * factors, tokens, x.dim(0));
}

Variable Experts::shared_part(const Variable& x) const {
  const Variable out = nn::named("shared", [&] { return shared_->forward(x); });
  if (!shared_gate_) return out;
  return out * sigmoid(nn::named("shared_gate", [&] { return shared_gate_->forward(x); }));
}

Variable Experts::forward(const Variable& x) const {
  nn::require_width(kExperts, "x", router_.in(), x.shape());
  const Variable scores = nn::named("router", [&] { return router_.forward(x); });
  const Variable shares = nn::traced("shares", shares_of(scores));
  const std::int64_t N = x.size() / router_.in();
  const Variable out = reshape(mixed(reshape(x, {N, router_.in()}), reshape(shares, {N, options_.count})), x.shape());
  return shared_ ? out + shared_part(x) : out;
}

Parameters Experts::parameters() const {
  Parameters all;
  append(all, "router", router_.parameters());
  for (std::size_t e = 0; e < experts_.size(); ++e) {
    append(all, "experts." + std::to_string(e), experts_[e].parameters());
  }
  if (shared_) append(all, "shared", shared_->parameters());
  if (shared_gate_) append(all, "shared_gate", shared_gate_->parameters());
  return all;
}

}  // namespace qkv
