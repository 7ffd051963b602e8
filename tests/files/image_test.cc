#include "qkv/image.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error_message.h"
#include "qkv/random.h"

namespace qkv::image_test {
namespace {

using testing::ElementsAre;

Tensor noise(std::uint64_t seed, std::int64_t height, std::int64_t width) {
  return Generator(seed).randint(0, 256, {height, width, 3}).to(DType::u8);
}

Tensor plain(std::int64_t height, std::int64_t width, std::uint8_t level) {
  Tensor picture(DType::u8, {height, width, 3});
  std::ranges::fill(picture.values<std::uint8_t>(), level);
  return picture;
}

TEST(ImageOf, TakesTheMeanOfTheAreaOfAPixel) {
  // 3 pixels to 2: each is one and a half wide.
  Tensor picture(DType::u8, {1, 3, 3});
  picture.set({0, 0, 0}, 30);
  picture.set({0, 1, 0}, 60);
  picture.set({0, 2, 0}, 90);
  const Tensor image = image_of(picture, 2);
  ASSERT_EQ(image.shape().to_string(), "[3, 2, 2]");
  EXPECT_NEAR(image.at({0, 0, 0}) * 255, (30 + 0.5 * 60) / 1.5, 1e-4);
  EXPECT_NEAR(image.at({0, 1, 1}) * 255, (0.5 * 60 + 90) / 1.5, 1e-4);
  EXPECT_EQ(image.at({1, 0, 0}), 0);
}

TEST(ImageOf, KeepsTheMeanOfWhatItMakesSmaller) {
  const Tensor picture = noise(1, 31, 47);
  const Tensor image = image_of(picture, 13);
  const std::vector<double> before = picture.to_vector();
  const std::vector<double> after = image.to_vector();
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0;
    for (std::size_t i = c; i < before.size(); i += 3) mean += before[i] / (31 * 47);
    double mean_after = 0;
    for (std::size_t i = 0; i < std::size_t{13} * 13; ++i) mean_after += 255 * after[c * 13 * 13 + i] / (13 * 13);
    EXPECT_NEAR(mean_after, mean, 1e-3);
  }
}

TEST(ImageOf, DrawsLinesBetweenTheMiddlesOfPixels) {
  // 2 pixels to 4: the middles of the four lie at -1/4, 1/4, 3/4 and 5/4 of them.
  Tensor picture(DType::u8, {2, 2, 3});
  picture.set({0, 1, 2}, 100);
  picture.set({1, 1, 2}, 100);
  const Tensor image = image_of(picture, 4);
  std::vector<int> row;
  for (std::int64_t x = 0; x < 4; ++x) row.push_back(static_cast<int>(std::lround(255 * image.at({2, 3, x}))));
  EXPECT_THAT(row, ElementsAre(0, 25, 75, 100));
}

TEST(ImageOf, LeavesWhatHasTheSide) {
  const Tensor picture = noise(2, 8, 8);
  const Tensor image = image_of(picture, 8);
  for (std::int64_t c = 0; c < 3; ++c) {
    for (std::int64_t i = 0; i < 64; ++i) {
      EXPECT_EQ(std::lround(255 * image.at({c, i / 8, i % 8})), std::lround(picture.at({i / 8, i % 8, c})));
    }
  }
}

TEST(ImageOf, RefusesWhatIsNoPicture) {
  EXPECT_EQ(error_message([] { static_cast<void>(image_of(plain(2, 2, 0), 0)); }),
            "image_of: side: expected 1 or more, got 0");
  EXPECT_EQ(error_message([] { static_cast<void>(image_of(Tensor(DType::f32, {2, 2, 3}), 4)); }),
            "image_of: picture: expected u8 [H, W, 3] with pixels, got f32 [2, 2, 3]");
}

}  // namespace
}  // namespace qkv::image_test
