#include "qkv/mask.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/temporary_directory.h"

namespace qkv::mask_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;

TEST(MaskCommand, PrintsCoverageCostAndEachPair) {
  const Outcome outcome = run_qkv({"mask", "causal&window(2)", "--tq", "4", "--tk", "4", "--tile", "2"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, StartsWith("mask      causal & window(2)\n"
                                      "shape     B 1, H 1, Tq 4, Tk 4\n"
                                      "coverage  43.75 %  (7 of 16 pairs kept)\n"
                                      "tiles     1 skip, 0 full, 3 partial  (of 4, 2 queries x 2 keys each)\n"
                                      "cost      75.00 %  (3 tiles computed)\n"
                                      "\n"
                                      "causal & window(2)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("3   .    .   1 @  1 @\n@ visible  . hidden\n"));
}

TEST(MaskCommand, PrintsTheSameAsJson) {
  const Outcome outcome =
      run_qkv({"mask", "causal", "--tq", "128", "--tk", "256", "--heads", "2", "--tile", "64x32", "--json"});
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["mask"], "causal");
  EXPECT_EQ(json["heads"], 2);
  EXPECT_EQ(json["tile_keys"], 32);
  EXPECT_EQ(json["pairs_kept"], 2 * (128 * 128 + 128 * 129 / 2));
  EXPECT_EQ(json["tiles"], 2 * 2 * 8);
  EXPECT_EQ(json["skip"], 2 * 2);
  EXPECT_EQ(json["full"], 2 * (4 + 6));
}

TEST(MaskCommand, DrawsEachBatchEntryThatDiffers) {
  const Outcome outcome = run_qkv({"mask", "keys(1, 2)", "--batch", "2", "--tq", "2", "--tk", "2"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("batch entry 0"), HasSubstr("batch entry 1")));
}

TEST(MaskCommand, ListsEveryWordWithItsFigures) {
  const Outcome table = run_qkv({"mask"});
  EXPECT_EQ(table.code, 0);
  for (const Word& word : mask_words()) EXPECT_THAT(table.out, HasSubstr("\n  " + std::string(word.word) + " "));
  const auto json = nlohmann::json::parse(run_qkv({"mask", "--tq", "100", "--tk", "90", "--json"}).out);
  EXPECT_EQ(json["words"].size(), mask_words().size());
  EXPECT_EQ(json["words"][0]["word"], "all");
  EXPECT_EQ(json["tk"], 90);
  EXPECT_EQ(json["words"][0]["coverage"], 1.0);
  EXPECT_EQ(json["words"][0]["pairs_kept"], 9000);
}

TEST(MaskCommand, WritesItsDrawing) {
  const TemporaryDirectory folder;
  const std::string svg = folder / "mask.svg";
  const std::string png = folder / "mask.png";
  const Outcome outcome = run_qkv({"mask", "causal", "--tq", "8", "--tk", "8", "--svg", svg, "--png", png});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, EndsWith("\n\npicture   " + png + "\npicture   " + svg + "\n"));
  EXPECT_GT(std::filesystem::file_size(svg), 100U);
  EXPECT_GT(std::filesystem::file_size(png), 100U);
}

TEST(MaskCommand, RefusesTheEndingOfAnotherFormat) {
  const TemporaryDirectory folder;
  const Outcome outcome = run_qkv({"mask", "causal", "--png", folder / "m.SVG"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "qkv mask: --png: expected a name that ends in .png, got \"" + (folder / "m.SVG") + "\"\n");
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(MaskCommand, WritesBothDrawingsOrNone) {
  const TemporaryDirectory folder;
  const Outcome outcome = run_qkv({"mask", "all", "--svg", folder / "mask.svg", "--png", folder / "absent/mask.png"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("absent/mask.png"));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(MaskCommand, SaysWhatItCannotRead) {
  const Outcome typo = run_qkv({"mask", "causal & windw(512)"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.out, IsEmpty());
  EXPECT_THAT(typo.err, EndsWith("got `windw`; did you mean `window`?\n"
                                 "  causal & windw(512)\n"
                                 "           ^\n"));
  const Outcome empty = run_qkv({"mask", ""});
  EXPECT_EQ(empty.code, 2);
  EXPECT_THAT(empty.err, HasSubstr("EXPR: expected a value, got \"\""));
  const Outcome misfit = run_qkv({"mask", "documents(3)", "--tq", "4", "--tk", "4"});
  EXPECT_EQ(misfit.code, 2);
  EXPECT_THAT(misfit.err, HasSubstr("qkv mask: EXPR: documents: expected a sum of 4, the number of keys, got 3"));
  const Outcome tile = run_qkv({"mask", "causal", "--tile", "0x4"});
  EXPECT_EQ(tile.code, 2);
  EXPECT_THAT(tile.err, StartsWith("qkv mask: --tile: expected N or QxK, each 1 or more, got 0x4"));
  EXPECT_EQ(run_qkv({"mask", "--svg", "nothing.svg"}).code, 2);
}

TEST(MaskCommand, SaysWhenTilesAreTooMany) {
  const Outcome outcome = run_qkv({"mask", "causal", "--tq", "3000000000", "--tk", "3000000000"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("qkv mask: --tile: expected larger tiles: a plan keeps "),
                                 HasSubstr("at most 1073741824"), HasSubstr("46875000 x 46875000 tiles")));
}

TEST(MaskCommand, WantsPairs) {
  for (const char* extent : {"--tq", "--tk", "--batch", "--heads"}) {
    const Outcome outcome = run_qkv({"mask", "causal", extent, "0"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err,
              std::string("qkv mask: ") + extent + ": expected a whole number from 1 to 1099511627776, got 0\n");
  }
}

}  // namespace
}  // namespace qkv::mask_test
