#include "qkv/picture/image.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "picture/veiled.h"

namespace qkv::image_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Red, green; blue, white.
Tensor four_pixels() {
  return Tensor(std::vector<float>{1, 0, 0, 1,   // red
                                   0, 1, 0, 1,   // green
                                   0, 0, 1, 1},  // blue
                {3, 2, 2});
}

Image four_patches() {
  return {.title = "four",
          .pixels = four_pixels(),
          .weights = Tensor(std::vector<double>{0.5, 0, 0.25, 0.25}, {2, 2}),
          .marked = {}};
}

TEST(Images, KeepTheirColours) {
  const picture::Pixels pixels = picture::pixels_of(four_pixels(), 2);
  EXPECT_EQ(pixels.at(0, 0), (Rgb{.red = 255, .green = 0, .blue = 0}));
  EXPECT_EQ(pixels.at(0, 1), (Rgb{.red = 0, .green = 255, .blue = 0}));
  EXPECT_EQ(pixels.at(1, 1), (Rgb{.red = 255, .green = 255, .blue = 255}));
  EXPECT_EQ(picture::pixels_of(four_pixels(), 1).at(0, 0), (Rgb{.red = 128, .green = 128, .blue = 128}));
}

TEST(Images, SinkUnderAVeilWhereTheWeightIsSmall) {
  const picture::Pixels veiled = picture::veiled(picture::pixels_of(four_pixels(), 2), four_patches().weights);
  EXPECT_EQ(veiled.at(0, 0), (Rgb{.red = 255, .green = 0, .blue = 0}));  // the largest weight: as it is
  // Green at weight 0: 0.15 of it, and 0.85 of the veil (21, 23, 29).
  EXPECT_EQ(veiled.at(0, 1), (Rgb{.red = 18, .green = 58, .blue = 25}));
  // Blue at half the largest weight: 0.575 of it, and 0.425 of the veil.
  EXPECT_EQ(veiled.at(1, 0), (Rgb{.red = 9, .green = 10, .blue = 159}));
}

TEST(Images, ShowTheirColoursInATerminal) {
  Image image = four_patches();
  image.weights = {};
  const std::string text = to_terminal(Gallery{"", {image}}, {.colour = TerminalColour::truecolour, .width = 40});
  EXPECT_THAT(text, HasSubstr("38;2;255;0;0"));
  EXPECT_THAT(text, HasSubstr("48;2;0;0;255"));
  EXPECT_EQ(to_terminal(Gallery{"", {image}}, {.width = 40}), "four\nr g\nb w\nb blue, g green, r red, w white\n");
}

TEST(Images, PutMarkedPatchesBesideTheImage) {
  Image image = four_patches();
  image.marked = Tensor(DType::b8, {2, 2});
  image.marked.values<bool>()[0] = true;
  EXPECT_EQ(to_terminal(Gallery{"words", {image}}, {.width = 40}),
            "words\nfour\n[9] 0\n 5  5\n0 to 9: a patch's weight, 9 the largest\nin its image\n");
  const std::string text = to_terminal(Gallery{"", {image}}, {.colour = TerminalColour::truecolour, .width = 40});
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);  // a title, and one line that holds both
}

TEST(Images, BecomeFiles) {
  const Gallery gallery{"words", {four_patches(), four_patches()}};
  EXPECT_THAT(to_png(gallery), StartsWith("\x89PNG"));
  EXPECT_THAT(to_svg(gallery), testing::AllOf(HasSubstr("role=\"img\""), HasSubstr("<title>words</title>"),
                                              HasSubstr("2 images in their own colours")));
  EXPECT_EQ(to_svg(gallery), to_svg(gallery));
}

TEST(Images, AreRefusedWithTheNameOfWhatDoesNotFit) {
  const auto refused = [](const Image& image) {
    return error_message([&] { static_cast<void>(to_svg(Gallery{"", {image}})); });
  };
  EXPECT_EQ(error_message([] { static_cast<void>(to_svg(Gallery{})); }),
            "to_svg: images: expected one or more, got none");
  Image image = four_patches();
  image.pixels = Tensor(DType::f32, {2, 2});
  EXPECT_EQ(refused(image), "to_svg: pixels: expected [3, H, W], got [2, 2]");
  image = four_patches();
  image.weights = Tensor(std::vector<double>{1, -1}, {1, 2});
  EXPECT_EQ(refused(image), "to_svg: weights: expected numbers >= 0, got -1");
  image.weights = Tensor(std::vector<double>{1, 1}, {2});
  EXPECT_EQ(refused(image), "to_svg: weights: expected [rows, columns], got [2]");
  image = four_patches();
  image.marked = Tensor(DType::b8, {2});
  EXPECT_EQ(refused(image), "to_svg: marked: expected [rows, columns], got [2]");
}

}  // namespace
}  // namespace qkv::image_test
