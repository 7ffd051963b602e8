#include "qkv/model/image_encoder.h"

#include <array>

#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr const char* kImageEncoder = "ImageEncoder";

ImageEncoderOptions checked(const ImageEncoderOptions& options) {
  constexpr std::int64_t kMostClasses = std::int64_t{1} << 24;
  if (options.classes < 0 || options.classes > kMostClasses) {
    throw InvalidArgument(kImageEncoder, "classes", "0 to " + std::to_string(kMostClasses),
                          std::to_string(options.classes));
  }
  if (options.classes_read == ClassesRead::two_tokens && !options.patches.distilled) {
    throw InvalidArgument(kImageEncoder, "classes_read", "another without a token of distillation", "two_tokens");
  }
  if (!options.patches.class_token) throw InvalidArgument(kImageEncoder, "class_token", "true", "false");
  return options;
}

std::int64_t width_read(const ImageEncoderOptions& options) {
  return options.patches.d_model * (options.classes_read == ClassesRead::with_mean ? 2 : 1);
}

std::optional<Linear> class_map(const ImageEncoderOptions& options, const Init& init, DType dtype) {
  if (options.classes == 0) return std::nullopt;
  return Linear({.in = width_read(options), .out = options.classes, .dtype = dtype}, init);
}

}  // namespace

std::string_view name_of(ClassesRead read) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"class_token", "with_mean", "two_tokens"};
  return kNames[static_cast<std::size_t>(read)];
}

ImageEncoder::ImageEncoder(const ImageEncoderOptions& options, const Init& init, DType dtype)
    : options_(checked(options)),
      encoder_(options.patches, init, dtype),
      classes_(class_map(options, init, dtype)),
      distilled_classes_(options.classes_read == ClassesRead::two_tokens ? class_map(options, init, dtype)
                                                                         : std::nullopt) {}

Variable ImageEncoder::states(const TensorView& images, const ModelCall& call) const {
  return encoder_.forward(images, call);
}

Variable ImageEncoder::class_scores(const TensorView& images, const ModelCall& call) const {
  if (!classes_) throw InvalidArgument(kImageEncoder, "classes", "some that the model tells apart", "0");
  const nn::Tracing tracing(call.trace);
  ModelCall inner = call;
  inner.trace = nullptr;
  return tracing.result(scores_of_states(encoder_.forward(images, inner)));
}

Variable ImageEncoder::read_out(const Variable& stream, const ModelCall& call) const {
  if (!classes_) throw InvalidArgument(kImageEncoder, "classes", "some that the model tells apart", "0");
  const nn::Tracing tracing(call.trace);
  return tracing.result(scores_of_states(encoder_.end(stream)));
}

Variable ImageEncoder::scores_of_states(const Variable& all) const {
  const auto token = [&](std::int64_t n) { return reshape(slice(all, 1, n, n + 1), {all.dim(0), all.dim(2)}); };
  Variable read = token(0);
  if (options_.classes_read == ClassesRead::with_mean) {
    read = concat({read, mean(slice(all, 1, options_.patches.before(), all.dim(1)), {1})}, 1);
  }
  if (distilled_classes_) {
    return nn::traced("classes", scale(classes_->forward(read) + distilled_classes_->forward(token(1)), 0.5));
  }
  return nn::named("classes", [&] { return classes_->forward(read); });
}

Parameters ImageEncoder::parameters() const {
  Parameters all = encoder_.parameters();
  if (classes_) append(all, "classes", classes_->parameters());
  if (distilled_classes_) append(all, "distilled_classes", distilled_classes_->parameters());
  return all;
}

std::int64_t parameter_count(const ImageEncoderOptions& options) {
  const ImageEncoderOptions o = checked(options);
  const std::int64_t maps = o.classes_read == ClassesRead::two_tokens ? 2 : 1;
  return parameter_count(o.patches) + maps * o.classes * (o.classes > 0 ? width_read(o) + 1 : 0);
}

}  // namespace qkv
