#include "qkv/model/image_encoder.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "model/image_folder.h"
#include "qkv/model/text_model.h"

namespace qkv::image_encoder_test {
namespace {

using testing::HasSubstr;
using tests::ImageFolder;

ImageEncoderOptions small(std::int64_t classes = 3) {
  ImageEncoderOptions options;
  options.patches.image_side = 12;
  options.patches.patch_side = 4;
  options.patches.d_model = 10;
  options.patches.heads = 2;
  options.classes = classes;
  return options;
}

Tensor images(std::int64_t height, std::int64_t width) { return Generator(7).rand({2, 3, height, width}); }

TEST(ImageEncoder, HasAsManyNumbersAsTheArithmeticSays) {
  Generator generator(1);
  for (const std::int64_t classes : {0, 3}) {
    ImageEncoderOptions options = small(classes);
    options.classes_read = ClassesRead::with_mean;
    options.patches.layer_scale = true;
    options.patches.feed_forward = FeedForwardKind::gated;
    options.patches.qkv_bias = false;
    EXPECT_EQ(parameter_count(ImageEncoder(options, generator).parameters()), parameter_count(options));
    EXPECT_EQ(config_of(image_encoder_options(config_of(options))), config_of(options));
  }
}

TEST(ImageEncoder, MakesScoresOfTheClassTokenAndTheMeanOfThePatches) {
  Generator generator(2);
  ImageEncoderOptions options = small();
  options.classes_read = ClassesRead::with_mean;
  const ImageEncoder encoder(options, generator, DType::f64);
  const Tensor read = images(12, 12);
  const Tensor states(encoder.states(read).value());
  const Parameters all = encoder.parameters();
  const Tensor weight(all[all.size() - 2].value.value());
  const Tensor bias(all.back().value.value());
  const Tensor scores(encoder.class_scores(read).value());
  for (std::int64_t c = 0; c < 3; ++c) {
    double wanted = bias.at({c});
    for (std::int64_t n = 0; n < 10; ++n) {
      double mean = 0;
      for (std::int64_t patch = 1; patch <= 9; ++patch) mean += states.at({1, patch, n}) / 9;
      wanted += weight.at({c, n}) * states.at({1, 0, n}) + weight.at({c, 10 + n}) * mean;
    }
    EXPECT_NEAR(scores.at({1, c}), wanted, 1e-12);
  }
}

// As torch's: of numbers on a line its cubic gives the line where it meets the middle between two, else 3/64 beside it.
TEST(ImageEncoder, ResizesThePositionsOfPatches) {
  ImageEncoderOptions options = small(0);
  options.patches.image_side = 32;
  options.patches.layers = 1;
  options.patches.resized_positions = true;
  Generator generator(3);
  const ImageEncoder encoder(options, generator);
  for (const Parameter& parameter : encoder.parameters()) {
    const bool is_place = parameter.name == "positions.weight";
    if (!is_place && parameter.name != "patch.weight" && parameter.name != "patch.bias") continue;
    Tensor values(DType::f32, parameter.value.shape());
    for (std::int64_t row = 1; is_place && row <= 64; ++row) {
      const auto place = static_cast<double>(row - 1);
      values.set({row, 0}, std::floor(place / 8));
      values.set({row, 1}, std::fmod(place, 8));
    }
    parameter.value.replace_value(std::move(values));
  }
  Trace trace({"blocks.0.resid_pre"});
  static_cast<void>(encoder.states(images(65, 16), {.trace = &trace}));  // 16 by 4 patches, and a row that is left
  const Tensor placed = trace["blocks.0.resid_pre"];
  ASSERT_EQ(placed.shape().to_string(), "[2, 65, 10]");
  for (std::int64_t down = 4; down < 12; ++down) {
    const double beside = (down % 2 == 0 ? -3.0 : 3.0) / 64;
    EXPECT_NEAR(placed.at({0, 1 + down * 4 + 1, 0}), (static_cast<double>(down) + 0.5) / 2 - 0.5 + beside, 1e-5);
    EXPECT_NEAR(placed.at({0, 1 + down * 4 + 1, 1}), 2.5, 1e-5);
  }
}

TEST(ImageEncoder, NamesWhatDoesNotFit) {
  Generator generator(1);
  const auto refused = [&](const auto& change) {
    ImageEncoderOptions options = small();
    change(options);
    return error_message([&] { static_cast<void>(ImageEncoder(options, generator)); });
  };
  EXPECT_EQ(refused([](auto& o) { o.classes = -1; }), "ImageEncoder: classes: expected 0 to 16777216, got -1");
  EXPECT_EQ(refused([](auto& o) { o.patches.class_token = false; }),
            "ImageEncoder: class_token: expected true, got false");
  EXPECT_EQ(refused([](auto& o) {
              o.patches.class_token = true;
              o.patches.relative = true;
            }),
            "PatchEncoder: relative: expected false with a class token, got true");
  const ImageEncoder encoder(small(0), generator);
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder.class_scores(images(12, 12))); }),
            "ImageEncoder: classes: expected some that the model tells apart, got 0");
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder.states(images(16, 12))); }),
            "PatchEncoder: images: expected f32 [B, 3, 12, 12], got f32 [2, 3, 16, 12]");
  ImageEncoderOptions resized = small();
  resized.patches.resized_positions = true;
  EXPECT_EQ(error_message([&] { static_cast<void>(ImageEncoder(resized, generator).states(images(3, 12))); }),
            "PatchEncoder: images: expected f32 [B, 3, H, W] with a patch of 4 pixels or more, got f32 [2, 3, 3, 12]");
}

