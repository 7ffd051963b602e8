#include "qkv/model/patch_encoder.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "qkv/autograd/reduce.h"

namespace qkv::patch_encoder_test {
namespace {

PatchEncoderOptions small() {
  return {.image_side = 12, .patch_side = 4, .layers = 2, .d_model = 16, .heads = 2, .d_ff = 24};
}

Tensor some_images(std::uint64_t seed = 1) { return Generator(seed).rand({2, 3, 12, 12}); }

TEST(PatchesOf, LiesRowByRowAsTheWeightOfAConvolution) {
  // Each pixel holds its own address b, c, y, x.
  Tensor images(DType::f64, {2, 3, 4, 6});
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t y = 0; y < 4; ++y) {
        for (std::int64_t x = 0; x < 6; ++x) {
          images.set({b, c, y, x}, static_cast<double>(1000 * b + 100 * c + 10 * y + x));
        }
      }
    }
  }
  const Tensor patches = patches_of(images, 2);
  ASSERT_EQ(patches.shape().to_string(), "[2, 6, 12]");
  // The fifth patch of the second image: its rows 2 and 3, columns 2 and 3.
  EXPECT_THAT(patches.view().select(0, 1).select(0, 4).to_vector(),
              testing::ElementsAre(1022, 1023, 1032, 1033, 1122, 1123, 1132, 1133, 1222, 1223, 1232, 1233));
  // Strides do not matter.
  const Tensor turned(images.view().transpose(2, 3));
  EXPECT_EQ(patches_of(images.view().transpose(2, 3), 2).to_vector(), patches_of(turned, 2).to_vector());
}

TEST(PatchesOf, RefusesPartsOfPatches) {
  const Tensor images(DType::f32, {1, 3, 4, 6});
  EXPECT_EQ(error_message([&] { static_cast<void>(patches_of(images, 4)); }),
            "patches_of: images: expected [B, C, H, W] of whole patches of 4 pixels, got [1, 3, 4, 6]");
  EXPECT_EQ(error_message([&] { static_cast<void>(patches_of(images, 0)); }),
            "patches_of: patch_side: expected more than 0, got 0");
  EXPECT_EQ(error_message([&] { static_cast<void>(patches_of(images.view().select(0, 0), 2)); }),
            "patches_of: images: expected [B, C, H, W] of whole patches of 2 pixels, got [3, 4, 6]");
}

TEST(PatchEncoder, HasAsManyNumbersAsTheArithmeticSays) {
  Generator generator(1);
  EXPECT_EQ(parameter_count(PatchEncoder(small(), generator).parameters()), parameter_count(small()));
  PatchEncoderOptions plain = small();
  plain.relative = false;
  EXPECT_EQ(parameter_count(PatchEncoder(plain, generator).parameters()), parameter_count(plain));
  EXPECT_EQ(parameter_count(small()) - parameter_count(plain), 5 * 5 * 2);
  // By hand: ViT-B/16 on 224 pixels has 85,798,656 with its class token and that token's position, 2 x 768.
  EXPECT_EQ(parameter_count(PatchEncoderOptions{.image_side = 224,
                                                .patch_side = 16,
                                                .layers = 12,
                                                .d_model = 768,
                                                .heads = 12,
                                                .d_ff = std::nullopt,
                                                .relative = false}),
            85798656 - 2 * 768);
}

PatchEncoderOptions of_clip() {
  PatchEncoderOptions options = small();
  options.image_side = 14;
  options.margin = 2;
  options.relative = false;
  options.patch_bias = false;
  options.class_token = true;
  options.input_norm = true;
  options.activation = Activation::quick_gelu;
  options.epsilon = 1e-3;
  return options;
}

TEST(PatchEncoder, PutsAClassTokenBeforeThePatchesAndNormsThem) {
  Generator generator(1);
  const PatchEncoder encoder(of_clip(), generator, DType::f64);
  const Parameters all = encoder.parameters();
  EXPECT_EQ(parameter_count(all), parameter_count(of_clip()));
  EXPECT_EQ(all[0].name, "patch.weight");
  EXPECT_EQ(all[1].name, "class.weight");
  EXPECT_EQ(all[2].name, "positions.weight");
  EXPECT_EQ(all[3].name, "ln_input.weight");
  Trace trace({"patch", "blocks.0.resid_pre"});
  Tensor images = Generator(1).rand({2, 3, 14, 14});
  const Tensor out(encoder.forward(images, {.trace = &trace}).value());
  EXPECT_EQ(out.shape().to_string(), "[2, 10, 16]");
  const auto expected = [&](std::int64_t token) {
    std::vector<double> row(16);
    double mean = 0;
    double square = 0;
    for (std::int64_t d = 0; d < 16; ++d) {
      const double own = token == 0 ? all[1].value.value().at({d}) : trace["patch"].at({1, token - 1, d});
      row[static_cast<std::size_t>(d)] = own + all[2].value.value().at({token, d});
      mean += row[static_cast<std::size_t>(d)] / 16;
    }
    for (const double x : row) square += (x - mean) * (x - mean) / 16;
    for (double& x : row) x = (x - mean) / std::sqrt(square + 1e-3);
    return row;
  };
  for (const std::int64_t token : {0, 1, 9}) {
    EXPECT_THAT(trace["blocks.0.resid_pre"].view().select(0, 1).select(0, token).to_vector(),
                testing::Pointwise(testing::DoubleNear(1e-13), expected(token)));
  }
  images.set({1, 0, 12, 3}, 40);  // in the margin
  EXPECT_EQ(Tensor(encoder.forward(images).value()).to_vector(), out.to_vector());
  images.set({1, 0, 11, 3}, 40);
  EXPECT_NE(Tensor(encoder.forward(images).value()).to_vector(), out.to_vector());
}

