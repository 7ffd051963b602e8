// qkv match.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.h"
#include "files/temporary_directory.h"
#include "model/tower_folder.h"
#include "qkv/files.h"
#include "qkv/png.h"
#include "qkv/random.h"
#include "qkv/train/trained_model.h"

namespace qkv::match_command_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

// A red square and a blue one, as the task shapes draws them.
Tensor squares() {
  Tensor picture(DType::u8, {48, 48, 3});
  for (std::uint8_t& level : picture.values<std::uint8_t>()) level = 255;
  const auto draw = [&](std::int64_t left, std::int64_t channel) {
    for (std::int64_t y = 3; y < 14; ++y) {
      for (std::int64_t x = left; x < left + 11; ++x) {
        for (std::int64_t c = 0; c < 3; ++c) picture.set({y, x, c}, c == channel ? 255 : 0);
      }
    }
  };
  draw(3, 0);
  draw(35, 2);
  return picture;
}

class MatchCommand : public testing::Test {
 protected:
  MatchCommand() {
    write_file(picture_, encode_png(squares()));
    write_file(noise_, encode_png(Generator(3).randint(0, 256, {30, 20, 3}).to(DType::u8)));
  }

  TemporaryDirectory directory_;
  std::string picture_ = directory_ / "squares.png";
  std::string noise_ = directory_ / "noise.png";
  std::string near_ = "top left a red square left of a blue square";
  std::string far_ = "bottom right a green circle right of a yellow cross";
};

// The first example of docs/models.md is of this picture, and of captions that the towers tell apart.
TEST_F(MatchCommand, AnswersTheFirstExampleOfItsPage) {
  std::ifstream page(std::filesystem::path(trained_model_path("towers")).parent_path() / "../docs/models.md");
  std::string line;
  while (std::getline(page, line) && !line.starts_with("qkv match scene.png ")) continue;
  Words parts;
  std::istringstream quoted(line);
  for (std::string part; std::getline(quoted, part, '"');) parts.push_back(part);
  ASSERT_GE(parts.size(), 4U) << line;
  const Json json = Json::parse(run_qkv({"match", picture_, parts[1], parts[3], "--json"}).out);
  EXPECT_GT(json["probabilities"][0][0].get<double>(), 0.99) << line;
}

TEST_F(MatchCommand, FindsTheCaptionByTheTowersOfTheBox) {
  const Outcome outcome = run_qkv({"match", picture_, noise_, far_, near_, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["model"], "towers");
  EXPECT_EQ(json["loss"], "softmax");
  EXPECT_EQ(json["images"], (Words{picture_, noise_}));
  EXPECT_EQ(json["captions"], (Words{far_, near_}));
  EXPECT_EQ(json["best_caption"][0], 1);
  EXPECT_EQ(json["best_image"][1], 0);
  EXPECT_NEAR(json["probabilities"][0][0].get<double>() + json["probabilities"][0][1].get<double>(), 1, 1e-12);
  EXPECT_GT(json["cosines"][0][1].get<double>(), json["cosines"][0][0].get<double>());
  EXPECT_FALSE(json.contains("explanation"));
}

TEST_F(MatchCommand, PrintsATableAndMapsWhereAsked) {
  const Outcome table = run_qkv({"match", picture_, near_, far_});
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("cosine"), HasSubstr("probability"), HasSubstr("best"), HasSubstr(near_),
                               Not(HasSubstr("covered"))));
  const Outcome maps = run_qkv({"match", picture_, near_, "--maps"});
  EXPECT_THAT(maps.out, AllOf(HasSubstr("attention"), HasSubstr("covered"), HasSubstr("largest loss by a cover")));
}

TEST_F(MatchCommand, WritesPicturesAndVectors) {
  const std::string out = directory_ / "vectors.npy";
  const Outcome outcome =
      run_qkv({"match", picture_, near_, far_, "--png", directory_ / "png", "--svg", directory_ / "svg", "--out", out});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("vectors   "));
  EXPECT_EQ(read_tensor(out).shape(), (Shape{3, 64}));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "png/02-maps-1.png"));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "svg/02-maps-1-tokens-2.svg"));
}

