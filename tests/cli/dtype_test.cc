// --dtype of what looks into a model: f32, f64, or quantised weights as they lie.
#include <gmock/gmock.h>

#include "command.h"
#include "files/temporary_directory.h"
#include "model/llama_in_blocks.h"
#include "qkv/files.h"

namespace qkv::dtype_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using tests::Outcome;
using tests::run_qkv;

using Words = std::vector<std::string>;

struct Look {
  std::string name;
  Words before, after;  // the model

  [[nodiscard]] Outcome in(const std::string& model, const std::string& dtype) const {
    Words words = before;
    words.push_back(model);
    words.insert(words.end(), after.begin(), after.end());
    if (!dtype.empty()) words.insert(words.end(), {"--dtype", dtype});
    return run_qkv(words);
  }
};

const std::vector<Look>& looks() {
  static const std::vector<Look> kAll = {
      {"lens", {"lens"}, {"ABCAB", "--json"}},
      {"explain", {"explain", "--model"}, {"ABCAB", "--json"}},
      {"probe", {"probe", "--model"}, {"--text", "ABCAB", "--row", "4", "--json"}},
      {"analyze", {"analyze"}, {"--line", "ABCAB", "--importance", "1", "--json"}},
      {"change", {"change"}, {"ABCAB", "--remove", "0.0", "--json"}},
      {"embed", {"embed"}, {"ABCAB"}},
  };
  return kAll;
}

TEST(Dtype, KeepsQuantisedWeightsAsTheyLieWhereItIsFile) {
  const tests::TemporaryDirectory directory;
  const std::string model = directory / "m.gguf";
  write_file(model, tests::llama_with_letters(core::BlockType::q4_1));
  const std::string words = "weights of Q4_1 as in the file, activations in 8 bits";
  for (const Look& look : looks()) {
    SCOPED_TRACE(look.name);
    const Outcome numbers = look.in(model, "");
    ASSERT_EQ(numbers.code, 0) << numbers.err;
    EXPECT_THAT(numbers.out + numbers.err, Not(HasSubstr(words)));
    EXPECT_EQ(look.in(model, "f32").out, numbers.out);
    const Outcome blocks = look.in(model, "file");
    ASSERT_EQ(blocks.code, 0) << blocks.err;
    EXPECT_THAT(blocks.out + blocks.err, HasSubstr(words));
    EXPECT_NE(blocks.out, numbers.out);
  }
}

TEST(Dtype, ComputesInF64WhereThatIsAsked) {
  const tests::TemporaryDirectory directory;
  const std::string model = directory / "m.gguf";
  write_file(model, tests::llama_with_letters(core::BlockType::q4_1));
  for (const Look& look : looks()) {
    if (look.name == "embed") continue;  // whose vectors are f32
    SCOPED_TRACE(look.name);
    const Outcome outcome = look.in(model, "f64");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out, look.in(model, "f32").out);
  }
}

TEST(Dtype, OfATypeThatIsNoneIsRefused) {
  EXPECT_EQ(run_qkv({"lens", "induction", "abc", "--dtype", "q4"}).err,
            "qkv lens: --dtype: expected f32, f64 or file, got \"q4\"\n");
  EXPECT_EQ(run_qkv({"explain", "The cat", "--dtype", "f64"}).err,
            "qkv explain: --dtype: expected --model beside it, got none\n");
}

}  // namespace
}  // namespace qkv::dtype_test
