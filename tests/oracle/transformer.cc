#include "oracle/transformer.h"

#include "oracle/elementwise.h"

namespace qkv::oracle {
namespace {

// One sublayer with its norms and its residual sum.
template <class Sublayer>
Tensor with_residual(const TensorView& x, NormOrder order, const Norm& norm, const std::optional<Norm>& after,
                     const Sublayer& sublayer) {
  if (order == NormOrder::post) return norm.forward(add(x, sublayer(Tensor(x))));
  const Tensor out = sublayer(norm.forward(x));
  return add(x, order == NormOrder::both ? after.value().forward(out) : out);
}

void add_to_seed(std::optional<Dropout>& dropout, std::uint64_t steps) {
  if (dropout) dropout->seed += steps;
}

}  // namespace

Tensor TransformerBlock::forward(const TensorView& x, const std::optional<TensorView>& context,
                                 const Call& call) const {
  Tensor state = with_residual(x, order, ln1, attention_norm, [&](const Tensor& input) {
    return attention.forward(input, call.attention, call.positions);
  });
  if (cross) {
    state = with_residual(state, order, *ln_cross, cross_norm, [&](const Tensor& input) {
      return cross->forward_cross(input, context.value(), call.cross_attention);
    });
  }
  return with_residual(state, order, ln2, feed_forward_norm,
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
