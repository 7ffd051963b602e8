#include "qkv/nn/attention_pool.h"

#include <cmath>
#include <string>

#include "nn/require.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr std::string_view kAttentionPool = "AttentionPool";

Variable query_of(const AttentionPoolOptions& options, const Init& init) {
  nn::require_positive(kAttentionPool, "d_model", options.d_model);
  return init.normal({options.d_model}, 1 / std::sqrt(static_cast<double>(options.d_model)), options.dtype);
}

}  // namespace

AttentionPool::AttentionPool(const AttentionPoolOptions& options, const Init& init)
    : query_(query_of(options, init)),
      attention_({.d_model = options.d_model, .heads = options.heads}, init, options.dtype),
      norm_({.width = options.d_model, .epsilon = options.epsilon, .dtype = options.dtype}, init),
      feed_forward_(
          {.d_model = options.d_model, .d_ff = options.d_ff, .activation = options.activation, .dtype = options.dtype},
          init) {}

Variable AttentionPool::forward(const Variable& x) const {
  const std::int64_t width = attention_.options().d_model;
  if (x.empty() || x.rank() != 3 || x.dim(2) != width) {
    throw InvalidArgument(kAttentionPool, "x", "[B, T, " + std::to_string(width) + "]",
                          x.empty() ? "an empty variable" : x.shape().to_string());
  }
  const Variable zeros(Tensor(x.dtype(), {x.dim(0), 1, width}));
  const Variable query = zeros + cast(query_, x.dtype());
  const Variable read = nn::named("attn", [&] { return attention_.forward_cross(query, x); });
  const Variable normed = nn::named("ln", [&] { return norm_.forward(read); });
  const Variable out = read + nn::named("ffn", [&] { return feed_forward_.forward(normed); });
  return reshape(out, {x.dim(0), width});
}

Parameters AttentionPool::parameters() const {
  Parameters all = {{"query.weight", query_}};
  append(all, "attn", attention_.parameters());
  append(all, "ln", norm_.parameters());
  append(all, "ffn", feed_forward_.parameters());
  return all;
}

}  // namespace qkv