TEST(ImageFolder, OpensWithItsClassesAndKeepsThem) {
  const ImageFolder folder("vit");
  const Model model = Model::open(folder.path());
  EXPECT_EQ(name_of(model.kind()), "image-encoder");
  EXPECT_THAT(model.cautions(), testing::IsEmpty());
  EXPECT_THAT(model.tokenizers().classes, testing::ElementsAre("cat", "dog"));
  const tests::TemporaryDirectory directory;
  model.save(directory / "vit.safetensors");
  const Model again = Model::open(directory / "vit.safetensors");
  EXPECT_EQ(again.tokenizers().classes, model.tokenizers().classes);
  const Tensor read = images(8, 8);
  const ModelInput input{.ids = {}, .images = read};
  EXPECT_EQ(again.result(input).value().to_vector(), model.result(input).value().to_vector());
  EXPECT_EQ(model.states(input).shape().to_string(), "[2, 5, 12]");
  const std::vector<Tensor> weights = model.weights(input, AttentionSite::source);
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[1].shape().to_string(), "[2, 3, 5, 5]");
  EXPECT_EQ(error_message([&] { static_cast<void>(model.forward(input)); }),
            "Model::forward: model: expected one that scores tokens, got a model of kind image-encoder");
}

TEST(ImageFolder, ReadsPicturesAsItsPreparationSays) {
  const ImageFolder folder("dinov2");
  const TextModel model(Model::open(folder.path()), folder.path());
  Tensor picture(DType::u8, {40, 30, 3});
  std::ranges::fill(picture.values<std::uint8_t>(), std::uint8_t{51});
  const Tensor image = model.image_of(picture);
  EXPECT_EQ(image.shape().to_string(), "[3, 8, 8]");
  EXPECT_NEAR(image.at({0, 3, 3}), (0.2 - 0.5) / 0.25, 1e-6);
  EXPECT_NEAR(model.colours_of(image).at({2, 0, 7}), 0.2, 1e-6);
}

TEST(ImageFolder, NamesWhatItDoesNotRead) {
  const auto said = [](const std::string& type, const std::string& more) {
    return error_message<Error>([&] { static_cast<void>(Model::open(ImageFolder(type, more).path())); });
  };
  EXPECT_THAT(said("vit", R"("num_channels": 1)"), HasSubstr("num_channels: expected 3"));
  EXPECT_THAT(said("vit", R"("image_size": [8, 8])"),
              HasSubstr("image_size: expected a whole number from 0 to 2^31, got [8,8]"));
  EXPECT_THAT(said("vit", R"("hidden_act": "mish")"), HasSubstr("hidden_act: expected one of gelu"));
  EXPECT_THAT(said("vit", R"("architectures": ["ViTForMaskedImageModeling"])"),
              HasSubstr("architectures: expected a ViTModel or a ViTForImageClassification"));
  EXPECT_THAT(said("vit", R"("num_labels": 0)"), HasSubstr("num_labels: expected 1 to 16777216, got 0"));
  EXPECT_THAT(said("vit", R"("id2label": {"0": "cat", "dog": 1})"), HasSubstr("id2label: 1: expected a text"));
  EXPECT_THAT(said("dinov2", R"("architectures": ["Dinov2Backbone"])"),
              HasSubstr("architectures: expected a Dinov2Model or a Dinov2ForImageClassification"));
  EXPECT_THAT(said("dinov2", R"("mlp_ratio": 0)"), HasSubstr("mlp_ratio: expected more than 0, at most 1024, got 0"));
  EXPECT_THAT(said("deit", R"("architectures": ["DeiTForMaskedImageModeling"])"),
              HasSubstr("architectures: expected a DeiTModel, a DeiTForImageClassification or one WithTeacher"));
  EXPECT_THAT(said("dinov2_with_registers", R"("num_register_tokens": -1)"),
              HasSubstr("num_register_tokens: expected"));
}

TEST(ImageFolder, HasVectorsBesideTheClassToken) {
  const auto shape = [](const std::string& type, const std::string& more) {
    const ImageFolder folder(type, more);
    const Model model = Model::open(folder.path());
    const Tensor read = images(8, 8);
    const ModelInput input{.ids = {}, .images = read};
    EXPECT_EQ(model.result(input).shape().to_string(), "[2, 2]");
    const tests::TemporaryDirectory directory;
    model.save(directory / "m.safetensors");
    const Model again = Model::open(directory / "m.safetensors");
    EXPECT_EQ(again.result(input).value().to_vector(), model.result(input).value().to_vector());
    return model.states(input).shape().to_string();
  };
  EXPECT_EQ(shape("deit", R"("num_labels": 2)"), "[2, 6, 12]");
  EXPECT_EQ(shape("deit", R"("num_labels": 2, "architectures": ["DeiTForImageClassificationWithTeacher"])"),
            "[2, 6, 12]");
  EXPECT_EQ(shape("dinov2_with_registers", R"("num_labels": 2, "num_register_tokens": 3)"), "[2, 8, 12]");
}

}  // namespace
}  // namespace qkv::image_encoder_test
