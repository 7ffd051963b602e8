#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::tokens_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;

class TokensCommand : public testing::Test {
 protected:
  void SetUp() override { write_file(folder_ + "/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\n##s\n"); }

  tests::TemporaryDirectory directory_;
  std::string folder_ = directory_.path();
};

TEST_F(TokensCommand, ShowsPiecesNumbersAndBytes) {
  const Outcome outcome = run_qkv({"tokens", folder_, "The cats"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out,
            "    n       id  piece  bytes         text\n"
            "    0        2  [CLS]                (added)\n"
            "    1        4  the    0 to 3        \"The\"\n"
            "    2        5  cat    4 to 7        \"cat\"\n"
            "    3        6  ##s    7 to 8        \"s\"\n"
            "    4        3  [SEP]                (added)\n"
            "5 tokens\n");
  EXPECT_THAT(run_qkv({"tokens", folder_, "the", "--no-specials"}).out, HasSubstr("\n1 token\n"));
  EXPECT_THAT(run_qkv({"tokens", folder_, "the", "--pair", "cat"}).out, HasSubstr("pair: \"cat\""));
}

TEST_F(TokensCommand, PrintsJsonForEachLineOfAFile) {
  write_file(folder_ + "/lines", "the\n\ncat");
  const std::string out = run_qkv({"tokens", folder_, "--file", folder_ + "/lines", "--json", "--no-specials"}).out;
  std::istringstream lines(out);
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["ids"], nlohmann::json({4}));
  EXPECT_TRUE(all[1]["ids"].empty());
  EXPECT_EQ(all[2]["offsets"], nlohmann::json::parse("[[0, 3]]"));
}

TEST_F(TokensCommand, LeavesTheEndsOfLinesOut) {
  write_file(folder_ + "/lines", "the\r\n");
  const auto ids = [](const Outcome& outcome) { return nlohmann::json::parse(outcome.out)["ids"]; };
  EXPECT_EQ(ids(run_qkv({"tokens", folder_, "--file", folder_ + "/lines", "--json"})), nlohmann::json({2, 4, 3}));
  EXPECT_EQ(ids(tests::run_qkv_from(folder_ + "/lines", {"tokens", folder_, "-", "--json"})),
            nlohmann::json({2, 4, 3}));
}

// `generate` prints such rows, too.
TEST_F(TokensCommand, DecodesRowsOfTheModelThatHaveNoPiece) {
  write_file(folder_ + "/config.json", R"({"vocab_size": 10})");
  EXPECT_EQ(run_qkv({"tokens", folder_, "--ids", "4 9 5"}).out, "the<id:9> cat\n");
  EXPECT_THAT(run_qkv({"tokens", folder_, "--ids", "10"}).err, HasSubstr("expected from 0 to 9, got 10"));
}

TEST_F(TokensCommand, DecodesListsAndSearches) {
  EXPECT_EQ(run_qkv({"tokens", folder_, "--ids", "2, 4 5 6"}).out, "[CLS] the cats\n");
  EXPECT_EQ(run_qkv({"tokens", folder_, "--ids", "2 4 5", "--no-specials"}).out, "the cat\n");
  EXPECT_THAT(run_qkv({"tokens", folder_, "--list"}).out, HasSubstr("7 of 7 pieces\n"));
  EXPECT_EQ(run_qkv({"tokens", folder_, "--search", "at"}).out, "      5  cat\n1 of 7 pieces\n");
  EXPECT_THAT(run_qkv({"tokens", "english", "--search", "king"}).out, HasSubstr("  king\n"));
}

TEST_F(TokensCommand, RefusesWhatItCannotDo) {
  EXPECT_EQ(run_qkv({"tokens", folder_, ""}).err, "qkv tokens: TEXT: expected a value, got \"\"\n");
  const auto refusal = [](const std::vector<std::string>& words, int code) {
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, code);
    return outcome.err;
  };
  EXPECT_EQ(
      refusal({"tokens", folder_}, 2),
      "qkv tokens: TOKENIZER: expected TEXT, --file, --ids, --list, --search, --user or --messages beside it, got "
      "none of them\n");
  EXPECT_EQ(refusal({"tokens", folder_, "the", "--ids", "4"}, 2),
            "qkv tokens: --ids: expected it without TEXT (one thing is looked at), got both\n");
  EXPECT_EQ(refusal({"tokens", folder_, "--ids", "x"}, 2),
            "qkv tokens: --ids: expected whole numbers with spaces between them, got \"x\"\n");
  EXPECT_EQ(refusal({"tokens", folder_, "--ids", "99"}, 2), "qkv tokens: --ids: expected from 0 to 6, got 99\n");
  EXPECT_THAT(refusal({"tokens", folder_ + "/none.json", "x"}, 1), HasSubstr("none.json"));
  EXPECT_EQ(refusal({"tokens", folder_, "--list", "--pair", "x"}, 2),
            "qkv tokens: --pair: expected TEXT beside it, got none\n");
}

TEST_F(TokensCommand, ReadsWhatTrainTokenizerLearns) {
  const std::string out = folder_ + "/tokenizer.json";
  write_file(folder_ + "/book", "the cat and the hat and the bat");
  const Outcome outcome = run_qkv({"train", "tokenizer", folder_ + "/book", "--size", "260", "--out", out});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("260 pieces, written to "), HasSubstr(" bytes a token\n")));
  EXPECT_THAT(run_qkv({"tokens", folder_, "the"}).out, HasSubstr("1 token\n"));
  EXPECT_THAT(run_qkv({"train", "tokenizer", folder_ + "/book", "--steps", "3"}).err,
              HasSubstr("--steps: expected it without TASK tokenizer (no model is trained), got both"));
  EXPECT_THAT(run_qkv({"train", "tokenizer"}).err, HasSubstr("DATA: expected a file for tokenizer, got none"));
  EXPECT_THAT(run_qkv({"train", "copy", "--size", "900"}).err,
              HasSubstr("--size: expected TASK tokenizer beside it, got copy"));
}

}  // namespace
}  // namespace qkv::tokens_test
