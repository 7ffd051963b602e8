#include "qkv/model/patch_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include "model/resize_shares.h"
#include "model/text_options.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/dropout.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/scope.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr const char* kPatchEncoder = "PatchEncoder";
constexpr std::int64_t kChannels = 3;
// Of positions at the start: 1 / sqrt(3), which is what the map makes of white at most. Of 0.02, as ViT has it for
// pixels about 0, a white ground drowns them, and where things stand is not learned.
constexpr double kPlaceDeviation = std::numbers::inv_sqrt3;

void require(bool holds, std::string_view argument, const std::string& expected, std::int64_t got) {
  if (!holds) throw InvalidArgument(kPatchEncoder, argument, expected, std::to_string(got));
}

PatchEncoderOptions checked(const PatchEncoderOptions& options) {
  require(options.image_side > 0, "image_side", "more than 0", options.image_side);
  require(options.patch_side > 0, "patch_side", "more than 0", options.patch_side);
  // Numbers of parameters are sums of products of sizes.
  constexpr std::int64_t kLargestSide = std::int64_t{1} << 15;
  constexpr std::int64_t kWidest = std::int64_t{1} << 20;
  require(options.image_side <= kLargestSide, "image_side", "at most " + std::to_string(kLargestSide),
          options.image_side);
  require(options.d_model <= kWidest, "d_model", "at most " + std::to_string(kWidest), options.d_model);
  require(options.d_ff.value_or(1) <= kWidest, "d_ff", "at most " + std::to_string(kWidest), options.d_ff.value_or(1));
  require(options.margin >= 0 && options.margin < options.image_side, "margin", "0 or more, less than `image_side`",
          options.margin);
  const std::int64_t covered = options.image_side - options.margin;
  require(covered % options.patch_side == 0, "patch_side",
          "a divisor of `image_side`" + std::string(options.margin > 0 ? " without `margin`, " : ", ") +
              std::to_string(covered),
          options.patch_side);
  require(options.layers > 0, "layers", "more than 0", options.layers);
  require(options.d_model > 0, "d_model", "more than 0", options.d_model);
  require(options.heads > 0, "heads", "more than 0", options.heads);
  require(
      options.d_model % options.heads == 0, "heads",
      "a divisor of `d_model`, " + std::to_string(options.d_model) + ", since each head has `d_model` / `heads` of it",
      options.heads);
  require(options.d_ff.value_or(1) > 0, "d_ff", "more than 0", options.d_ff.value_or(1));
  require(options.registers >= 0 && options.registers <= kWidest, "registers", "0 to " + std::to_string(kWidest),
          options.registers);
  if (!options.class_token && (options.distilled || options.registers > 0)) {
    throw InvalidArgument(kPatchEncoder, options.distilled ? "distilled" : "registers",
                          "none without a class token before it", "some");
  }
  if (options.relative && options.class_token) {
    throw InvalidArgument(kPatchEncoder, "relative", "false with a class token", "true");
  }
  if (options.relative && options.resized_positions) {
    throw InvalidArgument(kPatchEncoder, "relative", "false where positions are resized", "true");
  }
  return options;
}

std::int64_t elements_of_patch(const PatchEncoderOptions& options) {
  return kChannels * options.patch_side * options.patch_side;
}

std::int64_t across(const PatchEncoderOptions& options) {
  return (options.image_side - options.margin) / options.patch_side;
}

// Steps down and across from one patch to another: from 1 - across to across - 1 each.
std::int64_t steps(const PatchEncoderOptions& options) { return 2 * across(options) - 1; }

Variable relative_table(const PatchEncoderOptions& options, const Init& init, DType dtype) {
  if (!options.relative) return {};
  return init.constant({steps(options) * steps(options), options.heads}, 0, dtype);
}

