// qkv embed and qkv fill.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::embed_command_test {
namespace {

using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;
using Json = nlohmann::json;

TEST(EmbedCommand, WritesAVectorForEachLine) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  const std::string out = directory / "vectors.npy";
  write_file(file, std::string("the cat sees the dog\nthe dog sleeps\n"));
  const Outcome outcome = run_qkv({"embed", "english", "--file", file, "--out", out, "--normalise"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Tensor vectors = read_tensor(out);
  EXPECT_EQ(vectors.shape(), (Shape{2, 64}));
  const Json one = Json::parse(run_qkv({"embed", "english", "the dog sleeps", "--normalise"}).out);
  EXPECT_EQ(one["text"], "the dog sleeps");
  for (std::int64_t d = 0; d < 64; ++d) {
    EXPECT_NEAR(one["vector"][static_cast<std::size_t>(d)].get<double>(), vectors.at({1, d}), 1e-6);
  }
}

TEST(EmbedCommand, NamesWhatHasNoMeaning) {
  EXPECT_EQ(run_qkv({"embed", "sort", "abc"}).err,
            "qkv embed: MODEL: expected an encoder or two towers, got one of kind encoder-decoder\n");
  EXPECT_EQ(run_qkv({"embed", "english"}).err, "qkv embed: TEXT: expected one of TEXT and --file, got none\n");
  EXPECT_THAT(run_qkv({"embed", "english", "the cat", "--out", "/nowhere/x.npy"}).err, HasSubstr("/nowhere"));
}

TEST(FillCommand, RefusesATextWithoutAMask) {
  const Outcome outcome = run_qkv({"fill", "english", "the cat"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "qkv fill: TEXT: expected a text with [MASK] or <mask>, as the model has it, got none\n");
  EXPECT_EQ(run_qkv({"fill", "sort", "abc"}).err,
            "qkv fill: MODEL: expected an encoder that says tokens, got one of kind encoder-decoder\n");
}

}  // namespace
}  // namespace qkv::embed_command_test
