#include "qkv/nn/stack.h"

#include <memory>
#include <string>
#include <utility>

#include "nn/passes.h"
#include "nn/require.h"
#include "nn/resumed.h"
#include "nn/tracing.h"

namespace qkv {
namespace {

constexpr std::string_view kStack = "TransformerStack";

thread_local std::int64_t passes = 0;  // NOLINT(*-avoid-non-const-global-variables): of a thread, for tests

std::vector<TransformerBlock> blocks_of(const StackOptions& options, const Init& init, DType dtype) {
  nn::require_positive(kStack, "layers", options.layers);
  if (options.one_block && options.vary) {
    throw InvalidArgument(kStack, "vary", "none where every layer is one block", "a function");
  }
  std::vector<TransformerBlock> blocks;
  if (options.one_block) {
    // Copies share their parameters.
    blocks.assign(static_cast<std::size_t>(options.layers), TransformerBlock(options.block, init, dtype));
    return blocks;
  }
  for (std::int64_t n = 0; n < options.layers; ++n) {
    BlockOptions block = options.block;
    if (options.vary) options.vary(n, block);
    blocks.emplace_back(block, init, dtype);
  }
  return blocks;
}

// A stack whose last block ends with a sum ends with one more norm.
std::optional<Norm> last_norm(const StackOptions& options, const Init& init, DType dtype) {
  const BlockOptions& block = options.block;
  if (block.order == NormOrder::post) return std::nullopt;
  return Norm({.kind = block.norm, .width = block.attention.d_model, .epsilon = block.epsilon, .dtype = dtype}, init);
}

void add_to_seed(std::optional<Dropout>& dropout, std::uint64_t steps) {
  if (dropout) dropout->seed += steps;
}

}  // namespace

std::int64_t passes_of_thread() noexcept { return passes; }

TransformerStack::TransformerStack(const StackOptions& options, const Init& init, DType dtype)
    : kind_(options.kind),
      is_one_block_(options.one_block),
      blocks_(blocks_of(options, init, dtype)),
      last_(last_norm(options, init, dtype)) {}

template <class RunBlock>
Variable TransformerStack::run(const Variable& x, const BlockCall& call, const RunBlock& run_block) const {
  const nn::Tracing tracing(call.trace);
  BlockCall inner = call;
  inner.trace = nullptr;
  if (kind_ == StackKind::decoder) inner.attention.mask = call.attention.mask & causal();
  // All blocks see the same masks: each is planned once, for the backward pass, too.
  if (inner.attention.plans == nullptr) inner.attention.plans = std::make_shared<MaskPlans>();
  if (inner.cross_attention.plans == nullptr) inner.cross_attention.plans = inner.attention.plans;
  add_to_seed(inner.cross_attention.dropout, 1);
  const nn::Resumption* const resumed = nn::resumption_of_scope();
  const std::size_t first = resumed == nullptr ? 0 : static_cast<std::size_t>(resumed->first);
  Variable state = resumed == nullptr ? x : resumed->state;
  if (first < blocks_.size()) ++passes;
  for (std::size_t n = first; n < blocks_.size(); ++n) {
    if (call.dropout) inner.dropout = dropout_at(*call.dropout, n);
    state = nn::named("blocks." + std::to_string(n), [&] { return run_block(n, state, inner); });
    add_to_seed(inner.attention.dropout, 2);
    add_to_seed(inner.cross_attention.dropout, 2);
  }
  return tracing.result(end(state));
}

Variable TransformerStack::end(const Variable& stream) const {
  return last_ ? nn::named("ln_final", [&] { return last_->forward(stream); }) : stream;
}

Variable TransformerStack::forward(const Variable& x, const BlockCall& call) const {
  return run(x, call, [&](std::size_t n, const Variable& state, const BlockCall& inner) {
    return blocks_[n].forward(state, inner);
  });
}

Variable TransformerStack::forward_cross(const Variable& x, const Variable& context, const BlockCall& call) const {
  return run(x, call, [&](std::size_t n, const Variable& state, const BlockCall& inner) {
    return blocks_[n].forward_cross(state, context, inner);
  });
}

Variable TransformerStack::forward_cached(const Variable& x, StackCache& cache, const BlockCall& call) const {
  if (cache.size() != blocks_.size()) {
    throw InvalidArgument(kStack, "cache", "one for each of " + std::to_string(blocks_.size()) + " blocks",
                          std::to_string(cache.size()));
  }
  return run(x, call, [&](std::size_t n, const Variable& state, const BlockCall& inner) {
    return blocks_[n].forward_cached(state, cache[n], inner);
  });
}

StackCache TransformerStack::make_cache(std::int64_t B, std::int64_t capacity, DType dtype,
                                        const Variable& context) const {
  StackCache cache;
  for (const TransformerBlock& block : blocks_) cache.push_back(block.make_cache(B, capacity, dtype, context));
  return cache;
}

Parameters TransformerStack::parameters() const {
  Parameters all;
  for (std::size_t n = 0; n < (is_one_block_ ? 1 : blocks_.size()); ++n) {
    append(all, "blocks." + std::to_string(n), blocks_[n].parameters());
  }
  if (last_) append(all, "ln_final", last_->parameters());
  return all;
}

}  // namespace qkv