// The table's row for each query and key.
Tensor rows_of_pairs(const PatchEncoderOptions& options) {
  const std::int64_t n = across(options);
  Tensor rows(DType::i64, {n * n, n * n});
  auto row = rows.values<std::int64_t>().begin();
  for (std::int64_t i = 0; i < n * n; ++i) {
    for (std::int64_t j = 0; j < n * n; ++j) {
      *row++ = (j / n - i / n + n - 1) * steps(options) + (j % n - i % n + n - 1);
    }
  }
  return rows;
}

std::optional<Norm> input_norm(const PatchEncoderOptions& options, const Init& init, DType dtype) {
  if (!options.input_norm) return std::nullopt;
  return Norm({.width = options.d_model, .epsilon = options.epsilon, .dtype = dtype}, init);
}

Variable learned(bool is_there, const Shape& shape, const Init& init, DType dtype) {
  return is_there ? init.normal(shape, kPlaceDeviation, dtype) : Variable();
}

// The vectors, [d_model] or [n, d_model], in each row of the batch behind the first places of x.
Variable with_vectors(const Variable& x, const Variable& vectors, std::int64_t behind) {
  const std::int64_t count = vectors.size() / x.dim(2);
  const Variable zeros(Tensor(x.dtype(), {x.dim(0), count, x.dim(2)}));
  const Variable own = zeros + cast(vectors, x.dtype());
  if (behind == 0) return concat({own, x}, 1);
  return concat({slice(x, 1, 0, behind), own, slice(x, 1, behind, x.dim(1))}, 1);
}

// What each place of `from` numbers counts at each of `to`: torch's bicubic, whose cubic has a = -3/4, between the
// middles of places; beyond the ends stands the number at the end.
Tensor cubic_shares(std::int64_t from, std::int64_t to, DType dtype) {
  constexpr double kA = -0.75;
  const auto near = [](double x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  Tensor shares(DType::f64, {to, from});
  const double step = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t n = 0; n < to; ++n) {
    const double place = (static_cast<double>(n) + 0.5) * step - 0.5;
    const double first = std::floor(place);
    const double past = place - first;
    const std::array<double, 4> taps = {far(past + 1), near(past), near(1 - past), far(2 - past)};
    for (std::int64_t tap = 0; tap < 4; ++tap) {
      const std::int64_t at = std::clamp<std::int64_t>(static_cast<std::int64_t>(first) + tap - 1, 0, from - 1);
      shares.set({n, at}, shares.at({n, at}) + taps[static_cast<std::size_t>(tap)]);
    }
  }
  return shares.to(dtype);
}

// The same by torch's bicubic with antialias, as DINOv2 with registers has it.
Tensor smooth_shares(std::int64_t from, std::int64_t to, DType dtype) {
  Tensor shares(DType::f64, {to, from});
  for (std::int64_t n = 0; n < to; ++n) {
    const ResizeShares own = resize_shares(n, from, to, ResizeFilter::bicubic);
    std::int64_t at = own.first;
    for (const double share : own.shares) shares.set({n, at++}, share);
  }
  return shares.to(dtype);
}

// [side * side, width] as [side, side, width] with both sides resized -> [height * width, width].
Variable resized_grid(const Variable& grid, std::int64_t side, ImageSize to, bool is_smooth) {
  const std::int64_t width = grid.dim(1);
  const auto shares = is_smooth ? smooth_shares : cubic_shares;
  const Variable down(shares(side, to.height, grid.dtype()));
  const Variable right(shares(side, to.width, grid.dtype()));
  const Variable tall = reshape(matmul(down, reshape(grid, {side, side * width})), {to.height, side, width});
  const Variable turned = reshape(permute(tall, {1, 0, 2}), {side, to.height * width});
  const Variable wide = reshape(matmul(right, turned), {to.width, to.height, width});
  return reshape(permute(wide, {1, 0, 2}), {to.height * to.width, width});
}

