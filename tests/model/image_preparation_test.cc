#include "qkv/model/image_preparation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/error.h"

namespace qkv::image_preparation_test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// What make_image_preparation.py draws.
Tensor picture(std::int64_t height, std::int64_t width) {
  Tensor image(DType::u8, {height, width, 3});
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < 3; ++c) {
        image.set({y, x, c}, static_cast<double>((7 * y * y + 13 * x * x + 5 * x * y + 89 * c) % 256));
      }
    }
  }
  return image;
}

Tensor picture(const Json& sides) { return picture(sides[0].get<std::int64_t>(), sides[1].get<std::int64_t>()); }

Json fixture() {
  std::ifstream file(std::string(QKV_SOURCE_DIR) + "/tests/model/fixtures/image_preparation.json");
  return Json::parse(file);
}

TEST(ResizeImage, GivesTheBytesOfPillow) {
  const Json cases = fixture().at("resized");
  EXPECT_EQ(cases.size(), 12U);
  for (const Json& one : cases) {
    const ImageSize to{.height = one.at("to")[0].get<std::int64_t>(), .width = one.at("to")[1].get<std::int64_t>()};
    const auto filter = one.at("filter") == "bicubic" ? ResizeFilter::bicubic : ResizeFilter::bilinear;
    EXPECT_EQ(resize_image(picture(one.at("from")), to, filter).to_vector(),
              one.at("values").get<std::vector<double>>())
        << one.dump();
  }
}

TEST(ResizeImage, NamesWhatDoesNotFit) {
  EXPECT_EQ(error_message([] { static_cast<void>(resize_image(Tensor(DType::f32, {2, 2, 3}), {2, 2})); }),
            "resize_image: picture: expected u8 [H, W, C] with a pixel, got f32 [2, 2, 3]");
  EXPECT_EQ(error_message([] { static_cast<void>(resize_image(picture(2, 2), {0, 2})); }),
            "resize_image: size: expected 1 or more, got 0 by 2");
  EXPECT_EQ(
      error_message([] { static_cast<void>(resize_image(picture(2, 2), {1 << 15, 1 << 15})); }),
      "resize_image: size: expected 268435456 pixels or fewer, also when one side is resized, got 32768 by 32768");
}

// The config in a file of this name.
ImagePreparation read_from(const std::string& file, const std::string& config) {
  const tests::TemporaryDirectory directory;
  std::ofstream(directory / file) << config;
  return read_image_preparation(directory / "");
}

TEST(PrepareImage, GivesThePixelsOfTransformers) {
  const Json cases = fixture().at("prepared");
  for (const Json& one : cases) {
    const ImagePreparation preparation = read_from("preprocessor_config.json", one.at("config").dump());
    const Tensor image = picture(one.at("from"));
    const Tensor prepared = prepare_image(image, preparation);
    EXPECT_EQ(prepared.shape().to_string(), Shape(one.at("shape").get<std::vector<std::int64_t>>()).to_string());
    // Computed in f32 there: three roundings of numbers below 256.
    const double bound = one.at("name") == "plain" ? 0 : 4 * 3 * 0x1p-24;
    EXPECT_THAT(prepared.to_vector(),
                testing::Pointwise(testing::DoubleNear(bound), one.at("values").get<std::vector<double>>()));
    const std::string whole = Json{{"image_processor", one.at("config")}}.dump();
    EXPECT_EQ(prepare_image(image, read_from("processor_config.json", whole)).to_vector(), prepared.to_vector());
  }
}

TEST(PrepareImage, ReadsTheFirstConfigsOfClip) {
  const ImagePreparation preparation = read_from("preprocessor_config.json", R"({"crop_size": 6, "do_center_crop": true,
    "do_normalize": true, "do_resize": true, "feature_extractor_type": "CLIPFeatureExtractor", "resample": 3, "size": 7,
    "image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]})");
  EXPECT_EQ(preparation.shortest_edge, 7);
  EXPECT_EQ(preparation.crop->width, 6);
  EXPECT_EQ(preparation.factor, 1.0 / 255);
  EXPECT_EQ(preparation.deviation[2], 0.28);
}

