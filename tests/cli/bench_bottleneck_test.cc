// qkv bench bottleneck: the models of the box, and two so small that little is asked of how well they learn.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::bench_bottleneck_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;
using Json = nlohmann::json;

TEST(BenchBottleneck, MeasuresTheModelsOfTheBox) {
  const Outcome outcome = run_qkv({"bench", "bottleneck", "--texts", "16", "--to", "3", "--threads", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("one vector"), HasSubstr("47466 parameters"), HasSubstr("100.00 %")));
}

TEST(BenchBottleneck, TrainsAndWritesBoth) {
  const TemporaryDirectory directory;
  const std::string out = directory / "both";
  const std::vector<std::string> words = {"bench",     "bottleneck", "--out",     out, "--steps", "3",
                                          "--batch",   "4",          "--longest", "3", "--to",    "2",
                                          "--threads", "1",          "--texts",   "4", "--json"};
  const Outcome outcome = run_qkv(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["lengths"].size(), 2U);
  const std::vector<std::byte> card = read_file(out + "/card.json");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(card.data()), card.size()), outcome.out);
  EXPECT_FALSE(read_file(out + "/vector.safetensors").empty());
  EXPECT_FALSE(read_file(out + "/attention.safetensors").empty());
}

TEST(BenchBottleneck, RefusesWhatChangesNothing) {
  const Outcome outcome = run_qkv({"bench", "bottleneck", "--steps", "3"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--out"));
}

}  // namespace
}  // namespace qkv::bench_bottleneck_test
