#include "oracle/transformer.h"

#include "oracle/elementwise.h"

namespace qkv::oracle {
namespace {

Tensor normed(const std::optional<Norm>& norm, const TensorView& x) { return norm ? norm->forward(x) : Tensor(x); }

Tensor scaled(const Tensor& x, const std::optional<double>& factor) {
  std::vector<double> values = x.to_vector();
  for (double& value : values) value *= factor.value_or(1);
  return Tensor(values, x.shape()).to(x.dtype());
}

// One sublayer with its norms and its residual sum.
template <class Sublayer>
Tensor with_residual(const TensorView& x, const TransformerBlock& block, const std::optional<Norm>& norm,
                     const std::optional<Norm>& after, const Sublayer& sublayer) {
  const auto added = [&](const Tensor& out) { return add(x, scaled(out, block.residual_scale)); };
  if (block.order == NormOrder::post) return norm.value().forward(added(sublayer(Tensor(x))));
  return added(normed(after, sublayer(normed(norm, x))));
}

void add_to_seed(std::optional<Dropout>& dropout, std::uint64_t steps) {
  if (dropout) dropout->seed += steps;
}

}  // namespace

Tensor TransformerBlock::forward(const TensorView& x, const std::optional<TensorView>& context,
                                 const Call& call) const {
  if (order == NormOrder::parallel || order == NormOrder::parallel_one) {
    const Tensor first = ln1.value().forward(x);
    const Tensor attended = attention.forward(first, call.attention, call.positions);
    const Tensor fed = feed_forward.forward(order == NormOrder::parallel ? ln2.value().forward(x) : first);
    return add(x, scaled(add(attended, fed), residual_scale));
  }
  Tensor state = with_residual(x, *this, ln1, attention_norm, [&](const Tensor& input) {
    return attention.forward(input, call.attention, call.positions);
  });
  if (cross) {
    state = with_residual(state, *this, ln_cross, cross_norm, [&](const Tensor& input) {
      return cross->forward_cross(input, context.value(), call.cross_attention);
    });
  }
  return with_residual(state, *this, ln2, feed_forward_norm,
                       [&](const Tensor& input) { return feed_forward.forward(input); });
}

Tensor TransformerStack::forward(const TensorView& x, const std::optional<TensorView>& context,
                                 const Call& call) const {
  Call inner = call;
  if (kind == StackKind::decoder) inner.attention.mask = call.attention.mask & causal();
  add_to_seed(inner.cross_attention.dropout, 1);
  Tensor state(x);
  for (const TransformerBlock& block : blocks) {
    state = block.forward(state, context, inner);
    add_to_seed(inner.attention.dropout, 2);
    add_to_seed(inner.cross_attention.dropout, 2);
  }
  return last ? last->forward(state) : state;
}

}  // namespace qkv::oracle