TEST(PrepareImage, TakesWhatAKindDoesWhereTheFileDoesNotSay) {
  const auto of = [](const std::string& words) {
    return read_from("preprocessor_config.json", R"({"size": 7, "do_normalize": false, )" + words + "}");
  };
  for (const char* const type : {"ViTImageProcessor", "ViTFeatureExtractor", "ViTImageProcessorFast"}) {
    const ImagePreparation vit = of(R"("feature_extractor_type": ")" + std::string(type) + "\"");
    EXPECT_EQ(vit.filter, ResizeFilter::bilinear);
    EXPECT_EQ(vit.size->height, 7);
    EXPECT_FALSE(vit.crop.has_value());
  }
  const ImagePreparation bit = of(R"("image_processor_type": "BitImageProcessor", "crop_size": 5)");
  EXPECT_EQ(bit.filter, ResizeFilter::bicubic);
  EXPECT_EQ(bit.shortest_edge, 7);
  EXPECT_EQ(bit.crop->height, 5);
}

TEST(PrepareImage, NamesWhatItCannotRead) {
  const auto message = [](const std::string& config) {
    try {
      static_cast<void>(read_from("preprocessor_config.json", config));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message(R"({"resample": 1})"), HasSubstr("resample: expected 2, bilinear, or 3, bicubic, got 1"));
  EXPECT_THAT(message(R"({"image_processor_type": "ConvNextImageProcessor"})"),
              HasSubstr("image_processor_type: expected one of BitImageProcessor, CLIPImageProcessor, "
                        "SiglipImageProcessor, ViTImageProcessor, got \"ConvNextImageProcessor\""));
  EXPECT_THAT(message(R"({"image_processor_type": "BitImageProcessor", "size": 4})"), HasSubstr("crop_size: expected"));
  EXPECT_THAT(message(R"({"do_flip_channel_order": true})"), HasSubstr("do_flip_channel_order: expected false"));
  EXPECT_THAT(message(R"({"do_grayscale": true})"), HasSubstr("do_grayscale: expected false"));
  EXPECT_THAT(message(R"({"do_pad": true})"), HasSubstr("do_pad: expected false, which is all that qkv computes"));
  EXPECT_THAT(message(R"({"size": {"shortest_edge": 4, "longest_edge": 9}})"), HasSubstr("size: longest_edge"));
  EXPECT_THAT(message(R"({"size": {"height": 4}})"), HasSubstr("size: width: expected a whole number"));
  EXPECT_THAT(message(R"({"size": 0})"), HasSubstr("size: expected 1 to 16384 pixels, got 0"));
  EXPECT_THAT(message(R"({"size": 100000})"), HasSubstr("size: expected 1 to 16384 pixels, got 100000"));
  EXPECT_THAT(message(R"({"size": 4, "image_mean": [0, 0]})"),
              HasSubstr("image_mean: expected a number for red, green and blue each, got [0,0]"));
  EXPECT_THAT(message(R"({"size": 4, "image_mean": [0, 0, 0], "image_std": [1, 0, 1]})"),
              HasSubstr("image_std: expected numbers above 0, got [1,0,1]"));
  EXPECT_THAT(message("["), HasSubstr("preprocessor_config.json: expected JSON, got other text"));
  EXPECT_EQ(error_message([] { static_cast<void>(prepare_image(Tensor(DType::u8, {2, 2, 4}), {})); }),
            "prepare_image: picture: expected u8 [H, W, 3] with a pixel, got u8 [2, 2, 4]");
  EXPECT_EQ(error_message([] { static_cast<void>(prepare_image(picture(3, 3), {.crop = ImageSize{4, 2}})); }),
            "prepare_image: picture: expected 4 by 2 pixels or more to crop, got u8 [3, 3, 3]");
}

}  // namespace
}  // namespace qkv::image_preparation_test
