#include "qkv/model/transcriber.h"

#include "model/config.h"
#include "model/text_options.h"
#include "nn/tracing.h"

namespace qkv {
namespace {

constexpr const char* kTranscriber = "Transcriber";
constexpr const char* kTranscriberKind = "transcriber";

constexpr auto kTranscriberWords = [](auto& o, const auto& each) {
  each_common_option(o, each);
  each("bins", o.bins);
  each("frames", o.frames);
  each("encoder_layers", o.encoder_layers);
  each("layers", o.layers);
  each("activation", o.activation);
  each("tied", o.tied);
  each.later("start", o.start, std::optional<std::int64_t>());
  each_layer_choice(o, each);
};

SoundEncoderOptions encoder_of(const TranscriberOptions& o) {
  return {.bins = o.bins,
          .frames = o.frames,
          .layers = o.encoder_layers,
          .d_model = o.d_model,
          .heads = o.heads,
          .d_ff = o.d_ff,
          .activation = o.activation,
          .choices = o.choices};
}

DecoderOptions decoder_of(const TranscriberOptions& o) {
  return {.vocabulary = o.vocabulary,
          .length = o.length,
          .layers = o.layers,
          .d_model = o.d_model,
          .heads = o.heads,
          .d_ff = o.d_ff,
          .positions = o.positions,
          .tied = o.tied,
          .activation = o.activation,
          .d_context = o.d_model,
          .choices = o.choices};
}

TranscriberOptions checked_transcriber(const TranscriberOptions& o) {
  const auto require = [](bool holds, std::string_view argument, const std::string& expected, std::int64_t got) {
    if (!holds) throw InvalidArgument(kTranscriber, argument, expected, std::to_string(got));
  };
  require(o.encoder_layers > 0, "encoder_layers", "more than 0", o.encoder_layers);
  TextOptions text = text_options(o, o.layers);
  text.choices = o.choices;
  require_sound(kTranscriber, text);
  require_start(kTranscriber, o.start, o.vocabulary);
  return o;
}

}  // namespace

std::map<std::string, std::string> config_of(const TranscriberOptions& options) {
  return config_from(kTranscriberKind, options, kTranscriberWords);
}

TranscriberOptions transcriber_options(const std::map<std::string, std::string>& config) {
  return options_from<TranscriberOptions>("transcriber_options", kTranscriberKind, config, kTranscriberWords);
}

Transcriber::Transcriber(const TranscriberOptions& options, const Init& init, DType dtype)
    : options_(checked_transcriber(options)),
      encoder_(encoder_of(options), init, dtype),
      decoder_(decoder_of(options), init, dtype) {}

Variable Transcriber::forward(const TensorView& sounds, const TensorView& ids, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const Variable frames = nn::named("encoder", [&] { return encoder_.forward(sounds, part_of(call, 0)); });
  const OperationScope scope("decoder");
  return tracing.result(decoder_.forward_cross(ids, {.hidden = frames}, part_of(call, 1)));
}

NewTokens Transcriber::generate(const TensorView& sounds, const TensorView& prompt,
                                const GenerateOptions& options) const {
  const NoGradient constant;
  const ModelCall call{.dtype = options.dtype};
  const Variable frames = nn::named("encoder", [&] { return encoder_.forward(sounds, call); });
  return decoder_.generate_cross(prompt_or_start(kTranscriber, prompt, options_.start, sounds.dim(0)),
                                 {.hidden = frames}, options);
}

Parameters Transcriber::parameters() const {
  Parameters all;
  append(all, "encoder", encoder_.parameters());
  append(all, "decoder", decoder_.parameters());
  return all;
}

std::int64_t parameter_count(const TranscriberOptions& options) {
  const TranscriberOptions sound = checked_transcriber(options);
  return parameter_count(encoder_of(sound)) + parameter_count(decoder_of(sound));
}

}  // namespace qkv
