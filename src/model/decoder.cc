#include "qkv/model/decoder.h"

#include <utility>

#include "model/text_options.h"
#include "qkv/autograd/watch.h"

namespace qkv::learn {
namespace {

constexpr const char* kName = "Decoder";

TextOptions text_of(const DecoderOptions& o) {
  return {.vocabulary = o.vocabulary,
          .length = o.length,
          .layers = o.layers,
          .d_model = o.d_model,
          .heads = o.heads,
          .d_ff = o.d_ff,
          .positions = o.positions,
          .order = o.order,
          .activation = o.activation,
          .bias = o.bias,
          .d_context = o.d_context};
}

TokenInputOptions input_of(const DecoderOptions& options) {
  require_sound(kName, text_of(options));
  return input_options(text_of(options), Sight::earlier,
                       options.order == NormOrder::pre ? EmbeddingScale::small : EmbeddingScale::root_width);
}

StackOptions stack_of(const DecoderOptions& options) { return stack_options(text_of(options), StackKind::decoder); }

Mask padding_of(const DecoderContext& context) {
  return padding_mask(kName, context.lengths, context.hidden.dim(0), context.hidden.dim(1));
}

}  // namespace

Decoder::Decoder(const DecoderOptions& options, Generator& generator, DType dtype)
    : Decoder(options, TokenInput(kName, input_of(options), generator, dtype), generator) {}

Decoder::Decoder(const DecoderOptions& options, const Embedding& tokens, Generator& generator)
    : Decoder(options, TokenInput(kName, input_of(options), tokens, generator), generator) {}

Decoder::Decoder(const DecoderOptions& options, TokenInput input, Generator& generator)
    : options_(options),
      input_(std::move(input)),
      stack_(stack_of(options), generator, input_.dtype()),
      output_(output_map(options.tied, input_, generator)) {}

Variable Decoder::forward(const TensorView& ids, const DecoderCall& call) const { return run(ids, nullptr, call); }

Variable Decoder::forward_cross(const TensorView& ids, const DecoderContext& context, const DecoderCall& call) const {
  return run(ids, &context, call);
}

void Decoder::require_context(const TensorView& ids, const DecoderContext* context) const {
  const auto fail = [](const std::string& expected, const std::string& got) {
    throw InvalidArgument(kName, "context", expected, got);
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

Variable Decoder::run(const TensorView& ids, const DecoderContext* context, const DecoderCall& call) const {
  require_context(ids, context);
  BlockCall inner{.learned = input_.learned_bias(), .memory = call.memory};
  inner.attention.bias = input_.fixed_bias();
  if (context != nullptr) inner.cross_attention.mask = padding_of(*context);
  if (call.dropout) inner.dropout = dropout_at(*call.dropout, 1);
  const Variable x = input_.forward(ids, call);
  const Variable y = context == nullptr ? stack_.forward(x, inner) : stack_.forward_cross(x, context->hidden, inner);
  const OperationScope scope("output");
  return output_ ? output_->forward(y) : input_.tokens().logits(y);
}

std::vector<Tensor> Decoder::weights(const TensorView& ids) const {
  Taps taps({"*.attn.weights"});
  tap(ids, &taps);
  return weights_of(taps, "attn", options_.layers);
}

DecoderWeights Decoder::weights_cross(const TensorView& ids, const DecoderContext& context) const {
  Taps taps({"*.attn.weights", "*.cross.weights"});
  tap_cross(ids, context, &taps);
  return {.tokens = weights_of(taps, "attn", options_.layers), .cross = weights_of(taps, "cross", options_.layers)};
}

void Decoder::tap(const TensorView& ids, const TapScope& taps) const { tap_over(ids, nullptr, taps); }

void Decoder::tap_cross(const TensorView& ids, const DecoderContext& context, const TapScope& taps) const {
  tap_over(ids, &context, taps);
}

void Decoder::tap_over(const TensorView& ids, const DecoderContext* context, const TapScope& taps) const {
  require_context(ids, context);
  const NoGradient constant;
  BlockForward call{.taps = taps};
  call.attention.bias = input_.frozen_bias();
  const Variable x = input_.forward(ids, {.dtype = input_.dtype()});
  if (context == nullptr) {
    static_cast<void>(stack_.frozen().forward(x.value(), call));
    return;
  }
  call.cross_attention.mask = padding_of(*context);
  static_cast<void>(stack_.frozen().forward_cross(x.value(), context->hidden.value(), call));
}

Parameters Decoder::parameters() const {
  Parameters all = input_.parameters();
  for (const Parameter& parameter : stack_.parameters()) all.push_back(parameter);
  if (output_) append(all, "output", output_->parameters());
  return all;
}

std::int64_t parameter_count(const DecoderOptions& options) {
  const std::int64_t count = parameter_count(input_of(options)) + parameter_count(stack_of(options));
  return options.tied ? count : count + options.vocabulary * options.d_model;
}

}  // namespace qkv::learn
