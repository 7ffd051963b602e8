#include "qkv/model/sound_encoder.h"

#include <string>

#include "model/text_options.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/dropout.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr const char* kSoundEncoder = "SoundEncoder";
constexpr std::int64_t kTaps = 3;
constexpr double kSoundPlaceDeviation = 0.02;

TextOptions sound_text(const SoundEncoderOptions& o) {
  return {.vocabulary = 1,
          .layers = o.layers,
          .d_model = o.d_model,
          .heads = o.heads,
          .d_ff = o.d_ff,
          .activation = o.activation,
          .choices = o.choices};
}

SoundEncoderOptions checked_sound(const SoundEncoderOptions& options) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const auto require = [](bool holds, std::string_view argument, const std::string& expected, std::int64_t got) {
    if (!holds) throw InvalidArgument(kSoundEncoder, argument, expected, std::to_string(got));
  };
  require(options.bins > 0 && options.bins <= kMost, "bins", "1 to " + std::to_string(kMost), options.bins);
  require(options.frames > 0 && options.frames <= kMost && options.frames % 2 == 0, "frames",
          "an even number from 2 to " + std::to_string(kMost), options.frames);
  require_sound(kSoundEncoder, sound_text(options));
  return options;
}

StackOptions sound_stack(const SoundEncoderOptions& options) {
  return stack_options(sound_text(options), StackKind::encoder);
}

// x [B, T, C] -> [B, T / stride, C * 3]: each place with the one before and the one behind it, zeros beyond both ends,
// as the weight of a convolution lies.
Variable taps_of(const Variable& x, std::int64_t stride) {
  const std::int64_t B = x.dim(0), T = x.dim(1), C = x.dim(2);
  const Variable none(Tensor(x.dtype(), {B, 1, C}));
  const Variable padded = concat({none, x, none}, 1);
  std::vector<Variable> taps;
  for (std::int64_t tap = 0; tap < kTaps; ++tap) {
    const Variable rows = reshape(slice(padded, 1, tap, tap + T), {B, T / stride, stride * C});
    taps.push_back(reshape(slice(rows, 2, 0, C), {B, T / stride, C, 1}));
  }
  return reshape(concat(taps, 3), {B, T / stride, C * kTaps});
}

}  // namespace

SoundEncoder::SoundEncoder(const SoundEncoderOptions& options, const Init& init, DType dtype)
    : options_(checked_sound(options)),
      conv1_({.in = options.bins * kTaps, .out = options.d_model, .dtype = dtype}, init),
      conv2_({.in = options.d_model * kTaps, .out = options.d_model, .dtype = dtype}, init),
      positions_(init.normal({options.places(), options.d_model}, kSoundPlaceDeviation, dtype)),
      stack_(sound_stack(options), init, dtype) {}

Variable SoundEncoder::forward(const TensorView& sounds, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const Shape expected{sounds.rank() > 0 ? sounds.dim(0) : 0, options_.bins, options_.frames};
  if (sounds.dtype() != DType::f32 || !(sounds.shape() == expected)) {
    throw InvalidArgument(kSoundEncoder, "sounds",
                          "f32 [B, " + std::to_string(options_.bins) + ", " + std::to_string(options_.frames) + "]",
                          std::string(name_of(sounds.dtype())) + " " + sounds.shape().to_string());
  }
  const DType computed = call.dtype_for(positions_.dtype());
  const Variable frames = cast(Variable(Tensor(sounds.transpose(1, 2))), computed);
  Variable x = nn::named("conv1", [&] { return conv1_.forward(taps_of(frames, 1)); });
  x = activate(Activation::gelu, x);
  x = nn::named("conv2", [&] { return conv2_.forward(taps_of(x, 2)); });
  x = activate(Activation::gelu, x) + cast(positions_, computed);
  BlockCall inner{.memory = call.memory};
  if (call.dropout) {
    x = dropout(x, dropout_at(*call.dropout, 0));
    inner.dropout = dropout_at(*call.dropout, 1);
  }
  return tracing.result(stack_.forward(x, inner));
}

Parameters SoundEncoder::parameters() const {
  Parameters all;
  append(all, "conv1", conv1_.parameters());
  append(all, "conv2", conv2_.parameters());
  all.push_back({"positions.weight", positions_});
  for (const Parameter& parameter : stack_.parameters()) all.push_back(parameter);
  return all;
}

std::int64_t parameter_count(const SoundEncoderOptions& options) {
  const SoundEncoderOptions o = checked_sound(options);
  const std::int64_t vectors = (o.bins + o.d_model) * kTaps + 2 + o.places();
  return vectors * o.d_model + parameter_count(sound_stack(o));
}

}  // namespace qkv
