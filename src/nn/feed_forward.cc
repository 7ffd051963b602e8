#include "qkv/nn/feed_forward.h"

#include <array>
#include <limits>

#include "nn/require.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"

namespace qkv {
namespace {

std::int64_t width_of(const FeedForwardOptions& options) {
  nn::require_positive("FeedForward", "d_model", options.d_model);
  const std::int64_t d_ff = options.d_ff.value_or(4 * options.d_model);
  nn::require_positive("FeedForward", "d_ff", d_ff);
  return d_ff;
}

LinearOptions up_of(const FeedForwardOptions& options) {
  return {.in = options.d_model, .out = width_of(options), .bias = options.bias, .dtype = options.dtype};
}

LinearOptions down_of(const FeedForwardOptions& options) {
  return {.in = width_of(options), .out = options.d_model, .bias = options.bias, .dtype = options.dtype};
}

std::optional<Linear> gate_of(const FeedForwardOptions& options, const Init& init) {
  if (!is_gated(options.kind)) return std::nullopt;
  return Linear(up_of(options), init);
}

std::optional<double> limit_of(const FeedForwardOptions& options) {
  if (options.kind != FeedForwardKind::limited) return std::nullopt;
  nn::require_positive("FeedForward", "limit", options.limit);
  return options.limit;
}

}  // namespace

std::string_view name_of(FeedForwardKind kind) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"plain", "gated", "limited"};
  return kNames[static_cast<std::size_t>(kind)];
}

FeedForward::FeedForward(const FeedForwardOptions& options, const Init& init)
    : activation_(options.activation),
      limit_(limit_of(options)),
      gate_(gate_of(options, init)),
      up_(up_of(options), init),
      down_(down_of(options), init) {}

Variable FeedForward::gated(const Variable& gate, const Variable& up) const {
  if (!limit_) return activate(activation_, gate) * up;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Variable opened = activate(activation_, clamp(gate, kNone, *limit_));
  return opened + opened * clamp(up, -*limit_, *limit_);
}

Variable FeedForward::forward(const Variable& x) const {
  const auto up = [&] { return nn::named("up", [&] { return up_.forward(x); }); };
  Variable activated;
  if (gate_) {
    const Variable gate = nn::named("gate", [&] { return gate_->forward(x); });
    activated = gated(gate, up());
  } else {
    activated = activate(activation_, up());
  }
  activated = nn::traced("activated", activated);
  return nn::named("down", [&] { return down_.forward(activated); });
}

Parameters FeedForward::parameters() const {
  Parameters all;
  if (gate_) append(all, "gate", gate_->parameters());
  append(all, "up", up_.parameters());
  append(all, "down", down_.parameters());
  return all;
}

}  // namespace qkv
