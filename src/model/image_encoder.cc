#include "qkv/model/image_encoder.h"

#include <array>

#include "nn/tracing.h"
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
  constexpr std::array<std::string_view, 2> kNames = {"class_token", "with_mean"};
  return kNames[static_cast<std::size_t>(read)];
}

ImageEncoder::ImageEncoder(const ImageEncoderOptions& options, const Init& init, DType dtype)
    : options_(checked(options)), encoder_(options.patches, init, dtype), classes_(class_map(options, init, dtype)) {}

Variable ImageEncoder::states(const TensorView& images, const ModelCall& call) const {
  return encoder_.forward(images, call);
}

Variable ImageEncoder::class_scores(const TensorView& images, const ModelCall& call) const {
  if (!classes_) throw InvalidArgument(kImageEncoder, "classes", "some that the model tells apart", "0");
  const nn::Tracing tracing(call.trace);
  ModelCall inner = call;
  inner.trace = nullptr;
  const Variable all = encoder_.forward(images, inner);
  const std::int64_t width = all.dim(2);
  Variable read = reshape(slice(all, 1, 0, 1), {all.dim(0), width});
  if (options_.classes_read == ClassesRead::with_mean) {
    read = concat({read, mean(slice(all, 1, 1, all.dim(1)), {1})}, 1);
  }
  return tracing.result(nn::named("classes", [&] { return classes_->forward(read); }));
}

Parameters ImageEncoder::parameters() const {
  Parameters all = encoder_.parameters();
  if (classes_) append(all, "classes", classes_->parameters());
  return all;
}

std::int64_t parameter_count(const ImageEncoderOptions& options) {
  const ImageEncoderOptions o = checked(options);
  return parameter_count(o.patches) + o.classes * (o.classes > 0 ? width_read(o) + 1 : 0);
}

}  // namespace qkv
