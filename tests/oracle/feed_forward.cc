#include "qkv/nn/feed_forward.h"

#include <utility>

#include "nn/require.h"

namespace qkv {
namespace {

std::int64_t width_of(const FeedForwardOptions& options) {
  nn::require_positive("FeedForward", "d_model", options.d_model);
  const std::int64_t d_ff = options.d_ff.value_or(4 * options.d_model);
  nn::require_positive("FeedForward", "d_ff", d_ff);
  return d_ff;
}

Linear map_of(const FeedForwardOptions& options, std::int64_t in, std::int64_t out, Generator& generator) {
  return {{.in = in, .out = out, .bias = options.bias, .dtype = options.dtype}, generator};
}

}  // namespace

FeedForward::FeedForward(const FeedForwardOptions& options, Generator& generator)
    : up_(map_of(options, options.d_model, width_of(options), generator)),
      down_(map_of(options, width_of(options), options.d_model, generator)),
      activation_(options.activation) {}

FeedForward::FeedForward(Linear up, Linear down, Activation activation)
    : up_(std::move(up)), down_(std::move(down)), activation_(activation) {
  nn::require_shape("FeedForward", "down", {up_.in(), up_.out()}, down_.weight().shape());
}

Tensor FeedForward::forward(const TensorView& x, const TapScope& taps) const {
  const Tensor hidden = up_.forward(x);
  taps.put("hidden", hidden);
  const Tensor activated = activate(activation_, hidden);
  taps.put("activated", activated);
  Tensor out = down_.forward(activated);
  taps.put("out", out);
  return out;
}

}  // namespace qkv
