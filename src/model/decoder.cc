#include "qkv/model/decoder.h"

#include <algorithm>
#include <utility>

#include "model/text_options.h"
#include "nn/require.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr const char* kDecoder = "Decoder";

TextOptions text_of(const DecoderOptions& o) {
  TextOptions text = text_options(o, o.layers);
  text.order = o.order;
  text.activation = o.activation;
  text.bias = o.bias;
  text.d_context = o.d_context;
  text.choices = o.choices;
  return text;
}

TokenInputOptions input_of(const DecoderOptions& options) {
  require_sound(kDecoder, text_of(options));
  if (options.logit_softcap) nn::require_positive(kDecoder, "logit_softcap", *options.logit_softcap);
  TokenInputOptions input = input_options(text_of(options), SelfAttention::causal, embedding_scale(options));
  input.factor = options.embedding_factor;
  return input;
}

StackOptions stack_of(const DecoderOptions& options) { return stack_options(text_of(options), StackKind::decoder); }

Mask padding_of(const DecoderContext& context) {
  return padding_mask(kDecoder, context.lengths, context.hidden.dim(0), context.hidden.dim(1));
}

// Whether the cache holds all that token number `tokens` sees.
bool can_go_on(const BlockCache& block, std::int64_t tokens) {
  for (std::int64_t b = 0; b < block.tokens.B(); ++b) {
    const std::int64_t forgotten = block.tokens.forgotten(b);
    if (forgotten > 0 && tokens - std::max<std::int64_t>(*block.window - 1, 1) < forgotten) return false;
  }
  return true;
}

Mask padding_of(const DecoderCache& cache) {
  if (cache.context_lengths.empty()) return {};
  const KvCache& keys = *cache.blocks.front().context;
  return padding_mask(kDecoder, cache.context_lengths, keys.B(), keys.length(0));
}

}  // namespace

EmbeddingScale embedding_scale(const DecoderOptions& options) noexcept {
  return options.embedding.value_or(options.order == NormOrder::post ? EmbeddingScale::root_width
                                                                     : EmbeddingScale::small);
}

Decoder::Decoder(const DecoderOptions& options, const Init& init, DType dtype)
    : Decoder(options, TokenInput(kDecoder, input_of(options), init, dtype), init) {}

Decoder::Decoder(const DecoderOptions& options, const Embedding& tokens, const Init& init)
    : Decoder(options, TokenInput(kDecoder, input_of(options), tokens, init), init) {}

Decoder::Decoder(const DecoderOptions& options, TokenInput input, const Init& init)
    : options_(options),
      input_(std::move(input)),
      stack_(stack_of(options), init, input_.dtype()),
      output_(output_map(options.tied || !options.scores, input_, init, options.output_bias)) {
  if (options.output_bias && options.tied && options.scores) {
    bias_ = init.constant({options.vocabulary}, 0, input_.dtype());
  }
}

Variable Decoder::forward(const TensorView& ids, const ModelCall& call) const { return run(ids, nullptr, call); }

Variable Decoder::forward_cross(const TensorView& ids, const DecoderContext& context, const ModelCall& call) const {
  return run(ids, &context, call);
}

void Decoder::require_context(const TensorView& ids, const DecoderContext* context) const {
  const auto fail = [](const std::string& expected, const std::string& got) {
    throw InvalidArgument(kDecoder, "context", expected, got);
  };
  if (!options_.d_context) {
    if (context != nullptr) fail("none, without d_context", context->hidden.shape().to_string());
    return;
  }
  const std::string expected = "[B, Tk, " + std::to_string(*options_.d_context) + "] with the B of ids";
  if (context == nullptr) return fail(expected, "none");
  const Shape& shape = context->hidden.shape();
  if (shape.rank() != 3 || shape[2] != *options_.d_context || (ids.rank() == 2 && shape[0] != ids.dim(0))) {
    fail(expected, shape.to_string());
  }
}

void Decoder::require_scores() const {
  if (options_.scores) return;
  throw InvalidArgument(kDecoder, "scores", "a model that scores tokens", "one of states alone: hidden() gives them");
}

Variable Decoder::hidden(const TensorView& ids, const ModelCall& call) const {
  require_context(ids, nullptr);
  const nn::Tracing tracing(call.trace);
  return tracing.result(states(ids, nullptr, call));
}

Variable Decoder::states(const TensorView& ids, const DecoderContext* context, const ModelCall& call) const {
  BlockCall inner = block_call(call);
  if (context != nullptr) inner.cross_attention.mask = padding_of(*context);
  const Variable x = input_.forward(ids, call);
  return context == nullptr ? stack_.forward(x, inner) : stack_.forward_cross(x, context->hidden, inner);
}

Variable Decoder::run(const TensorView& ids, const DecoderContext* context, const ModelCall& call) const {
  require_context(ids, context);
  require_scores();
  const nn::Tracing tracing(call.trace);
  return tracing.result(logits_of(states(ids, context, call), call));
}

Variable Decoder::read_out(const Variable& stream, const ModelCall& call) const {
  require_scores();
  const nn::Tracing tracing(call.trace);
  return tracing.result(logits_of(stack_.end(stream), call));
}