TEST(PatchEncoder, SeesEveryPatchFromEveryPlace) {
  Generator generator(1);
  const PatchEncoder encoder(small(), generator);
  Tensor images = some_images();
  const Tensor before(encoder.forward(images).value());
  EXPECT_EQ(before.shape().to_string(), "[2, 9, 16]");
  images.set({0, 1, 11, 11}, 0.5 + images.at({0, 1, 11, 11}));  // of the last patch
  const Tensor after(encoder.forward(images).value());
  for (std::int64_t patch = 0; patch < 9; ++patch) {
    EXPECT_NE(before.view().select(0, 0).select(0, patch).to_vector(),
              after.view().select(0, 0).select(0, patch).to_vector());
  }
  EXPECT_EQ(before.view().select(0, 1).to_vector(), after.view().select(0, 1).to_vector());
}

TEST(PatchEncoder, TellsWhereAPatchStands) {
  Generator generator(1);
  const PatchEncoder encoder(small(), generator);
  const Tensor grey(DType::f32, {1, 3, 12, 12});
  const Tensor out(encoder.forward(grey).value());
  EXPECT_NE(out.view().select(1, 0).to_vector(), out.view().select(1, 1).to_vector());
}

TEST(PatchEncoder, SeesTheStepsBetweenTwoPatches) {
  // A bias for one step down in the first head alone: each patch but those of the last row looks there.
  Generator generator(1);
  const PatchEncoder encoder(small(), generator, DType::f64);
  const Variable table = encoder.parameters()[3].value;
  ASSERT_EQ(encoder.parameters()[3].name, "relative.weight");
  table.mutable_value().set({3 * 5 + 2, 0}, 50.0);
  const std::vector<Tensor> weights = encoder.weights(some_images());
  for (const Tensor& layer : weights) {
    for (std::int64_t i = 0; i < 9; ++i) {
      for (std::int64_t j = 0; j < 9; ++j) {
        EXPECT_LT(layer.at({1, 1, i, j}), 0.9);
        if (i >= 6) continue;
        EXPECT_NEAR(layer.at({1, 0, i, j}), j == i + 3 ? 1 : 0, 1e-12) << i << " " << j;
      }
    }
  }
  // What is computed sees it, too.
  const Tensor with(encoder.forward(some_images(), {.dtype = DType::f64}).value());
  table.mutable_value().set({3 * 5 + 2, 0}, 0.0);
  EXPECT_NE(Tensor(encoder.forward(some_images(), {.dtype = DType::f64}).value()).to_vector(), with.to_vector());
}

TEST(PatchEncoder, GivesAGradientToEachParameter) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Generator generator(1);
    const PatchEncoder encoder(small(), generator);
    const Variable x = encoder.forward(
        some_images(), {.dtype = dtype, .dropout = Dropout{.p = 0.1, .seed = 3}, .memory = BlockMemory::recompute});
    EXPECT_EQ(x.dtype(), dtype);
    backward(sum(x));
    for (const Parameter& parameter : encoder.parameters()) {
      EXPECT_EQ(parameter.value.dtype(), DType::f32);
      EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
    }
  }
}

TEST(PatchEncoder, WeightsAreThoseOfEachHeadAndLayer) {
  Generator generator(1);
  const PatchEncoder encoder(small(), generator, DType::f64);
  const std::vector<Tensor> weights = encoder.weights(some_images());
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[1].shape().to_string(), "[2, 2, 9, 9]");
  double sum = 0;
  for (std::int64_t j = 0; j < 9; ++j) sum += weights[1].at({1, 1, 4, j});
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(PatchEncoder, RefusesWhatHasNoMeaning) {
  const auto message = [](const auto& change) {
    return error_message([&] {
      PatchEncoderOptions options = small();
      change(options);
      Generator generator(1);
      PatchEncoder encoder(options, generator);
    });
  };
  EXPECT_EQ(message([](auto& o) { o.image_side = 0; }), "PatchEncoder: image_side: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.patch_side = 0; }), "PatchEncoder: patch_side: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.patch_side = 5; }),
            "PatchEncoder: patch_side: expected a divisor of `image_side`, 12, got 5");
  EXPECT_EQ(message([](auto& o) { o.margin = 1; }),
            "PatchEncoder: patch_side: expected a divisor of `image_side` without `margin`, 11, got 4");
  EXPECT_EQ(message([](auto& o) { o.margin = 12; }),
            "PatchEncoder: margin: expected 0 or more, less than `image_side`, got 12");
  EXPECT_EQ(message([](auto& o) { o.class_token = true; }),
            "PatchEncoder: relative: expected false with a class token, got true");
  EXPECT_EQ(message([](auto& o) { o.layers = 0; }), "PatchEncoder: layers: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.d_model = 0; }), "PatchEncoder: d_model: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.heads = 0; }), "PatchEncoder: heads: expected more than 0, got 0");
  EXPECT_EQ(
      message([](auto& o) { o.heads = 3; }),
      "PatchEncoder: heads: expected a divisor of `d_model`, 16, since each head has `d_model` / `heads` of it, got 3");
  EXPECT_EQ(message([](auto& o) { o.d_ff = 0; }), "PatchEncoder: d_ff: expected more than 0, got 0");
  Generator generator(1);
  const PatchEncoder encoder(small(), generator);
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder.forward(Tensor(DType::f32, {1, 3, 12, 8}))); }),
            "PatchEncoder: images: expected f32 [B, 3, 12, 12], got f32 [1, 3, 12, 8]");
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder.forward(Tensor(DType::u8, {1, 3, 12, 12}))); }),
            "PatchEncoder: images: expected f32 [B, 3, 12, 12], got u8 [1, 3, 12, 12]");
}

}  // namespace
}  // namespace qkv::patch_encoder_test
