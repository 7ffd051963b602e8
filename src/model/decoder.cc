#include "qkv/model/decoder.h"

#include <algorithm>
#include <utility>

#include "model/require_prompt.h"
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

Mask padding_of(const DecoderCache& cache) {
  if (cache.context_lengths.empty()) return {};
  const KvCache& keys = *cache.blocks.front().context;
  return padding_mask(kDecoder, cache.context_lengths, keys.B(), keys.length(0));
}

// The last tokens of both, one after the other, at most `most`.
Tensor last_of(const TensorView& before, const TensorView& ids, std::int64_t most) {
  const std::int64_t all = before.dim(1) + ids.dim(1);
  const std::int64_t first = std::max<std::int64_t>(all - most, 0);
  Tensor both(DType::i64, {ids.dim(0), all - first});
  auto* to = both.values<std::int64_t>().data();
  for (std::int64_t b = 0; b < ids.dim(0); ++b) {
    for (std::int64_t t = first; t < all; ++t) {
      const bool is_old = t < before.dim(1);
      *to++ = static_cast<std::int64_t>(is_old ? before.at({b, t}) : ids.at({b, t - before.dim(1)}));
    }
  }
  return both;
}

// Row n is rows[n] of `text`.
Tensor rows_of(const TensorView& text, std::span<const std::int64_t> rows) {
  Tensor kept(DType::i64, {std::ssize(rows), text.dim(1)});
  auto* to = kept.values<std::int64_t>().data();
  for (const std::int64_t row : rows) {
    for (std::int64_t t = 0; t < text.dim(1); ++t) *to++ = static_cast<std::int64_t>(text.at({row, t}));
  }
  return kept;
}

// Row n is rows[n] of the context.
DecoderContext rows_of(const DecoderContext& context, std::span<const std::int64_t> rows) {
  std::vector<Variable> hidden;
  DecoderContext kept;
  for (const std::int64_t row : rows) {
    hidden.push_back(slice(context.hidden, 0, row, row + 1));
    if (!context.lengths.empty()) kept.lengths.push_back(context.lengths[static_cast<std::size_t>(row)]);
  }
  kept.hidden = concat(hidden, 0);
  return kept;
}

// How many tokens a cache is first made for beyond a prompt. It grows, so that memory follows what is written and not
// what may be written at most: twice as long each time, and the text is read anew.
constexpr std::int64_t kFirstTokens = 1024;

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
  const DType kept = ModelCall{.dtype = dtype}.dtype_for(input_.dtype());
  return {.blocks = stack_.make_cache(B, capacity, kept), .dtype = kept};
}

DecoderCache Decoder::make_cache(const DecoderContext& context, std::int64_t capacity) const {
  const NoGradient constant;
  return {.blocks = stack_.make_cache(context.hidden.dim(0), capacity, context.hidden.dtype(), context.hidden),
          .context_lengths = context.lengths,
          .dtype = context.hidden.dtype()};
}

DecoderCache DecoderCache::fork(std::span<const std::int64_t> rows) const {
  DecoderCache forked{.blocks = {}, .length = length, .dtype = dtype};
  for (const BlockCache& block : blocks) {
    BlockCache& next = forked.blocks.emplace_back(BlockCache{.tokens = block.tokens.fork(rows)});
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

NewTokens Decoder::generate(const TensorView& prompt, const GenerateOptions& options) const {
  require_context(prompt, nullptr);
  require_prompt(prompt, options);
  const ModelCall call{.dtype = options.dtype, .scores = Scores::last};
  const std::int64_t whole = prompt.dim(-1) + options.most;
  const std::int64_t window = std::min(options.window.value_or(whole), whole);
  std::int64_t capacity = std::min(window, prompt.dim(-1) + kFirstTokens);
  const bool is_read_again = options.window.has_value() || capacity < window;
  DecoderCache cache = make_cache(prompt.dim(0), capacity, call.dtype);
  Tensor text(DType::i64, {prompt.dim(0), 0});  // its last tokens
  const auto next = [&](const TensorView& ids) {
    if (is_read_again) text = last_of(text, ids, window);
    if (cache.length + ids.dim(1) <= capacity) return forward_cached(ids, cache, call);
    capacity = std::min(window, 2 * capacity);
    cache = make_cache(ids.dim(0), capacity, call.dtype);
    return forward_cached(text, cache, call);
  };
  const auto keep = [&](std::span<const std::int64_t> rows) {
    cache = cache.fork(rows);
    if (is_read_again) text = rows_of(text, rows);
  };
  return qkv::generate(prompt, options, next, keep);
}

NewTokens Decoder::generate_cross(const TensorView& prompt, const DecoderContext& context,
                                  const GenerateOptions& options) const {
  require_context(prompt, &context);
  require_prompt(prompt, options);
  const std::int64_t whole = prompt.dim(-1) + options.most;
  std::int64_t capacity = std::min(whole, prompt.dim(-1) + kFirstTokens);
  const bool is_read_again = capacity < whole;
  DecoderCache cache = make_cache(context, capacity);
  const ModelCall call{.dtype = cache.dtype, .scores = Scores::last};
  Tensor text(DType::i64, {prompt.dim(0), 0});
  DecoderContext read = context;  // of each row, of which beams may have several
  const auto next = [&](const TensorView& ids) {
    if (is_read_again) text = last_of(text, ids, whole);
    if (cache.length + ids.dim(1) <= capacity) return forward_cached(ids, cache, call);
    capacity = std::min(whole, 2 * capacity);
    cache = make_cache(read, capacity);
    return forward_cached(text, cache, call);
  };
  const auto keep = [&](std::span<const std::int64_t> rows) {
    cache = cache.fork(rows);
    if (!is_read_again) return;
    text = rows_of(text, rows);
    read = rows_of(read, rows);
  };
  return qkv::generate(prompt, options, next, keep);
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
