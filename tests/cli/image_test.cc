// A folder of ViT in the command: what it says of a picture, and what is refused.
#include <gmock/gmock.h>

#include <filesystem>

#include "command.h"
#include "files/temporary_directory.h"
#include "model/image_folder.h"
#include "qkv/files.h"
#include "qkv/png.h"
#include "qkv/random.h"

namespace qkv::image_command_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::run_qkv;

class ImageCommand : public testing::Test {
 protected:
  ImageCommand() { write_file(picture_, encode_png(Generator(3).randint(0, 256, {30, 20, 3}).to(DType::u8))); }

  tests::ImageFolder folder_ = tests::ImageFolder("vit");
  tests::TemporaryDirectory directory_;
  std::string picture_ = directory_ / "noise.png";
};

TEST_F(ImageCommand, ExplainsAPicture) {
  const auto shown = run_qkv({"explain", "--model", folder_.path(), picture_});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("model kind image-encoder"), HasSubstr("The likeliest classes"),
                               HasSubstr("Where the class token looks: layer 1, each head")));
  const std::string maps = directory_ / "maps";
  EXPECT_EQ(run_qkv({"explain", "--model", folder_.path(), picture_, "--head", "0.2", "--png", maps}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(maps + "/05-class-token.png"));
  const auto info = run_qkv({"info", folder_.path()});
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("layers.#.attention.q_proj.weight"));
  const auto probed =
      run_qkv({"probe", "--model", folder_.path(), "--picture", picture_, "--layer", "1", "--row", "0"});
  EXPECT_EQ(probed.code, 0) << probed.err;
  EXPECT_THAT(probed.out, HasSubstr("[1, 3, 5, 4]"));
}

TEST_F(ImageCommand, RefusesWhatReadsTexts) {
  EXPECT_EQ(run_qkv({"match", picture_, "a cat", "--model", folder_.path()}).err,
            "qkv match: --model: expected a two-tower model, got one of kind image-encoder\n");
  EXPECT_EQ(run_qkv({"generate", folder_.path(), "a"}).err,
            "qkv generate: MODEL: expected one that writes, got one of kind image-encoder\n");
  EXPECT_EQ(run_qkv({"embed", folder_.path(), "a"}).err,
            "qkv embed: MODEL: expected an encoder, a decoder or two towers, got one of kind image-encoder\n");
  EXPECT_EQ(run_qkv({"analyze", folder_.path()}).err,
            "qkv analyze: MODEL: expected a model that reads texts, or has examples of its own, or pictures beside "
            "it, got one of kind image-encoder without\n");
}

}  // namespace
}  // namespace qkv::image_command_test