StackOptions stack_of(const PatchEncoderOptions& options) {
  StackOptions stack{.kind = StackKind::encoder, .layers = options.layers};
  stack.block.attention.d_model = options.d_model;
  stack.block.attention.heads = options.heads;
  stack.block.d_ff = options.d_ff;
  stack.block.activation = options.activation;
  stack.block.epsilon = options.epsilon;
  stack.block.attention.bias = options.qkv_bias;
  stack.block.attention.out_bias = true;
  stack.block.feed_forward_bias = true;
  stack.block.feed_forward = options.feed_forward;
  stack.block.layer_scale = options.layer_scale;
  return stack;
}

}  // namespace

Tensor patches_of(const TensorView& images, std::int64_t patch_side) {
  constexpr const char* kName = "patches_of";
  if (patch_side < 1) throw InvalidArgument(kName, "patch_side", "more than 0", std::to_string(patch_side));
  if (images.rank() != 4 || images.dim(2) % patch_side != 0 || images.dim(3) % patch_side != 0) {
    throw InvalidArgument(kName, "images", "[B, C, H, W] of whole patches of " + std::to_string(patch_side) + " pixels",
                          images.shape().to_string());
  }
  const Tensor dense(images);
  const std::int64_t channels = images.dim(1);
  const std::int64_t down = images.dim(2) / patch_side;
  const std::int64_t across = images.dim(3) / patch_side;
  Tensor out(images.dtype(), {images.dim(0), down * across, channels * patch_side * patch_side});
  const std::size_t row = size_of(images.dtype()) * static_cast<std::size_t>(patch_side);
  auto* to = static_cast<std::byte*>(out.data());
  // Rows of patches, b c h w of the image all counted in rows of one patch.
  const auto copy_row = [&](std::int64_t b, std::int64_t c, std::int64_t h, std::int64_t w) {
    const std::int64_t from = ((b * channels + c) * images.dim(2) + h) * across + w;
    std::memcpy(to, static_cast<const std::byte*>(dense.data()) + static_cast<std::size_t>(from) * row, row);
    to += row;
  };
  for (std::int64_t b = 0; b < images.dim(0); ++b) {
    for (std::int64_t patch = 0; patch < down * across; ++patch) {
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t h = 0; h < patch_side; ++h) {
          copy_row(b, c, patch / across * patch_side + h, patch % across);
        }
      }
    }
  }
  return out;
}

std::int64_t PatchEncoderOptions::patches() const noexcept {
  const std::int64_t row = patch_side > 0 ? (image_side - margin) / patch_side : 0;
  return row * row;
}

PatchEncoder::PatchEncoder(const PatchEncoderOptions& options, const Init& init, DType dtype)
    : options_(checked(options)),
      patch_({.in = elements_of_patch(options), .out = options.d_model, .bias = options.patch_bias, .dtype = dtype},
             init),
      class_(learned(options.class_token, {options.d_model}, init, dtype)),
      distilled_(learned(options.distilled, {options.d_model}, init, dtype)),
      positions_(init.normal({options.patches() + options.places_before(), options.d_model}, kPlaceDeviation, dtype)),
      registers_(learned(options.registers > 0, {options.registers, options.d_model}, init, dtype)),
      input_norm_(input_norm(options, init, dtype)),
      relative_(relative_table(options, init, dtype)),
      stack_(stack_of(options), init, dtype) {}

// [1, heads, patches, patches].
Variable PatchEncoder::relative_bias() const {
  const OperationScope scope("relative");
  return reshape(permute(qkv::embedding(relative_, rows_of_pairs(options_)), {2, 0, 1}),
                 {1, options_.heads, options_.patches(), options_.patches()});
}

