#include "qkv/model/captioner.h"

#include <string>

#include "model/text_options.h"
#include "nn/tracing.h"

namespace qkv {
namespace {

constexpr const char* kCaptioner = "Captioner";

PatchEncoderOptions encoder_of(const CaptionerOptions& options) {
  return {.image_side = options.image_side,
          .patch_side = options.patch_side,
          .layers = options.encoder_layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .relative = options.relative};
}

DecoderOptions decoder_of(const CaptionerOptions& options) {
  return {.vocabulary = options.vocabulary,
          .length = options.length,
          .layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions,
          .tied = options.tied,
          .d_context = options.d_model};
}

CaptionerOptions checked(const CaptionerOptions& options) {
  if (options.encoder_layers < 1) {
    throw InvalidArgument(kCaptioner, "encoder_layers", "more than 0", std::to_string(options.encoder_layers));
  }
  require_sound(kCaptioner, text_options(options, options.layers));
  return options;
}

}  // namespace

Captioner::Captioner(const CaptionerOptions& options, const Init& init, DType dtype)
    : options_(checked(options)),
      encoder_(encoder_of(options), init, dtype),
      decoder_(decoder_of(options), init, dtype) {}

Variable Captioner::forward(const TensorView& images, const TensorView& ids, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const Variable patches = nn::named("encoder", [&] { return encoder_.forward(images, part_of(call, 0)); });
  const OperationScope scope("decoder");
  return tracing.result(decoder_.forward_cross(ids, {.hidden = patches}, part_of(call, 1)));
}

NewTokens Captioner::generate(const TensorView& images, const TensorView& prompt,
                              const GenerateOptions& options) const {
  const NoGradient constant;
  const ModelCall call{.dtype = options.dtype};
  return decoder_.generate_cross(prompt, {.hidden = encoder_.forward(images, call)}, options);
}

DecoderWeights Captioner::weights(const TensorView& images, const TensorView& ids) const {
  const NoGradient constant;
  Trace trace({"decoder.*.attn.weights", "*.cross.weights"});
  static_cast<void>(forward(images, ids, {.trace = &trace}));
  return {.tokens = weights_of(trace, "decoder.", "attn", options_.layers),
          .cross = weights_of(trace, "decoder.", "cross", options_.layers)};
}

Parameters Captioner::parameters() const {
  Parameters all;
  append(all, "encoder", encoder_.parameters());
  append(all, "decoder", decoder_.parameters());
  return all;
}

std::int64_t parameter_count(const CaptionerOptions& options) {
  const CaptionerOptions sound = checked(options);
  return parameter_count(encoder_of(sound)) + parameter_count(decoder_of(sound));
}

}  // namespace qkv
