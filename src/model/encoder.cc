#include "qkv/model/encoder.h"

#include <array>

#include "model/text_options.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr const char* kEncoder = "Encoder";

TextOptions text_of(const EncoderOptions& o) {
  TextOptions text = text_options(o, o.layers);
  text.order = o.order;
  text.activation = o.activation;
  text.bias = o.bias;
  text.choices = o.choices;
  return text;
}

TokenInputOptions input_of(const EncoderOptions& options) {
  require_sound(kEncoder, text_of(options));
  if (options.d_embedding.value_or(1) < 1) {
    throw InvalidArgument(kEncoder, "d_embedding", "more than 0", std::to_string(*options.d_embedding));
  }
  if (options.types < 0) throw InvalidArgument(kEncoder, "types", "0 or more", std::to_string(options.types));
  TokenInputOptions input = input_options(text_of(options), options.self_attention, embedding_scale(options));
  input.types = options.types;
  input.factor = options.embedding_factor;
  input.placeless = options.placeless;
  input.d_embedding = options.d_embedding;
  return input;
}

StackOptions stack_of(const EncoderOptions& options) {
  const bool is_causal = options.self_attention == SelfAttention::causal;
  StackOptions stack = stack_options(text_of(options), is_causal ? StackKind::decoder : StackKind::encoder);
  stack.block.attention.relative = options.relative;
  return stack;
}

std::optional<Embedding> distance_table(const EncoderOptions& options, const Init& init, DType dtype) {
  if (options.relative.span == 0) return std::nullopt;
  return Embedding({.count = 2 * options.relative.span, .width = options.d_model, .dtype = dtype}, init);
}

std::optional<Norm> distance_norm(const EncoderOptions& options, const Init& init, DType dtype) {
  if (options.relative.span == 0 || !options.relative_norm) return std::nullopt;
  const LayerChoices& choices = options.choices;
  return Norm({.kind = choices.norm, .width = options.d_model, .epsilon = choices.epsilon, .dtype = dtype}, init);
}

}  // namespace

std::string_view name_of(EncoderHead head) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"product", "transform", "none"};
  return kNames[static_cast<std::size_t>(head)];
}

EmbeddingScale embedding_scale(const EncoderOptions& options) noexcept {
  return options.embedding.value_or(options.order == NormOrder::post ? EmbeddingScale::normed : EmbeddingScale::small);
}

Encoder::Encoder(const EncoderOptions& options, const Init& init, DType dtype)
    : options_(options),
      input_(kEncoder, input_of(options), init, dtype),
      stack_(stack_of(options), init, dtype),
      relative_(distance_table(options, init, dtype)),
      relative_norm_(distance_norm(options, init, dtype)),
      output_(output_map(options.tied || options.head == EncoderHead::none, input_, init)) {
  if (options.d_embedding && options.head == EncoderHead::product) {
    throw InvalidArgument(kEncoder, "head", "transform or none with a d_embedding", name_of(options.head));
  }
  if (options.head != EncoderHead::transform) return;
  const std::int64_t width = options.d_embedding.value_or(options.d_model);
  head_map_.emplace(LinearOptions{.in = options.d_model, .out = width, .bias = options.head_map_bias, .dtype = dtype},
                    init);
  head_norm_.emplace(
      NormOptions{.kind = options.choices.norm, .width = width, .epsilon = options.choices.epsilon, .dtype = dtype},
      init);
  if (options.head_bias) head_bias_ = init.constant({options.vocabulary}, 0, dtype);
}

Mask Encoder::mask_of(const PaddedTokens& tokens) const {
  if (tokens.ids.rank() != 2) throw InvalidArgument(kEncoder, "ids", "[B, T]", tokens.ids.shape().to_string());
  return padding_mask(kEncoder, tokens.lengths, tokens.ids.dim(0), tokens.ids.dim(1));
}

BlockCall Encoder::block_call(const ModelCall& call) const {
  BlockCall inner{.learned = input_.learned_bias(), .memory = call.memory};
  inner.attention.bias = input_.fixed_bias();
  if (call.dropout) inner.dropout = dropout_at(*call.dropout, 1);
  if (!relative_) return inner;
  inner.relative = cast(relative_->weight(), call.dtype_for(input_.dtype()));
  if (relative_norm_) {
    inner.relative = nn::named("ln_relative", [&] { return relative_norm_->forward(inner.relative); });
  }
  return inner;
}

