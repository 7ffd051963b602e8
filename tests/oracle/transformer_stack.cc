#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "nn/require.h"
#include "qkv/nn/transformer.h"

namespace qkv {
namespace {

constexpr std::string_view kName = "TransformerStack";

std::vector<TransformerBlock> drawn(const StackOptions& options, Generator& generator, DType dtype) {
  nn::require_positive(kName, "layers", options.layers);
  std::vector<TransformerBlock> blocks;
  for (std::int64_t n = 0; n < options.layers; ++n) blocks.emplace_back(options.block, generator, dtype);
  return blocks;
}

// A block's norms are all alike when fresh; after its last sum a pre-norm stack needs one more of them.
std::optional<Norm> last_norm(const std::vector<TransformerBlock>& blocks) {
  if (blocks.back().order() == NormOrder::post) return std::nullopt;
  return blocks.back().parts().ln2;
}

void add_to_seed(std::optional<Dropout>& dropout, std::uint64_t steps) {
  if (dropout) dropout->seed += steps;
}

}  // namespace

TransformerStack::TransformerStack(const StackOptions& options, Generator& generator, DType dtype)
    : kind_(options.kind), blocks_(drawn(options, generator, dtype)), last_(last_norm(blocks_)) {}

TransformerStack::TransformerStack(StackKind kind, std::vector<TransformerBlock> blocks, std::optional<Norm> last)
    : kind_(kind), blocks_(std::move(blocks)), last_(std::move(last)) {
  if (blocks_.empty()) throw InvalidArgument(kName, "blocks", "1 or more", "0");
  const TransformerBlock& first = blocks_.front();
  for (const TransformerBlock& block : blocks_) {
    if (block.d_model() != first.d_model()) {
      throw InvalidArgument(kName, "blocks", fmt::format("every d_model {}", first.d_model()),
                            fmt::format("{}", block.d_model()));
    }
    if (block.has_cross_attention() != first.has_cross_attention()) {
      throw InvalidArgument(kName, "blocks", "cross-attention in all or in none", "some of each");
    }
  }
  if (last_) nn::require_shape(kName, "last", {first.d_model()}, normalized_of(*last_));
}

Tensor TransformerStack::forward(const TensorView& x, const BlockForward& call) const {
  return run(x, std::nullopt, call);
}

Tensor TransformerStack::forward_cross(const TensorView& x, const TensorView& context, const BlockForward& call) const {
  return run(x, context, call);
}

Tensor TransformerStack::run(const TensorView& x, const std::optional<TensorView>& context,
                             const BlockForward& call) const {
  nn::require_sequence(kName, "x", blocks_.front().d_model(), x);
  BlockForward inner = call;
  if (kind_ == StackKind::decoder) inner.attention.mask = call.attention.mask & causal();
  add_to_seed(inner.cross_attention.dropout, 1);
  Tensor state(x);
  for (std::size_t n = 0; n < blocks_.size(); ++n) {
    inner.taps = call.taps.inner("blocks").inner(fmt::format("{}", n));
    state = context ? blocks_[n].forward_cross(state, *context, inner) : blocks_[n].forward(state, inner);
    add_to_seed(inner.attention.dropout, 2);
    add_to_seed(inner.cross_attention.dropout, 2);
  }
  if (!last_) return state;
  Tensor out = normalize(*last_, state);
  call.taps.put("ln_final", out);
  return out;
}

EncoderDecoder::EncoderDecoder(TransformerStack encoder, TransformerStack decoder)
    : encoder_(std::move(encoder)), decoder_(std::move(decoder)) {
  constexpr std::string_view kBoth = "EncoderDecoder";
  const auto require = [&](bool holds, std::string_view stack, std::string_view expected, std::string_view got) {
    if (!holds) throw InvalidArgument(kBoth, stack, expected, got);
  };
  require(encoder_.kind() == StackKind::encoder, "encoder", "an encoder stack", "a decoder stack");
  require(!encoder_.blocks().front().has_cross_attention(), "encoder", "no cross-attention", "cross-attention");
  require(decoder_.kind() == StackKind::decoder, "decoder", "a decoder stack", "an encoder stack");
  const std::int64_t written = encoder_.blocks().front().d_model();
  for (const TransformerBlock& block : decoder_.blocks()) {
    require(block.has_cross_attention(), "decoder", "cross-attention in every block", "a block without it");
    const std::int64_t read = block.parts().cross->d_context();
    require(read == written, "decoder", fmt::format("a context of the encoder's d_model, {}", written),
            fmt::format("{}", read));
  }
}

Tensor EncoderDecoder::forward(const TensorView& source, const TensorView& target,
                               const EncoderDecoderForward& call) const {
  const Tensor memory =
      encoder_.forward(source, {.attention = call.encoder, .order = call.order, .taps = call.taps.inner("encoder")});
  return decoder_.forward_cross(target, memory,
                                {.attention = call.decoder,
                                 .cross_attention = call.cross,
                                 .order = call.order,
                                 .taps = call.taps.inner("decoder")});
}

}  // namespace qkv
