#include "qkv/png.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/error_message.h"
#include "qkv/files.h"
#include "qkv/npz.h"
#include "qkv/random.h"

namespace qkv::png_test {
namespace {

using testing::ElementsAre;

const std::string kPictures = QKV_SOURCE_DIR "/tests/fuzz/corpus/png/";

Tensor picture(const std::string& name) { return decode_png(read_file(kPictures + name + ".png"), name + ".png"); }

std::vector<int> values(const Tensor& tensor) {
  const auto bytes = tensor.values<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

std::string refusal(const std::string& name) {
  return error_message<Error>([&] { static_cast<void>(picture(name)); });
}

TEST(Png, ReadsEachKindAsColours) {
  EXPECT_EQ(picture("rgb").shape().to_string(), "[2, 2, 3]");
  EXPECT_EQ(picture("rgb").dtype(), DType::u8);
  EXPECT_THAT(values(picture("rgb")), ElementsAre(255, 0, 0, 0, 255, 0, 0, 0, 255, 128, 128, 128));
  EXPECT_EQ(values(picture("rgb16")), values(picture("rgb")));
  EXPECT_THAT(values(picture("grey")), ElementsAre(0, 0, 0, 128, 128, 128, 255, 255, 255));
  EXPECT_THAT(values(picture("grey1")), ElementsAre(0, 0, 0, 255, 255, 255, 0, 0, 0));
}

TEST(Png, LaysWhatIsTransparentOnWhite) {
  EXPECT_THAT(values(picture("rgba")), ElementsAre(255, 0, 0, 255, 255, 255, 0, 0, 255, 128, 128, 128));
  EXPECT_THAT(values(picture("grey_alpha")), ElementsAre(10, 10, 10, 255, 255, 255));
  EXPECT_THAT(values(picture("palette")), ElementsAre(255, 0, 0, 0, 255, 0, 255, 255, 255));
}

TEST(Png, MixesStoredNumbersWithWhite) {
  EXPECT_THAT(values(picture("black_alpha")), ElementsAre(191, 191, 191, 127, 127, 127, 63, 63, 63));
  EXPECT_THAT(values(picture("grey_partial")), ElementsAre(127, 127, 127, 205, 205, 205));
  EXPECT_THAT(values(picture("palette_partial")), ElementsAre(255, 127, 127, 191, 255, 191, 0, 0, 255));
}

// Of 16 bits the upper 8 count, those of alpha too, and a grey of fewer bits may be transparent.
TEST(Png, ReadsSixteenBitsAndTransparentGreys) {
  EXPECT_THAT(values(picture("rgba16")), ElementsAre(127, 128, 191, 255, 255, 255));
  EXPECT_THAT(values(picture("grey16")), ElementsAre(0, 0, 0, 1, 1, 1, 255, 255, 255));
  EXPECT_THAT(values(picture("grey2_transparent")), ElementsAre(0, 0, 0, 255, 255, 255, 170, 170, 170, 255, 255, 255));
  EXPECT_THAT(values(picture("rgb_transparent")), ElementsAre(1, 2, 3, 255, 255, 255));
}

// tests/files/fixtures/make_pillow.py: every kind of PNG with random pixels, as Pillow and convert_to_rgb() of
// transformers see it; gamma, colour spaces and interlacing among them.
TEST(Png, GivesThePixelsOfPillow) {
  const std::string archive = QKV_SOURCE_DIR "/tests/files/fixtures/pillow.npz";
  int kinds = 0;
  for (const std::string& name : npz_names(archive)) {
    if (!name.ends_with(".png")) continue;
    const Tensor file = read_npz(archive, name);
    const Tensor wanted = read_npz(archive, name.substr(0, name.size() - 4));
    const Tensor got = decode_png(std::as_bytes(file.values<std::uint8_t>()), name);
    EXPECT_EQ(got.shape(), wanted.shape()) << name;
    EXPECT_EQ(values(got), values(wanted)) << name;
    ++kinds;
  }
  EXPECT_GE(kinds, 60);
}

TEST(Png, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(error_message<Error>([] { static_cast<void>(decode_png({}, "empty.png")); }),
            "empty.png: expected a PNG file: it is empty");
  const std::string text = "a text of some length";
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(decode_png(std::as_bytes(std::span(text)), "text.png")); }),
            "text.png: expected a PNG file: Not a PNG file");
  EXPECT_EQ(refusal("truncated"), "truncated.png: damaged or truncated PNG: read beyond end of data");
  EXPECT_EQ(refusal("wrong_sum"), "wrong_sum.png: damaged or truncated PNG: IDAT: incorrect data check");
  EXPECT_EQ(refusal("no_palette"), "no_palette.png: expected a PNG file: IDAT: Missing PLTE before IDAT");
  EXPECT_EQ(refusal("too_few_rows"), "too_few_rows.png: damaged or truncated PNG: Not enough image data");
  EXPECT_EQ(refusal("too_large"), "too_large.png: expected at most 67108864 pixels, got 65536 x 65536");
}

TEST(Png, ComesBackAsItWasWritten) {
  const Tensor pixels = Generator(1).randint(0, 256, {5, 7, 3}).to(DType::u8);
  const Tensor turned(pixels.view().transpose(0, 1));
  EXPECT_EQ(values(decode_png(encode_png(pixels))), values(pixels));
  EXPECT_EQ(values(decode_png(encode_png(pixels.view().transpose(0, 1)))), values(turned));
}

TEST(Png, WritesColoursOfEightBitsOnly) {
  EXPECT_EQ(error_message([] { static_cast<void>(encode_png(Tensor(DType::f32, {2, 2, 3}))); }),
            "encode_png: picture: expected u8 [H, W, 3] with pixels, got f32 [2, 2, 3]");
  EXPECT_EQ(error_message([] { static_cast<void>(encode_png(Tensor(DType::u8, {3, 2, 2}))); }),
            "encode_png: picture: expected u8 [H, W, 3] with pixels, got u8 [3, 2, 2]");
  EXPECT_EQ(error_message([] { static_cast<void>(encode_png(Tensor(DType::u8, {0, 2, 3}))); }),
            "encode_png: picture: expected u8 [H, W, 3] with pixels, got u8 [0, 2, 3]");
}

}  // namespace
}  // namespace qkv::png_test
