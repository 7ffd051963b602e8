#include "qkv/nn/experts.h"

#include <algorithm>
#include <array>
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
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/shape.h"
#include "qkv/autograd/softmax.h"

namespace qkv {
namespace {

constexpr std::string_view kExperts = "Experts";

bool is_sigmoid(ExpertShares shares) {
  return shares == ExpertShares::sigmoid || shares == ExpertShares::sigmoid_of_chosen;
}

void require_groups(const ExpertOptions& options) {
  const auto refuse = [](const char* word, const std::string& expected, const std::string& got) {
    throw InvalidArgument(kExperts, word, expected, got);
  };
  const std::int64_t each = options.groups < 1 ? 0 : options.count / options.groups;
  const std::int64_t least = is_sigmoid(options.shares) && options.groups > 1 ? 2 : 1;
  if (each < least || options.count % options.groups != 0) {
    refuse("groups",
           "a divisor of count, " + std::to_string(options.count) + (least == 2 ? ", that leaves two in each" : ""),
           std::to_string(options.groups));
  }
  if (options.groups > 1 && options.shares == ExpertShares::in_turn) {
    refuse("groups", "1 with shares in_turn", std::to_string(options.groups));
  }
  if (options.groups_per_token < 1 || options.groups_per_token > options.groups) {
    refuse("groups_per_token", "1 to groups, " + std::to_string(options.groups),
           std::to_string(options.groups_per_token));
  }
  if (options.groups > 1 && options.per_token > options.groups_per_token * each) {
    refuse("groups_per_token", "groups that have per_token experts, " + std::to_string(options.per_token),
           std::to_string(options.groups_per_token) + " of " + std::to_string(each));
  }
  if (options.correction && !is_sigmoid(options.shares))
    refuse("correction", "none where shares are no sigmoids", "one");
}

LinearOptions router_of(const ExpertOptions& options, const FeedForwardOptions& layer) {
  nn::require_positive(kExperts, "count", options.count);
  if (options.per_token < 1 || options.per_token > options.count) {
    throw InvalidArgument(kExperts, "per_token", "1 to count, " + std::to_string(options.count),
                          std::to_string(options.per_token));
  }
  if (!(options.router_jitter >= 0)) {
    throw InvalidArgument(kExperts, "router_jitter", "0 or more", std::to_string(options.router_jitter));
  }
  require_groups(options);
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

// The numbers of the k largest of `values`, of equal ones the first; NaN counts as the largest.
std::vector<std::size_t> largest(std::span<const double> values, std::int64_t k) {
  const auto value = [&](std::size_t n) {
    return std::isnan(values[n]) ? std::numeric_limits<double>::infinity() : values[n];
  };
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::size_t a, std::size_t b) {
    return value(a) > value(b) || (value(a) == value(b) && a < b);
  });
  order.resize(static_cast<std::size_t>(k));
  return order;
}

// What counts of the experts of a group: its largest, or its two largest.
double group_value(std::span<const double> group, std::int64_t counted) {
  double sum = 0;
  for (const std::size_t n : largest(group, counted)) sum += group[n];
  return sum;
}

// The chosen of one token, by `values` of all experts.
std::vector<std::size_t> chosen(const ExpertOptions& options, std::span<const double> values) {
  if (options.groups == options.groups_per_token) return largest(values, options.per_token);
  const std::size_t each = values.size() / static_cast<std::size_t>(options.groups);
  std::vector<double> of_groups;
  for (std::size_t first = 0; first < values.size(); first += each) {
    of_groups.push_back(group_value(values.subspan(first, each), is_sigmoid(options.shares) ? 2 : 1));
  }
  std::vector<double> left(values.size(), -std::numeric_limits<double>::infinity());
  for (const std::size_t group : largest(of_groups, options.groups_per_token)) {
    std::ranges::copy(values.subspan(group * each, each), left.begin() + static_cast<std::ptrdiff_t>(group * each));
  }
  return largest(left, options.per_token);
}

// True for all but the chosen of each row of E, by values [..., E].
Tensor all_but_chosen(const ExpertOptions& options, const TensorView& values) {
  const std::vector<double> all = values.to_vector();
  const auto E = static_cast<std::size_t>(options.count);
  Tensor hidden(DType::b8, values.shape());
  const std::span<bool> flags = hidden.values<bool>();
  std::ranges::fill(flags, true);
  for (std::size_t row = 0; row < all.size(); row += E) {
    for (const std::size_t e : chosen(options, std::span(all).subspan(row, E))) flags[row + e] = false;
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
  constexpr std::array<std::string_view, 5> kNames = {"of_chosen", "of_all", "in_turn", "sigmoid", "sigmoid_of_chosen"};
  return kNames[static_cast<std::size_t>(shares)];
}

Experts::Experts(const ExpertOptions& options, const FeedForwardOptions& layer, const Init& init)
    : options_(options),
      router_(router_of(options, layer), init),
      correction_(options.correction ? init.constant({options.count}, 0, layer.dtype) : Variable()),
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

Variable Experts::shares_of_sigmoids(const Variable& scores) const {
  const Variable all = sigmoid(scores);
  // A correction chooses alone, so that no gradient reaches it.
  const Variable values = correction_.empty() ? all : all + cast(correction_, all.dtype());
  const Variable shares = masked_fill(all, all_but_chosen(options_, values.value()), 0);
  if (options_.shares == ExpertShares::sigmoid) return shares;
  return shares / sum(shares, {-1}, ReducedAxes::keep);
}

Variable Experts::shares_of(const Variable& scores) const {
  if (options_.shares == ExpertShares::in_turn) return shares_in_turn(scores);
  if (is_sigmoid(options_.shares)) return shares_of_sigmoids(scores);
  const Tensor others = all_but_chosen(options_, scores.value());
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
  const Variable own = shares_of(scores);
  const Variable shares = nn::traced("shares", options_.factor == 1 ? own : scale(own, options_.factor));
  const std::int64_t N = x.size() / router_.in();
  const Variable out = reshape(mixed(reshape(x, {N, router_.in()}), reshape(shares, {N, options_.count})), x.shape());
  return shared_ ? out + shared_part(x) : out;
}

Parameters Experts::parameters() const {
  Parameters all;
  append(all, "router", router_.parameters());
  if (!correction_.empty()) all.push_back({"correction", correction_});
  for (std::size_t e = 0; e < experts_.size(); ++e) {
    append(all, "experts." + std::to_string(e), experts_[e].parameters());
  }
  if (shared_) append(all, "shared", shared_->parameters());
  if (shared_gate_) append(all, "shared_gate", shared_gate_->parameters());
  return all;
}

}  // namespace qkv