// The part of images that patches cover.
TensorView PatchEncoder::covered(const TensorView& images) const {
  const auto refuse = [&](const std::string& expected) {
    throw InvalidArgument(kPatchEncoder, "images", expected,
                          std::string(name_of(images.dtype())) + " " + images.shape().to_string());
  };
  const std::int64_t patch = options_.patch_side;
  if (options_.resized_positions) {
    const bool fits = images.dtype() == DType::f32 && images.rank() == 4 && images.dim(1) == kChannels &&
                      images.dim(2) >= patch && images.dim(3) >= patch;
    if (!fits) refuse("f32 [B, 3, H, W] with a patch of " + std::to_string(patch) + " pixels or more");
    return images.slice(2, 0, images.dim(2) / patch * patch).slice(3, 0, images.dim(3) / patch * patch);
  }
  const Shape expected{images.rank() > 0 ? images.dim(0) : 0, kChannels, options_.image_side, options_.image_side};
  if (images.dtype() != DType::f32 || !(images.shape() == expected)) {
    const std::string side = std::to_string(options_.image_side);
    refuse("f32 [B, 3, " + side + ", " + side + "]");
  }
  const std::int64_t side = options_.image_side - options_.margin;
  return images.slice(2, 0, side).slice(3, 0, side);
}

Variable PatchEncoder::positions_for(ImageSize patches) const {
  const std::int64_t side = across(options_);
  if (patches.height == side && patches.width == side) return positions_;
  const std::int64_t before = options_.places_before();
  const Variable grid = cast(slice(positions_, 0, before, positions_.dim(0)), ModelCall().dtype_for(dtype()));
  const Variable resized = resized_grid(grid, side, patches, options_.registers > 0);
  if (before == 0) return resized;
  return concat({cast(slice(positions_, 0, 0, before), resized.dtype()), resized}, 0);
}

Variable PatchEncoder::embedded(const TensorView& images, const ModelCall& call) const {
  const TensorView read = covered(images);
  const DType computed = call.dtype_for(dtype());
  const Variable pixels = cast(Variable(patches_of(read, options_.patch_side)), computed);
  Variable x = nn::named("patch", [&] { return patch_.forward(pixels); });
  if (!distilled_.empty()) x = with_vectors(x, distilled_, 0);
  if (!class_.empty()) x = with_vectors(x, class_, 0);
  const ImageSize patches{.height = read.dim(2) / options_.patch_side, .width = read.dim(3) / options_.patch_side};
  x = x + cast(positions_for(patches), computed);
  if (!registers_.empty()) x = with_vectors(x, registers_, options_.places_before());
  if (input_norm_) x = nn::named("ln_input", [&] { return input_norm_->forward(x); });
  return call.dropout ? dropout(x, dropout_at(*call.dropout, 0)) : x;
}

Variable PatchEncoder::forward(const TensorView& images, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  BlockCall inner{.memory = call.memory};
  if (options_.relative) inner.learned.bias.emplace_back(LearnedDenseBias{.values = relative_bias()});
  if (call.dropout) inner.dropout = dropout_at(*call.dropout, 1);
  return tracing.result(stack_.forward(embedded(images, call), inner));
}

std::vector<Tensor> PatchEncoder::weights(const TensorView& images) const {
  const NoGradient constant;
  Trace trace({"*.attn.weights"});
  static_cast<void>(forward(images, {.trace = &trace}));
  return weights_of(trace, "", "attn", options_.layers);
}

Parameters PatchEncoder::parameters() const {
  Parameters all;
  append(all, "patch", patch_.parameters());
  if (!class_.empty()) all.push_back({"class.weight", class_});
  if (!distilled_.empty()) all.push_back({"distilled.weight", distilled_});
  all.push_back({"positions.weight", positions_});
  if (!registers_.empty()) all.push_back({"registers.weight", registers_});
  if (input_norm_) append(all, "ln_input", input_norm_->parameters());
  if (options_.relative) all.push_back({"relative.weight", relative_});
  for (const Parameter& parameter : stack_.parameters()) all.push_back(parameter);
  return all;
}

std::int64_t parameter_count(const PatchEncoderOptions& options) {
  const PatchEncoderOptions o = checked(options);
  const std::int64_t places = o.places_before() + o.patches();
  const std::int64_t vectors =
      elements_of_patch(o) + (o.patch_bias ? 1 : 0) + o.before() + places + (o.input_norm ? 2 : 0);
  const std::int64_t count = vectors * o.d_model + parameter_count(stack_of(o));
  return o.relative ? count + steps(o) * steps(o) * o.heads : count;
}

}  // namespace qkv