TEST_F(MatchCommand, WritesThePage) {
  const Outcome outcome = run_qkv({"match", picture_, near_, "--html", "-"});
  if (outcome.err.find("has no studio") != std::string::npos) GTEST_SKIP() << outcome.err;
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"#/explain?captions="), HasSubstr("id=\"frozen\"")));
}

TEST_F(MatchCommand, ReadsCaptionsOfAFileAndOfOptions) {
  const std::string captions = directory_ / "captions";
  write_file(captions, near_ + "\n\n" + far_ + "\n");
  const Json json =
      Json::parse(run_qkv({"match", picture_, "--file", captions, "--caption", "a red square", "--json"}).out);
  EXPECT_EQ(json["captions"], (Words{"a red square", near_, far_}));
}

TEST_F(MatchCommand, ReadsFoldersOfClipAndSiglip) {
  for (const char* type : {"clip", "siglip"}) {
    const tests::TowerFolder folder(type);
    const Outcome outcome =
        run_qkv({"match", noise_, picture_, "a red circle", "blue", "--model", folder.path(), "--json", "--maps"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["loss"], std::string(type) == "clip" ? "softmax" : "sigmoid");
    EXPECT_EQ(json["explanation"]["parts"].size(), 5U);
    EXPECT_EQ(json["explanation"]["parts"][1]["pictures"][0]["weights"]["shape"], (Json{2, 2}));
  }
}

TEST_F(MatchCommand, EmbedsTextsAsTheTowersLearntThem) {
  const Json one = Json::parse(run_qkv({"embed", "towers", near_}).out);
  ASSERT_EQ(run_qkv({"match", picture_, near_, "--out", directory_ / "v.npy"}).code, 0);
  const Tensor vectors = read_tensor(directory_ / "v.npy");
  for (std::int64_t d = 0; d < 64; ++d) {
    EXPECT_NEAR(one["vector"][static_cast<std::size_t>(d)].get<double>(), vectors.at({1, d}), 1e-6);
  }
}

TEST_F(MatchCommand, NamesAFileThatIsNoPicture) {
  const std::string notes = directory_ / "notes.txt";
  write_file(notes, "no picture");
  const std::string cut = directory_ / "cut.png";
  const std::vector<std::byte> whole = read_file(picture_);
  write_file(cut, std::span(whole).first(whole.size() / 2));
  const std::string photo = directory_ / "photo.jpg";
  write_file(photo, "\xFF\xD8\xFF\xE0 JFIF");
  for (const std::string& file : {notes, cut, photo}) {
    const Outcome outcome = run_qkv({"match", file, near_});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, testing::StartsWith("qkv match: IMAGE CAPTION: " + file + ": "));
  }
  EXPECT_THAT(run_qkv({"match", photo, near_}).err, HasSubstr("expected a PNG file"));
  const Outcome missing = run_qkv({"match", directory_ / "none.png", near_});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.png"));
}

TEST_F(MatchCommand, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(run_qkv({"match", near_}).err, "qkv match: IMAGE CAPTION: expected a PNG file or more, got none\n");
  EXPECT_EQ(run_qkv({"match", picture_}).err,
            "qkv match: IMAGE CAPTION: expected a caption or more, here, as --caption or in --file, got none\n");
  EXPECT_EQ(run_qkv({"match", picture_, near_, "--model", "shapes"}).err,
            "qkv match: --model: expected a two-tower model, got one of kind captioner\n");
  EXPECT_EQ(run_qkv({"match", picture_, "a pink cat"}).err,
            "qkv match: IMAGE CAPTION: \"a pink cat\": expected a piece of the vocabulary, got \"pink\"\n");
  EXPECT_EQ(run_qkv({"match", picture_, near_, "--json", "--html", "-"}).err,
            "qkv match: --json: expected it without --html - (standard output holds one of them), got both\n");
  const tests::TowerFolder clip("clip");
  const std::string words = "a a a a a a a a a a";
  EXPECT_THAT(run_qkv({"match", picture_, words, "--model", clip.path()}).err,
              HasSubstr("qkv match: IMAGE CAPTION: \"" + words + "\": expected "));
  clip.put("preprocessor_config.json", "{");
  EXPECT_THAT(run_qkv({"match", picture_, "a circle", "--model", clip.path()}).err,
              HasSubstr("preprocessor_config.json: expected JSON, got other text"));
}

}  // namespace
}  // namespace qkv::match_command_test
