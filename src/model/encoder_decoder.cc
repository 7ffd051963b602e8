#include "qkv/model/encoder_decoder.h"

#include "model/text_options.h"
#include "nn/tracing.h"

namespace qkv {
namespace {

constexpr const char* kEncoderDecoder = "EncoderDecoder";

DecoderOptions decoder_of(const EncoderDecoderOptions& o) {
  return {.vocabulary = o.vocabulary,
          .length = o.length,
          .layers = o.layers,
          .d_model = o.d_model,
          .heads = o.heads,
          .d_ff = o.d_ff,
          .positions = o.positions,
          .tied = o.tied,
          .order = o.order,
          .embedding = o.embedding,
          .activation = o.activation,
          .bias = o.bias,
          .d_context = o.d_model,
          .embedding_factor = o.embedding_factor,
          .output_bias = o.output_bias,
          .output_scale = o.output_scale,
          .choices = o.choices};
}

void require_model(const EncoderDecoderOptions& o) {
  const auto require = [](bool holds, std::string_view argument, const std::string& expected, std::int64_t got) {
    if (!holds) throw InvalidArgument(kEncoderDecoder, argument, expected, std::to_string(got));
  };
  require(o.source_vocabulary > 0, "source_vocabulary", "more than 0", o.source_vocabulary);
  require(o.encoder_layers > 0, "encoder_layers", "more than 0", o.encoder_layers);
  require(o.positions != Positions::learned || o.source_length > 0, "source_length",
          "more than 0, for learned positions", o.source_length);
  TextOptions text = text_options(o, o.layers);
  text.choices = o.choices;
  require_sound(kEncoderDecoder, text);
  require_start(kEncoderDecoder, o.start, o.vocabulary);
  require(!o.shared || o.source_vocabulary == o.vocabulary, "source_vocabulary",
          std::to_string(o.vocabulary) + ", the vocabulary of the target, whose table it shares", o.source_vocabulary);
}

// Its output map is not used, so that of the table costs nothing.
EncoderOptions encoder_of(const EncoderDecoderOptions& o) {
  require_model(o);
  return {.vocabulary = o.source_vocabulary,
          .length = o.source_length,
          .layers = o.encoder_layers,
          .d_model = o.d_model,
          .heads = o.heads,
          .d_ff = o.d_ff,
          .positions = o.positions,
          .tied = true,
          .order = o.order,
          .embedding =
              o.embedding.value_or(o.order == NormOrder::post ? EmbeddingScale::root_width : EmbeddingScale::small),
          .embedding_factor = o.embedding_factor,
          .activation = o.activation,
          .bias = o.bias,
          .choices = o.choices};
}

Decoder decoder_for(const EncoderDecoderOptions& options, const Encoder& encoder, const Init& init, DType dtype) {
  if (options.shared) return {decoder_of(options), encoder.tokens(), init};
  return {decoder_of(options), init, dtype};
}

}  // namespace

EncoderDecoder::EncoderDecoder(const EncoderDecoderOptions& options, const Init& init, DType dtype)
    : options_(options),
      encoder_(encoder_of(options), init, dtype),
      decoder_(decoder_for(options, encoder_, init, dtype)) {}

Variable EncoderDecoder::forward(const PaddedTokens& source, const TensorView& target, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const auto read = [&] { return encoder_.hidden(source, part_of(call, 0)); };
  const Variable hidden = nn::named("encoder", read);
  const OperationScope scope("decoder");
  return tracing.result(
      decoder_.forward_cross(target, {.hidden = hidden, .lengths = source.lengths}, part_of(call, 1)));
}

NewTokens EncoderDecoder::generate(const PaddedTokens& source, const TensorView& prompt,
                                   const GenerateOptions& options) const {
  const NoGradient constant;
  const ModelCall call{.dtype = options.dtype};
  const Tensor begin = prompt_or_start(kEncoderDecoder, prompt, options_.start, source.ids.dim(0));
  return decoder_.generate_cross(begin, {.hidden = encoder_.hidden(source, call), .lengths = source.lengths}, options);
}

EncoderDecoderWeights EncoderDecoder::weights(const PaddedTokens& source, const TensorView& target) const {
  const NoGradient constant;
  Trace trace({"*.attn.weights", "*.cross.weights"});
  static_cast<void>(forward(source, target, {.trace = &trace}));
  return {.source = weights_of(trace, "encoder.", "attn", options_.encoder_layers),
          .tokens = weights_of(trace, "decoder.", "attn", options_.layers),
          .cross = weights_of(trace, "decoder.", "cross", options_.layers)};
}

Parameters EncoderDecoder::parameters() const {
  Parameters all;
  append(all, "encoder", encoder_.parameters());
  Parameters of_decoder = decoder_.parameters();
  if (options_.shared) {
    std::erase_if(of_decoder, [](const Parameter& parameter) { return parameter.name == "embedding.weight"; });
  }
  append(all, "decoder", of_decoder);
  return all;
}

std::int64_t parameter_count(const EncoderDecoderOptions& options) {
  const std::int64_t both = parameter_count(encoder_of(options)) + parameter_count(decoder_of(options));
  return options.shared ? both - options.vocabulary * options.d_model : both;
}

}  // namespace qkv
