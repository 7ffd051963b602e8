#include "qkv/model/encoder_decoder.h"

#include <algorithm>

#include "model/text_options.h"
#include "qkv/autograd/watch.h"

namespace qkv::learn {
namespace {

constexpr const char* kName = "EncoderDecoder";

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
          .activation = o.activation,
          .bias = o.bias,
          .d_context = o.d_model};
}

void require_model(const EncoderDecoderOptions& o) {
  const auto require = [](bool holds, std::string_view argument, const std::string& expected, std::int64_t got) {
    if (!holds) throw InvalidArgument(kName, argument, expected, std::to_string(got));
  };
  require(o.source_vocabulary > 0, "source_vocabulary", "more than 0", o.source_vocabulary);
  require(o.encoder_layers > 0, "encoder_layers", "more than 0", o.encoder_layers);
  require(o.positions != Positions::learned || o.source_length > 0, "source_length",
          "more than 0, for learned positions", o.source_length);
  require_sound(kName, {.vocabulary = o.vocabulary,
                        .length = o.length,
                        .layers = o.layers,
                        .d_model = o.d_model,
                        .heads = o.heads,
                        .d_ff = o.d_ff,
                        .positions = o.positions});
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
          .embedding = o.order == NormOrder::pre ? EmbeddingScale::small : EmbeddingScale::root_width,
          .activation = o.activation,
          .bias = o.bias};
}

Decoder decoder_for(const EncoderDecoderOptions& options, const Encoder& encoder, Generator& generator, DType dtype) {
  if (options.shared) return {decoder_of(options), encoder.tokens(), generator};
  return {decoder_of(options), generator, dtype};
}

}  // namespace

EncoderDecoder::EncoderDecoder(const EncoderDecoderOptions& options, Generator& generator, DType dtype)
    : options_(options),
      encoder_(encoder_of(options), generator, dtype),
      decoder_(decoder_for(options, encoder_, generator, dtype)) {}

Variable EncoderDecoder::forward(const PaddedTokens& source, const TensorView& target,
                                 const EncoderDecoderCall& call) const {
  ModelCall reading = call;
  ModelCall saying = call;
  if (call.dropout) {
    reading.dropout = dropout_at(*call.dropout, 0);
    saying.dropout = dropout_at(*call.dropout, 1);
  }
  Variable hidden;
  {
    const OperationScope scope("encoder");
    hidden = encoder_.hidden(source, reading);
  }
  const OperationScope scope("decoder");
  return decoder_.forward_cross(target, {.hidden = hidden, .lengths = source.lengths}, saying);
}

std::vector<std::vector<std::int64_t>> EncoderDecoder::generate(const PaddedTokens& source, std::int64_t first,
                                                                const GreedyOptions& options) const {
  const NoGradient constant;
  const ModelCall call{.dtype = encoder_.tokens().dtype()};
  const DecoderContext context{.hidden = encoder_.hidden(source, call), .lengths = source.lengths};
  Tensor prompt(DType::i64, {source.ids.dim(0), 1});
  std::ranges::fill(prompt.values<std::int64_t>(), first);
  return greedy(prompt, options, [&](const TensorView& ids) { return decoder_.forward_cross(ids, context, call); });
}

void EncoderDecoder::tap(const PaddedTokens& source, const TensorView& target, const TapScope& taps) const {
  const NoGradient constant;
  encoder_.tap(source, taps.inner("encoder"));
  const Variable hidden = encoder_.hidden(source, {.dtype = encoder_.tokens().dtype()});
  decoder_.tap_cross(target, {.hidden = hidden, .lengths = source.lengths}, taps.inner("decoder"));
}

EncoderDecoderWeights EncoderDecoder::weights(const PaddedTokens& source, const TensorView& target) const {
  const NoGradient constant;
  const Variable hidden = encoder_.hidden(source, {.dtype = encoder_.tokens().dtype()});
  DecoderWeights said = decoder_.weights_cross(target, {.hidden = hidden, .lengths = source.lengths});
  return {.source = encoder_.weights(source), .tokens = std::move(said.tokens), .cross = std::move(said.cross)};
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

}  // namespace qkv::learn