// Scores of distances are a matrix: that of texts end to end would be of all pairs of their tokens.
Variable Encoder::one_by_one(const JoinedTokens& tokens, const ModelCall& call) const {
  std::vector<Variable> parts;
  std::int64_t begin = 0;
  for (const std::int64_t length : tokens.lengths) {
    const bool has_types = tokens.types.data() != nullptr;
    PaddedTokens own{.ids = tokens.ids.slice(1, begin, begin + length)};
    if (has_types) own.types = tokens.types.slice(1, begin, begin + length);
    parts.push_back(hidden(own, call));
    begin += length;
  }
  return concat(parts, 1);
}

Variable Encoder::hidden_joined(const JoinedTokens& tokens, const ModelCall& call) const {
  if (relative_) {
    static_cast<void>(input_.forward_joined(tokens, call));  // which says what does not fit
    return one_by_one(tokens, call);
  }
  const nn::Tracing tracing(call.trace);
  const Variable x = input_.forward_joined(tokens, call);
  const Tensor positions = joined_positions(tokens.lengths);
  BlockCall inner = block_call(call);
  std::vector<std::int64_t> offsets = {0};
  for (const std::int64_t length : tokens.lengths) offsets.push_back(offsets.back() + length);
  inner.attention.ragged = Ragged{.q_offsets = offsets, .k_offsets = offsets};
  if (options_.positions == Positions::rotary) inner.positions = positions;
  return tracing.result(stack_.forward(x, inner));
}

Variable Encoder::hidden(const PaddedTokens& tokens, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  BlockCall inner = block_call(call);
  inner.attention.mask = mask_of(tokens);
  return tracing.result(stack_.forward(input_.forward_typed(tokens.ids, tokens.types, call), inner));
}

Variable Encoder::forward(const PaddedTokens& tokens, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  ModelCall inner = call;
  inner.trace = nullptr;
  require_scores();
  return tracing.result(logits_of(hidden(tokens, inner), call));
}

Variable Encoder::read_out(const Variable& stream, const ModelCall& call) const {
  require_scores();
  const nn::Tracing tracing(call.trace);
  return tracing.result(logits_of(stack_.end(stream), call));
}

void Encoder::require_scores() const {
  if (options_.head != EncoderHead::none) return;
  throw InvalidArgument(kEncoder, "head", "one that scores tokens", "none: hidden() gives the states");
}

Variable Encoder::logits_of(const Variable& x, const ModelCall& call) const {
  const Variable scores = scores_of(transformed(x), output_, input_, call);
  return nn::traced("logits", head_bias_.empty() ? scores : scores + cast(head_bias_, scores.dtype()));
}

Variable Encoder::transformed(const Variable& x) const {
  if (!head_map_) return x;
  const OperationScope scope("head");
  const Variable mapped = nn::named("dense", [&] { return head_map_->forward(x); });
  const Activation activation = options_.head_activation.value_or(options_.activation);
  return nn::named("ln", [&] { return head_norm_->forward(activate(activation, mapped)); });
}

std::vector<Tensor> Encoder::weights(const PaddedTokens& tokens) const {
  const NoGradient constant;
  Trace trace({"*.attn.weights"});
  static_cast<void>(hidden(tokens, {.trace = &trace}));
  return weights_of(trace, "", "attn", options_.layers);
}

Parameters Encoder::parameters() const {
  Parameters all = input_.parameters();
  for (const Parameter& parameter : stack_.parameters()) all.push_back(parameter);
  if (relative_) append(all, "relative", relative_->parameters());
  if (relative_norm_) append(all, "ln_relative", relative_norm_->parameters());
  if (output_) append(all, "output", output_->parameters());
  if (head_map_) {
    append(all, "head.dense", head_map_->parameters());
    append(all, "head.ln", head_norm_->parameters());
    if (!head_bias_.empty()) all.push_back({"head.bias", head_bias_});
  }
  return all;
}

std::int64_t parameter_count(const EncoderOptions& options) {
  std::int64_t count = parameter_count(input_of(options)) + parameter_count(stack_of(options));
  if (options.relative.span > 0) {
    const std::int64_t of_norm = options.choices.norm == NormKind::layer ? 2 : 1;
    count += (2 * options.relative.span + (options.relative_norm ? of_norm : 0)) * options.d_model;
  }
  const std::int64_t width = options.d_embedding.value_or(options.d_model);
  const bool has_map = !options.tied && options.head != EncoderHead::none;
  const std::int64_t map = has_map ? options.vocabulary * width : 0;
  if (options.head != EncoderHead::transform) return count + map;
  const std::int64_t vectors = (options.choices.norm == NormKind::layer ? 2 : 1) + (options.head_map_bias ? 1 : 0);
  return count + map + width * (options.d_model + vectors) + (options.head_bias ? options.vocabulary : 0);
}

}  // namespace qkv