Variable Decoder::logits_of(const Variable& x, const ModelCall& call) const {
  Variable scores = scores_of(options_.output_scale ? scale(x, *options_.output_scale) : x, output_, input_, call);
  if (!bias_.empty()) scores = scores + cast(bias_, scores.dtype());
  if (options_.logit_softcap) scores = scale(tanh(scale(scores, 1 / *options_.logit_softcap)), *options_.logit_softcap);
  return nn::traced("logits", scores);
}

BlockCall Decoder::block_call(const ModelCall& call) const {
  BlockCall inner{.learned = input_.learned_bias(), .memory = call.memory};
  inner.attention.bias = input_.fixed_bias();
  if (call.dropout) inner.dropout = dropout_at(*call.dropout, 1);
  return inner;
}

DecoderCache Decoder::make_cache(std::int64_t B, std::int64_t capacity, std::optional<DType> dtype) const {
  const DType kept = dtype.value_or(ModelCall().dtype_for(input_.dtype()));
  return {.blocks = stack_.make_cache(B, capacity, kept), .dtype = kept};
}

DecoderCache Decoder::make_cache(const DecoderContext& context, std::int64_t capacity,
                                 std::optional<DType> dtype) const {
  const NoGradient constant;
  const DType kept = dtype.value_or(context.hidden.dtype());
  return {.blocks = stack_.make_cache(context.hidden.dim(0), capacity, kept, context.hidden),
          .context_lengths = context.lengths,
          .dtype = kept};
}

void DecoderCache::make_room(std::int64_t tokens, std::int64_t most) {
  for (BlockCache& block : blocks) {
    if (block.tokens.B() == 0 || block.window) continue;
    const std::int64_t capacity = block.tokens.capacity(0);
    if (tokens > capacity) block.tokens.reserve(std::max(tokens, std::min(most, 2 * capacity)));
  }
}

std::int64_t DecoderCache::truncate(std::int64_t tokens) {
  if (!std::ranges::all_of(blocks, [&](const BlockCache& block) { return can_go_on(block, tokens); })) tokens = 0;
  for (BlockCache& block : blocks) {
    for (std::int64_t b = 0; b < block.tokens.B(); ++b) {
      block.tokens.truncate(b, tokens == 0 ? 0 : tokens - block.tokens.forgotten(b));
    }
  }
  length = tokens;
  return tokens;
}

std::int64_t Decoder::cache_bytes(std::int64_t tokens, DType dtype) const {
  std::int64_t bytes = 0;
  for (const TransformerBlock& block : stack_.blocks()) {
    bytes += block.attention().held_tokens(tokens) * token_bytes(block.attention().cache_format(dtype));
  }
  return bytes;
}

DecoderCache DecoderCache::fork(std::span<const std::int64_t> rows) const {
  DecoderCache forked{.blocks = {}, .length = length, .dtype = dtype};
  for (const BlockCache& block : blocks) {
    BlockCache& next =
        forked.blocks.emplace_back(BlockCache{.tokens = block.tokens.fork(rows), .window = block.window});
    if (block.context) next.context = block.context->fork(rows);
  }
  if (context_lengths.empty()) return forked;
  for (const std::int64_t row : rows) {
    forked.context_lengths.push_back(context_lengths[static_cast<std::size_t>(row)]);
  }
  return forked;
}

Variable Decoder::forward_cached(const TensorView& ids, DecoderCache& cache, const ModelCall& call) const {
  require_scores();
  const NoGradient constant;
  const nn::Tracing tracing(call.trace);
  BlockCall inner = block_call(call);
  inner.cross_attention.mask = padding_of(cache);
  const Variable x = input_.forward(ids, call, cache.length);
  const Variable y = stack_.forward_cached(x, cache.blocks, inner);
  cache.length += ids.dim(1);
  return tracing.result(logits_of(y, call));
}

std::vector<Tensor> Decoder::weights(const TensorView& ids) const {
  const NoGradient constant;
  Trace trace({"*.attn.weights"});
  static_cast<void>(hidden(ids, {.trace = &trace}));
  return weights_of(trace, "", "attn", options_.layers);
}

DecoderWeights Decoder::weights_cross(const TensorView& ids, const DecoderContext& context) const {
  const NoGradient constant;
  Trace trace({"*.attn.weights", "*.cross.weights"});
  static_cast<void>(forward_cross(ids, context, {.trace = &trace}));
  return {.tokens = weights_of(trace, "", "attn", options_.layers),
          .cross = weights_of(trace, "", "cross", options_.layers)};
}

Parameters Decoder::parameters() const {
  Parameters all = input_.parameters();
  for (const Parameter& parameter : stack_.parameters()) all.push_back(parameter);
  if (output_) append(all, "output", output_->parameters());
  if (!bias_.empty()) all.push_back({"output.bias", bias_});
  return all;
}

std::int64_t parameter_count(const DecoderOptions& options) {
  const std::int64_t count = parameter_count(input_of(options)) + parameter_count(stack_of(options));
  if (!options.scores) return count;
  return count + options.vocabulary * ((options.tied ? 0 : options.d_model) + (options.output_bias ? 1 : 0));
}

}  // namespace qkv
