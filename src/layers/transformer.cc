#include "qkv/layers/transformer.h"

#include <string>
#include <utility>

#include "layers/named.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/checkpoint.h"
#include "qkv/autograd/embedding.h"

namespace qkv::learn {
namespace {

constexpr std::string_view kBlock = "TransformerBlock";

Variable dropped(const Variable& x, const std::optional<Dropout>& dropout, std::uint64_t place) {
  return dropout ? qkv::dropout(x, dropout_at(*dropout, place)) : x;
}

// A part of a block, under the name of its parameters.
struct NamedNorm {
  const char* name;
  const Norm& norm;

  [[nodiscard]] Variable forward(const Variable& x) const {
    return named(name, [&] { return norm.forward(x); });
  }
};

// One sublayer with its norm, its dropout and its residual sum, in either order.
template <class Sublayer>
Variable with_residual(const Variable& x, NormOrder order, const NamedNorm& norm, const char* name,
                       const Sublayer& sublayer) {
  const auto inner = [&](const Variable& input) { return named(name, [&] { return sublayer(input); }); };
  if (order == NormOrder::pre) return x + inner(norm.forward(x));
  return norm.forward(x + inner(x));
}

void add_to_seed(std::optional<Dropout>& dropout, std::uint64_t steps) {
  if (dropout) dropout->seed += steps;
}

}  // namespace

TransformerBlock::TransformerBlock(const qkv::TransformerBlock& block)
    : order_(block.order()),
      ln1_(block.parts().ln1),
      attention_(block.parts().attention),
      ln_cross_(block.parts().ln_cross ? std::optional<Norm>(*block.parts().ln_cross) : std::nullopt),
      cross_(block.parts().cross ? std::optional<MultiHeadAttention>(*block.parts().cross) : std::nullopt),
      ln2_(block.parts().ln2),
      feed_forward_(block.parts().feed_forward) {}

Variable TransformerBlock::forward(const Variable& x, const BlockCall& call) const {
  if (cross_) throw InvalidArgument(kBlock, "context", "one for the cross-attention", "none");
  return run(x, nullptr, call);
}

Variable TransformerBlock::forward_cross(const Variable& x, const Variable& context, const BlockCall& call) const {
  if (!cross_) {
    throw InvalidArgument(kBlock, "context", "none without cross-attention", context.shape().to_string());
  }
  return run(x, &context, call);
}

Variable TransformerBlock::run(const Variable& x, const Variable* context, const BlockCall& call) const {
  if (call.memory == BlockMemory::keep) return compute(x, context, call);
  // A second run needs the positions to be there still, so it has a copy.
  std::optional<Tensor> positions;
  if (call.positions) positions.emplace(*call.positions);
  const auto block = [self = *this, call, positions](const std::vector<Variable>& inputs) {
    BlockCall again = call;
    if (positions) again.positions = positions->view();
    return self.compute(inputs[0], inputs.size() > 1 ? &inputs[1] : nullptr, again);
  };
  return checkpoint(block, context == nullptr ? std::vector<Variable>{x} : std::vector<Variable>{x, *context});
}

Variable TransformerBlock::compute(const Variable& x, const Variable* context, const BlockCall& call) const {
  const MultiHeadCall self{.attention = call.attention, .learned = call.learned, .positions = call.positions};
  Variable state = with_residual(x, order_, {"ln1", ln1_}, "attention", [&](const Variable& input) {
    return dropped(attention_.forward(input, self), call.dropout, 0);
  });
  if (context != nullptr) {
    const MultiHeadCall cross{.attention = call.cross_attention, .learned = {}, .positions = std::nullopt};
    state = with_residual(state, order_, {"ln_cross", *ln_cross_}, "cross", [&](const Variable& input) {
      return dropped(cross_->forward_cross(input, *context, cross), call.dropout, 1);
    });
  }
  return with_residual(state, order_, {"ln2", ln2_}, "feed_forward",
                       [&](const Variable& input) { return dropped(feed_forward_.forward(input), call.dropout, 2); });
}

Parameters TransformerBlock::parameters() const {
  Parameters all;
  append(all, "ln1", ln1_.parameters());
  append(all, "attention", attention_.parameters());
  if (cross_) {
    append(all, "ln_cross", ln_cross_->parameters());
    append(all, "cross", cross_->parameters());
  }
  append(all, "ln2", ln2_.parameters());
  append(all, "feed_forward", feed_forward_.parameters());
  return all;
}

qkv::TransformerBlock TransformerBlock::frozen() const {
  BlockParts parts{.ln1 = ln1_.frozen(),
                   .attention = attention_.frozen(),
                   .ln2 = ln2_.frozen(),
                   .feed_forward = feed_forward_.frozen()};
  if (cross_) {
    parts.ln_cross = ln_cross_->frozen();
    parts.cross = cross_->frozen();
  }
  return {order_, std::move(parts)};
}

TransformerStack::TransformerStack(const qkv::TransformerStack& stack)
    : kind_(stack.kind()), last_(stack.last() ? std::optional<Norm>(*stack.last()) : std::nullopt) {
  for (const qkv::TransformerBlock& block : stack.blocks()) blocks_.emplace_back(block);
}

Variable TransformerStack::forward(const Variable& x, const BlockCall& call) const { return run(x, nullptr, call); }

Variable TransformerStack::forward_cross(const Variable& x, const Variable& context, const BlockCall& call) const {
  return run(x, &context, call);
}

Variable TransformerStack::run(const Variable& x, const Variable* context, const BlockCall& call) const {
  BlockCall inner = call;
  if (kind_ == StackKind::decoder) inner.attention.mask = call.attention.mask & causal();
  add_to_seed(inner.cross_attention.dropout, 1);
  Variable state = x;
  for (std::size_t n = 0; n < blocks_.size(); ++n) {
    const OperationScope scope("blocks." + std::to_string(n));
    if (call.dropout) inner.dropout = dropout_at(*call.dropout, n);
    state = context == nullptr ? blocks_[n].forward(state, inner) : blocks_[n].forward_cross(state, *context, inner);
    add_to_seed(inner.attention.dropout, 2);
    add_to_seed(inner.cross_attention.dropout, 2);
  }
  return last_ ? named("ln_final", [&] { return last_->forward(state); }) : state;
}

Parameters TransformerStack::parameters() const {
  Parameters all;
  for (std::size_t n = 0; n < blocks_.size(); ++n) {
    append(all, "blocks." + std::to_string(n), blocks_[n].parameters());
  }
  if (last_) append(all, "ln_final", last_->parameters());
  return all;
}

qkv::TransformerStack TransformerStack::frozen() const {
  std::vector<qkv::TransformerBlock> blocks;
  blocks.reserve(blocks_.size());
  for (const TransformerBlock& block : blocks_) blocks.push_back(block.frozen());
  return {kind_, std::move(blocks), last_ ? std::optional<qkv::Norm>(last_->frozen()) : std::nullopt};
}

}  // namespace qkv::learn
