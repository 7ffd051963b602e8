// Where each pre-tokeniser of tokenizer.ggml.pre cuts, by hand.
#include "text/gguf_pre_tokenizer.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/gguf_bytes.h"
#include "text/pipeline.h"

namespace qkv::gguf_pre_tokenizer_test {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using Parts = std::vector<std::string>;

text::GgufPreTokenizer named(const std::string& name) {
  tests::GgufBytes bytes;
  bytes.text("tokenizer.ggml.pre", name);
  const Gguf file(bytes.bytes(), "m.gguf");
  std::vector<std::string> cautions;
  return text::gguf_pre_tokenizer_in(files::GgufKeys(file), cautions);
}

Parts cut(const std::string& name, const std::string& text) {
  return tests::parts_of(*tests::cutting({{"pre_tokenizer", named(name).json}}), text);
}

Parts joined(std::initializer_list<Parts> all) {
  Parts parts;
  for (const Parts& some : all) parts.insert(parts.end(), some.begin(), some.end());
  return parts;
}

const Parts kFive = {"1", "2", "3", "4", "5"};
const Parts kThrees = {"123", "45"};
const Parts kLast = {" ", " yes", "!"};

// Contractions, digits, ends of lines and blanks.
TEST(GgufPreTokenizers, CutWordsNumbersAndLines) {
  const std::string text = "It's 12345 o'clock,\r\n\n  yes!";
  const Parts clock = {" o", "'clock", ",\r\n\n"};
  const Parts llama3 = joined({{"It", "'s", " "}, kThrees, clock, kLast});
  const Parts qwen2 = joined({{"It", "'s", " "}, kFive, clock, kLast});
  const Parts cut_clock = {" o", "'", "clock", ","};
  const Parts falcon = joined({{"It", "'", "s", " "}, kThrees, cut_clock, {"\r\n\n ", " yes", "!"}});
  const std::vector<std::pair<std::vector<std::string>, Parts>> all = {
      {{"gpt-2", "exaone4", "trillion"}, joined({{"It", "'s", " 12345"}, cut_clock, {"\r\n\n ", " yes", "!"}})},
      {{"smollm", "exaone", "minerva-7b", "command-r"},
       joined({{"It", "'s", " "}, kFive, cut_clock, {"\r\n\n ", " yes", "!"}})},
      {{"llama-bpe", "falcon3", "smaug-bpe", "glm4", "jais-2", "minicpm5"}, llama3},
      {{"qwen2", "qwen35", "tekken", "grok-2", "bailingmoe", "ufakzeka"}, qwen2},
      {{"gpt-4o", "minimax-m2"}, joined({{"It's", " "}, kThrees, clock, kLast})},
      {{"youtu"}, joined({{"It's", " "}, kFive, clock, kLast})},
      {{"falcon", "default"}, falcon},
      {{"deepseek-v3"}, llama3},
      {{"deepseek-llm"}, joined({{"It", "'", "s", " ", "12345"}, cut_clock, {"\r", "\n", "\n"}, kLast})},
      {{"deepseek-coder"}, joined({{"It", "'", "s", " "}, kFive, cut_clock, {"\r", "\n", "\n"}, kLast})},
      {{"spark2_5"}, joined({{"It", "'s", " "}, kFive, {" o", "'clock", ",", "\r", "\n", "\n"}, kLast})},
      {{"seed-coder"}, joined({{"It", "'s", " "}, kFive, {" o", "'clock", ",", "\r\n\n"}, kLast})},
      {{"exaone-moe"}, joined({{"It", "'s", " "}, kFive, {" o", "'clock", ",\r", "\n\n"}, kLast})},
      {{"laguna"}, joined({{"It", "'s", " "}, kFive, {" o", "'clock", ",\r", "\n\n"}, kLast})},
      {{"chameleon"}, joined({{"It", "'", "s", " "}, kFive, cut_clock, {"\r", "\n", "\n", "  ", "yes", "!"}})},
      {{"tiny_aya"}, joined({{"It's", " ", "12", "345"}, clock, kLast})},
      {{"superbpe"}, {"It's ", "12", "345", " o'clock,\r\n\n  yes!"}},
  };
  for (const auto& [names, parts] : all) {
    for (const std::string& name : names) EXPECT_THAT(cut(name, text), ElementsAreArray(parts)) << name;
  }
}

TEST(GgufPreTokenizers, CutWhatIsNotWrittenInLatin) {
  const std::string text = "中文123、汉字 é";
  const Parts by_script = {"中文", "123", "、", "汉字", " é"};
  const Parts by_script_and_digit = {"中文", "1", "2", "3", "、", "汉字", " é"};
  const std::vector<std::pair<std::vector<std::string>, Parts>> all = {
      {{"llama-bpe", "gpt-4o", "minicpm5"}, {"中文", "123", "、汉字", " é"}},
      {{"qwen2", "tekken", "seed-coder"}, {"中文", "1", "2", "3", "、汉字", " é"}},
      {{"deepseek-v3", "deepseek-llm"}, by_script},
      {{"deepseek-coder", "youtu", "viking"}, by_script_and_digit},
      {{"bloom", "poro-chat"}, {"中文123", "、", "汉字", " é"}},
  };
  for (const auto& [names, parts] : all) {
    for (const std::string& name : names) EXPECT_THAT(cut(name, text), ElementsAreArray(parts)) << name;
  }
  // A mark behind its letter.
  EXPECT_THAT(cut("qwen2",
                  "ne\xCC\x81"
                  "e x"),
              testing::ElementsAre("ne",
                                   "\xCC\x81"
                                   "e",
                                   " x"));
  EXPECT_THAT(cut("qwen35",
                  "ne\xCC\x81"
                  "e x"),
              testing::ElementsAre("ne\xCC\x81"
                                   "e",
                                   " x"));
}

// Each that an error lists, too: its patterns compile.
TEST(GgufPreTokenizers, AreAllThatAreListed) {
  const auto fault_of = [](const std::string& name) {
    return error_message<Error>([&] { static_cast<void>(named(name)); });
  };
  const std::string fault = fault_of("of-nobody");
  const std::string begin = "m.gguf: tokenizer.ggml.pre: expected one of the pre-tokenisers ";
  ASSERT_THAT(fault, testing::StartsWith(begin + "gpt-2, "));
  std::string list = fault.substr(begin.size(), fault.rfind(", got ") - begin.size()) + ", ";
  int count = 0;
  for (std::size_t end = list.find(", "); end != std::string::npos; end = list.find(", ")) {
    const std::string name = list.substr(0, end);
    EXPECT_THAT(cut(name, "a"), testing::ElementsAre("a")) << name;
    list.erase(0, end + 2);
    ++count;
  }
  EXPECT_GE(count, 80);
  for (const char* name : {"kimi-k2", "gemma4", "whitespace"}) {
    EXPECT_THAT(fault_of(name), HasSubstr(std::string("; qkv does not cut as this one does, got \"") + name + "\""));
  }
}

TEST(GgufPreTokenizers, SayWhatGoesWithThem) {
  EXPECT_TRUE(named("tekken").ignores_merges);
  EXPECT_TRUE(named("glm4").ignores_merges);
  EXPECT_FALSE(named("dbrx").ignores_merges);
  EXPECT_TRUE(named("llama-bpe").begins);
  EXPECT_TRUE(named("chameleon").begins);
  EXPECT_FALSE(named("glm4").begins);
  EXPECT_EQ(named("qwen2").normalizer, nlohmann::json::parse(R"({"type": "NFC"})"));
  EXPECT_TRUE(named("grok-2").normalizer.is_null());
}

}  // namespace
}  // namespace qkv::gguf_pre_tokenizer_test
