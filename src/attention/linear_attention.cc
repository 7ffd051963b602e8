#include "qkv/linear_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/validate.h"
#include "core/bytes.h"
#include "kernels/linear/linear.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::linear::FeatureState;
using kernels::linear::Tokens;

Tokens validated_tokens(std::string_view function, const TensorView& q, const TensorView& k, const TensorView& v,
                        const AttentionOptions& options) {
  static_cast<void>(validated(function, q, k, options));
  validate_values(function, k, v);
  const std::int64_t heads = std::max<std::int64_t>(k.dim(0) * k.dim(1), 1);
  const std::int64_t threads = std::min<std::int64_t>(options.threads.value_or(qkv::threads()), heads);
  return {.q = q, .k = k, .v = v, .threads = static_cast<int>(threads)};
}

std::string described(DType dtype, const Shape& shape) {
  return fmt::format("{} {}", name_of(dtype), shape.to_string());
}

void require_tensor(std::string_view argument, std::string_view name, const Tensor& tensor, DType dtype,
                    const Shape& shape) {
  if (tensor.dtype() == dtype && tensor.shape() == shape) return;
  throw InvalidArgument("linear_attention", argument, fmt::format("{} as {}", described(dtype, shape), name),
                        described(tensor.dtype(), tensor.shape()));
}

LinearAttentionState no_keys(const Tokens& tokens, FeatureMap features) {
  const DType dtype = kernels::linear::state_dtype(tokens.q.dtype());
  const Shape heads = {tokens.k.dim(0), tokens.k.dim(1), tokens.q.dim(3)};
  LinearAttentionState state = {.sums = Tensor(dtype, {heads[0], heads[1], heads[2], tokens.v.dim(3)}),
                                .norms = Tensor(dtype, heads),
                                .peaks = {}};
  if (features != FeatureMap::softmax) return state;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  state.peaks =
      Tensor(std::vector<double>(core::checked_count<double>("linear_attention", heads), kNone), heads).to(dtype);
  return state;
}

void require_state(const LinearAttentionState& state, const LinearAttentionState& like) {
  require_tensor("state", "sums", state.sums, like.sums.dtype(), like.sums.shape());
  require_tensor("state", "norms", state.norms, like.norms.dtype(), like.norms.shape());
  if (state.peaks.empty() != like.peaks.empty()) {
    constexpr std::string_view kSoftmax = "one of softmax features";
    constexpr std::string_view kOther = "one of other features";
    throw InvalidArgument("linear_attention", "state", like.peaks.empty() ? kOther : kSoftmax,
                          like.peaks.empty() ? kSoftmax : kOther);
  }
  if (!like.peaks.empty()) require_tensor("state", "peaks", state.peaks, like.peaks.dtype(), like.peaks.shape());
}

}  // namespace

Tensor linear_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                        const LinearAttentionOptions& options) {
  LinearAttentionState state;
  return linear_attention(q, k, v, state, options);
}

Tensor linear_attention(const TensorView& q, const TensorView& k, const TensorView& v, LinearAttentionState& state,
                        const LinearAttentionOptions& options) {
  const Tokens tokens = validated_tokens("linear_attention", q, k, v, {.threads = options.threads});
  LinearAttentionState start = no_keys(tokens, options.features);
  if (state.sums.empty()) {
    state = std::move(start);
  } else {
    require_state(state, start);
  }
  Tensor out(q.dtype(), {q.dim(0), q.dim(1), q.dim(2), v.dim(3)});
  const FeatureState parts = {.sums = state.sums, .norms = state.norms, .peaks = state.peaks};
  kernels::linear::attend(tokens, options.features, options.causal, parts, out);
  return out;
}

}  // namespace qkv
