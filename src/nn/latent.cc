#include "qkv/nn/latent.h"

#include <string_view>
#include <vector>

#include "nn/require.h"
#include "nn/tracing.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr std::string_view kLatent = "MultiHeadAttention";

LinearOptions keys_down(const LatentOptions& options, const LatentSizes& sizes, DType dtype) {
  nn::require_positive(kLatent, "latent.kv_rank", options.kv_rank);
  if (sizes.turned < 1 || sizes.turned >= sizes.d_k) {
    throw InvalidArgument(kLatent, "rotary.dim",
                          "from 1 to `d_k` - 1, " + std::to_string(sizes.d_k - 1) + ", beside latent keys",
                          std::to_string(sizes.turned));
  }
  return {.in = sizes.d_model, .out = options.kv_rank + sizes.turned, .bias = sizes.bias, .dtype = dtype};
}

LinearOptions queries_down(const LatentOptions& options, const LatentSizes& sizes, DType dtype) {
  nn::require_positive(kLatent, "latent.q_rank", *options.q_rank);
  return {.in = sizes.d_model, .out = *options.q_rank, .bias = sizes.bias, .dtype = dtype};
}

NormOptions norm_of_latent(std::int64_t width, double epsilon, DType dtype) {
  return {.kind = NormKind::rms, .width = width, .epsilon = epsilon, .dtype = dtype};
}

}  // namespace

LatentKeys::LatentKeys(const LatentOptions& options, const LatentSizes& sizes, const Init& init, DType dtype)
    : sizes_(sizes),
      down_(keys_down(options, sizes, dtype), init),
      norm_(norm_of_latent(options.kv_rank, options.epsilon, dtype), init),
      up_({.in = options.kv_rank,
           .out = sizes.heads * (sizes.d_k - sizes.turned + sizes.d_v),
           .bias = false,
           .dtype = dtype},
          init) {}

LatentKeys::KeysAndValues LatentKeys::forward(const Variable& x) const {
  const Variable both = nn::named("latent", [&] { return down_.forward(x); });
  const std::int64_t rank = norm_.width();
  const Variable latent = nn::named("latent_norm", [&] { return norm_.forward(slice(both, 2, 0, rank)); });
  const Variable heads_of = split_heads(nn::named("kv", [&] { return up_.forward(latent); }), sizes_.heads);
  const std::int64_t own = sizes_.d_k - sizes_.turned;
  const Variable turned = split_heads(slice(both, 2, rank, rank + sizes_.turned), 1);
  const Variable of_all = concat(std::vector<Variable>(static_cast<std::size_t>(sizes_.heads), turned), 1);
  return {.k = concat({slice(heads_of, 3, 0, own), of_all}, 3), .v = slice(heads_of, 3, own, own + sizes_.d_v)};
}

Parameters LatentKeys::parameters() const {
  Parameters all;
  append(all, "latent", down_.parameters());
  append(all, "latent_norm", norm_.parameters());
  append(all, "kv", up_.parameters());
  return all;
}

LatentQueries::LatentQueries(const LatentOptions& options, const LatentSizes& sizes, const Init& init, DType dtype)
    : down_(queries_down(options, sizes, dtype), init),
      norm_(norm_of_latent(*options.q_rank, options.epsilon, dtype), init) {}

Variable LatentQueries::forward(const Variable& x) const {
  const Variable latent = nn::named("q_latent", [&] { return down_.forward(x); });
  return nn::named("q_latent_norm", [&] { return norm_.forward(latent); });
}

Parameters LatentQueries::parameters() const {
  Parameters all;
  append(all, "q_latent", down_.parameters());
  append(all, "q_latent_norm", norm_.parameters());
  return all;
}

}  // namespace qkv
