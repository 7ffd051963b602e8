#include "qkv/model/encoder.h"

#include "model/text_options.h"
#include "nn/tracing.h"

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
  return input_options(text_of(options), SelfAttention::full, embedding_scale(options));
}

StackOptions stack_of(const EncoderOptions& options) { return stack_options(text_of(options), StackKind::encoder); }

}  // namespace

EmbeddingScale embedding_scale(const EncoderOptions& options) noexcept {
  return options.embedding.value_or(options.order == NormOrder::pre ? EmbeddingScale::small : EmbeddingScale::normed);
}

Encoder::Encoder(const EncoderOptions& options, const Init& init, DType dtype)
    : options_(options),
      input_(kEncoder, input_of(options), init, dtype),
      stack_(stack_of(options), init, dtype),
      output_(output_map(options.tied, input_, init)) {}

Mask Encoder::mask_of(const PaddedTokens& tokens) const {
  if (tokens.ids.rank() != 2) throw InvalidArgument(kEncoder, "ids", "[B, T]", tokens.ids.shape().to_string());
  return padding_mask(kEncoder, tokens.lengths, tokens.ids.dim(0), tokens.ids.dim(1));
}

Variable Encoder::hidden(const PaddedTokens& tokens, const EncoderCall& call) const {
  const nn::Tracing tracing(call.trace);
  BlockCall inner{.learned = input_.learned_bias(), .memory = call.memory};
  inner.attention.mask = mask_of(tokens);
  inner.attention.bias = input_.fixed_bias();
  if (call.dropout) inner.dropout = dropout_at(*call.dropout, 1);
  return tracing.result(stack_.forward(input_.forward(tokens.ids, call), inner));
}

Variable Encoder::forward(const PaddedTokens& tokens, const EncoderCall& call) const {
  const nn::Tracing tracing(call.trace);
  ModelCall inner = call;
  inner.trace = nullptr;
  return tracing.result(nn::traced("logits", scores_of(hidden(tokens, inner), output_, input_, call)));
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
  if (output_) append(all, "output", output_->parameters());
  return all;
}

std::int64_t parameter_count(const EncoderOptions& options) {
  const std::int64_t count = parameter_count(input_of(options)) + parameter_count(stack_of(options));
  return options.tied ? count : count + options.vocabulary * options.d_model;
}

}  // namespace qkv
