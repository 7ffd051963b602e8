// An image with one patch covered at a time, and what a model then makes of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/scope.h"
#include "qkv/autograd/shape.h"
#include "qkv/insight/relevance.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

constexpr std::int64_t kCoveredTogether = 16;  // images of a pass
constexpr double kLeast = 1e-300;              // of a probability, whose logarithm is finite

struct PatchGrid {
  std::int64_t side = 0;  // pixels of a patch
  std::int64_t across = 0;

  [[nodiscard]] std::int64_t patches() const noexcept { return across * across; }
};

// Of each channel of [3, H, W].
std::array<float, 3> medians_of(const TensorView& image) {
  std::array<float, 3> medians{};
  for (std::int64_t c = 0; c < 3; ++c) {
    std::vector<double> values = image.select(0, c).to_vector();
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    medians.at(static_cast<std::size_t>(c)) = static_cast<float>(*middle);
  }
  return medians;
}

// [count, 3, H, W]: image n with patch first + n covered.
Tensor covered(const TensorView& image, const PatchGrid& grid, std::int64_t first, std::int64_t count) {
  const std::array<float, 3> cover = medians_of(image);
  const std::int64_t width = image.dim(2);
  const Tensor whole(image);
  Tensor images(DType::f32, {count, 3, image.dim(1), width});
  const auto all = images.values<float>();
  for (std::int64_t n = 0; n < count; ++n) {
    const auto one = all.subspan(static_cast<std::size_t>(n * whole.size()), static_cast<std::size_t>(whole.size()));
    std::ranges::copy(whole.values<float>(), one.begin());
    const std::int64_t top = (first + n) / grid.across * grid.side;
    const std::int64_t left = (first + n) % grid.across * grid.side;
    for (std::int64_t row = 0; row < 3 * grid.side; ++row) {
      const std::int64_t c = row / grid.side;
      const auto begin = one.begin() + (c * image.dim(1) + top + row % grid.side) * width + left;
      std::fill_n(begin, grid.side, cover.at(static_cast<std::size_t>(c)));
    }
  }
  return images;
}

// body(images, first) for all patches, some at a time.
template <class Body>
void for_covered(const TensorView& image, const PatchGrid& grid, const Body& body) {
  for (std::int64_t first = 0; first < grid.patches(); first += kCoveredTogether) {
    body(covered(image, grid, first, std::min(kCoveredTogether, grid.patches() - first)), first);
  }
}

PatchGrid grid_of(const TwoTowerOptions& options) {
  return {.side = options.patch_side, .across = (options.image_side - options.image_margin) / options.patch_side};
}

Tensor alone(const TensorView& image) { return Tensor(image).reshape({1, 3, image.dim(1), image.dim(2)}); }

Tensor repeated(std::span<const std::int32_t> tokens, std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::int64_t n = 0; n < count; ++n) ids.insert(ids.end(), tokens.begin(), tokens.end());
  return {ids, {count, std::ssize(tokens)}};
}

// [B][T]: the logarithm of the probability of said[p] at each place of scores [B, T, vocabulary].
std::vector<std::vector<double>> log_probabilities(const Variable& scores, std::span<const std::int32_t> said) {
  const Tensor shares = softmax(Tensor(scores.value(), DType::f64), -1);
  std::vector<std::vector<double>> all;
  for (std::int64_t b = 0; b < scores.dim(0); ++b) {
    std::vector<double>& row = all.emplace_back();
    for (std::size_t p = 0; p < said.size(); ++p) {
      row.push_back(std::log(std::max(kLeast, shares.at({b, static_cast<std::int64_t>(p), said[p]}))));
    }
  }
  return all;
}

}  // namespace

CoveredImage::CoveredImage(const TwoTower& towers, const TensorView& image)
    : towers_(towers), across_(grid_of(towers.options()).across) {
  const NoGradient constant;
  const Variable whole = towers.embed_images(alone(image));
  std::vector<Variable> hidden;
  for_covered(image, grid_of(towers.options()), [&](const Tensor& images, std::int64_t /*first*/) {
    hidden.push_back(whole - towers.embed_images(images));
  });
  hidden_ = concat(hidden, 0);
}

Tensor CoveredImage::losses(std::span<const std::int32_t> tokens) const {
  const NoGradient constant;
  const Variable text = transpose(towers_.embed_texts({.ids = repeated(tokens, 1)}), 0, 1);
  return Tensor(matmul(hidden_, text).value(), DType::f64).reshape({across_, across_});
}

// The cosine is a product, so its second difference is the product of two differences.
Tensor CoveredImage::interaction(std::span<const std::int32_t> tokens,
                                 std::span<const std::vector<std::int32_t>> shortened) const {
  const NoGradient constant;
  const Variable text = towers_.embed_texts({.ids = repeated(tokens, 1)});
  Tensor parts(DType::f64, {std::ssize(shortened), across_, across_});
  auto to = parts.values<double>().begin();
  for (const std::vector<std::int32_t>& one : shortened) {
    const Variable lacking = transpose(text - towers_.embed_texts({.ids = repeated(one, 1)}), 0, 1);
    to = std::ranges::copy(matmul(hidden_, lacking).value().to_vector(), to).out;
  }
  return parts;
}

Tensor caption_occlusion(const Captioner& captioner, const TensorView& image, std::span<const std::int32_t> tokens,
                         std::span<const std::int32_t> said) {
  if (said.size() != tokens.size()) {
    throw InvalidArgument("caption_occlusion", "said", std::to_string(tokens.size()) + ", a token for each place",
                          std::to_string(said.size()));
  }
  const NoGradient constant;
  const CaptionerOptions& options = captioner.options();
  const PatchGrid grid{.side = options.patch_side, .across = options.image_side / options.patch_side};
  const std::vector<double> before =
      log_probabilities(captioner.forward(alone(image), repeated(tokens, 1)), said).front();
  Tensor losses(DType::f64, {std::ssize(tokens), grid.across, grid.across});
  for_covered(image, grid, [&](const Tensor& images, std::int64_t first) {
    const auto after = log_probabilities(captioner.forward(images, repeated(tokens, images.dim(0))), said);
    for (std::size_t n = 0; n < after.size(); ++n) {
      for (std::size_t p = 0; p < said.size(); ++p) {
        const std::size_t patch = static_cast<std::size_t>(first) + n;
        losses.values<double>()[p * static_cast<std::size_t>(grid.patches()) + patch] = before[p] - after[n][p];
      }
    }
  });
  return losses;
}

}  // namespace qkv
