// What errors name: what was given, by its option, and what was typed, as it was typed.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "cli/command.h"
#include "core/sanitizer.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/png.h"
#include "qkv/tensor.h"

namespace qkv::naming_test {
namespace {

using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using tests::run_qkv_from;
using tests::TemporaryDirectory;
using Words = std::vector<std::string>;

struct Said {
  Words words;
  std::string error;
};

void expect_said(const std::vector<Said>& all) {
  for (const auto& [words, error] : all) {
    const Outcome outcome = run_qkv(words);
    EXPECT_NE(outcome.code, 0) << testing::PrintToString(words);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(words[0] + ": " + error)) << testing::PrintToString(words);
  }
}

TEST(Naming, LeavesWhatWasTypedAsItIs) {
  expect_said({
      {{"explain", "a b", "--query", "`heads`"},
       "--query: expected one of the tokens, by word or by index: 0 a, 1 b, got \"`heads`\"\n"},
      {{"explain", "a b", "--query", "a\"`heads`"},
       "--query: expected one of the tokens, by word or by index: 0 a, 1 b, "
       "got \"a\"`heads`\"\n"},
      {{"attend", "--q", "`heads`.npy", "--k", "[[1]]", "--v", "[[1]]"}, "--q: cannot read `heads`.npy: "},
      {{"train", "copy", "--resume", "--out", "`steps`"}, "--resume: expected a checkpoint in \"`steps`\", got none\n"},
  });
  const Outcome target = run_qkv({"attend", "--q", "[[1]]", "--k", "[[1]]", "--v", "[[1]]", "--target", "scale"});
  EXPECT_THAT(target.err, EndsWith(", got \"scale\", which qkv does not know\n"));
}

TEST(Naming, SaysOptionsWhereOneFollowsFromAnother) {
  expect_said({
      {{"train", "copy", "--heads", "3"},
       "--heads: expected a divisor of --d-model, 32, since each head has --d-model / --heads of it, got 3\n"},
      {{"cost", "--layers", "2", "--d-model", "7", "--heads", "2"},
       "--heads: expected a divisor of --d-model, 7, where --d-k is not given, got 2\n"},
      {{"cost", "gpt3", "--kv-heads", "7"}, "--kv-heads: expected a divisor of --heads, 96, got 7\n"},
      {{"explain", "a b", "--kv-heads", "7"}, "--kv-heads: expected a divisor of --heads, 2, got 7\n"},
  });
}

TEST(Naming, NamesWhatWasGiven) {
  expect_said({
      {{"probe", "--random", "0,2,1,16,16,4", "--stats"},
       "--random: expected B >= 1 in [B, Hq, Tq, D], got [0, 2, 16, 4]\n"},
      {{"probe", "--random", "1,2,1,16,16,0", "--stats"},
       "--random: expected D >= 1 in [B, Hq, Tq, D], got [1, 2, 16, 0]\n"},
      {{"probe", "--random", "1,1,1,4,4,4", "--row", "0", "--head", "3"},
       "--head: expected head 0, the only one, got 3\n"},
  });
}

// Each waits 15 seconds for a hub to come back: both at once, in a suite that starts early.
TEST(NamingOfAHub, IsOfTheModelOrOfTheHubThatWasGiven) {
  const Words fetch = {"fetch", "owner/name"};
  std::future<Outcome> other =
      std::async(std::launch::async, [] { return run_qkv({"fetch", "owner/name", "--hub", "http://127.0.0.1:9"}); });
  const Outcome unreachable = run_qkv(fetch, {{"HF_ENDPOINT", "http://127.0.0.1:9"}});
  EXPECT_THAT(unreachable.err, HasSubstr("qkv fetch: NAME: cannot look up owner/name at http://127.0.0.1:9: "));
  EXPECT_THAT(other.get().err, HasSubstr("qkv fetch: --hub: cannot look up owner/name at http://127.0.0.1:9: "));
  // Said while it waits.
  EXPECT_THAT(unreachable.err, HasSubstr("; trying again in 8 s\n"));
}

TEST(Naming, NamesWhatMemoryEndsFor) {
  if (tests::kHasShadowMemory) GTEST_SKIP() << "the sanitizer needs more address space than the test gives";
  constexpr std::uint64_t kMemory = std::uint64_t{1} << 30;
  const std::string error = "there is not enough memory for ";
  const Outcome tile =
      tests::run_qkv_within(kMemory, {"probe", "--random", "1,1,1,20000,20000,4", "--tile", "0:19000,0:19000"});
  EXPECT_EQ(tile.code, 1);
  EXPECT_EQ(tile.err, "qkv probe: --tile: " + error + "these numbers of the matrix\n");
  const Outcome random = tests::run_qkv_within(kMemory, {"probe", "--random", "1,1,1,1000000000,16,64", "--row", "1"});
  EXPECT_EQ(random.code, 1);
  EXPECT_EQ(random.err, "qkv probe: --random: " + error + "so many numbers\n");
}

TEST(Naming, SaysHowAModelOfTheBoxIsGiven) {
  const TemporaryDirectory directory;
  expect_said({
      {{"convert", "gpt", directory / "folder"},
       "OUT: expected a name that ends in .safetensors, since MODEL is a single file of safetensors, got "},
      {{"convert", "gpt", directory / "gpt.gguf"},
       "MODEL: expected a folder with config.json or a GGUF file: from a single file of safetensors alone no GGUF is "
       "written, got "},
      {{"info", "gpt"}, "FILE: expected a path (the box's model of this name is "},
  });
  EXPECT_EQ(run_qkv({"convert", "gpt", directory / "gpt.safetensors", "--type", "f16"}).code, 0);
}

TEST(Naming, SaysWhatDoesNotGoTogether) {
  const Words probe = {"probe", "--random", "1,1,1,4,4,4", "--row", "0"};
  expect_said({
      {{"change", "induction", "abc", "--untouched", "--remove", "1.0"},
       "--untouched: expected it without --remove (nothing is changed), got both\n"},
      {{"cost", "gpt2", "--no-causal", "--causal"}, "--causal: expected one of --causal and --no-causal, got both\n"},
      {{"cost", "gpt2", "--causal", "--no-causal"}, "--causal: expected one of --causal and --no-causal, got both\n"},
      {{"probe", "--random", "1,1,1,4,4,4", "--row", "0", "--quiet"},
       "--quiet: expected --npy, --npz, --png, --svg or --pdf beside it, got none of them\n"},
      {{"tokens", "english", "the cats", "--pair", "a"},
       "--pair: expected none, since this tokenizer reads one text at a time, got a second text\n"},
      {{"explain", "--worked", "nosuch"}, "--worked: expected one of vectors, products, convex, "},
      {{"task", "brackets", "--length", "3"},
       "--length: expected from 8 to 4096 brackets (of an odd number one less) "},
  });
  EXPECT_EQ(run_qkv({"cost", "gpt2", "--causal", "--causal", "--json"}).code, 0);
}

// Of each command with a text that a model reads, or a file of texts.
TEST(Naming, TakesStandardInputForATextAndAFileOfTexts) {
  const TemporaryDirectory directory;
  write_file(directory / "text", std::string_view("abcabc\n"));
  const std::string file = directory / "text";
  const std::vector<Words> all = {
      {"lens", "induction", "-"},
      {"change", "induction", "-", "--remove", "1.0"},
      {"change", "induction", "--file", "-", "--remove", "1.0"},
      {"probe", "--model", "induction", "--row", "1", "--text", "-"},
      {"probe", "--model", "induction", "--row", "1", "--file", "-"},
      {"explain", "--model", "induction", "-"},
      {"generate", "induction", "-"},
      {"tokens", "induction", "-"},
      {"tokens", "induction", "--file", "-", "--json"},
      {"check", "induction", "induction", "--file", "-"},
      {"analyze", "induction", "--file", "-"},
  };
  for (const Words& words : all) {
    Words typed = words;
    const bool is_file = std::ranges::find(words, "--file") != words.end();
    std::ranges::replace(typed, std::string("-"), is_file ? file : "abcabc");
    const Outcome read = run_qkv_from(file, words);
    EXPECT_EQ(read.code, 0) << testing::PrintToString(words) << read.err;
    EXPECT_EQ(read.out, run_qkv(typed).out) << testing::PrintToString(words);
    EXPECT_THAT(run_qkv({words[0], "--help"}).out, ContainsRegex("- is[ \n]+standard[ \n]+input")) << words[0];
  }
}

TEST(Naming, TakesADashForItselfWhereNoTextIsRead) {
  const TemporaryDirectory directory;
  write_file(directory / "text", std::string_view("abcabc\n"));
  EXPECT_THAT(
      run_qkv_from(directory / "text", {"change", "induction", "ab", "--from-text", "-", "--patch", "blocks.1"}).err,
      HasSubstr("qkv change: --from-text: expected a piece of the vocabulary, got \"-\"\n"));
  EXPECT_THAT(run_qkv({"embed", "english", "--line", "-"}).err,
              StartsWith("qkv embed: --line[0]: expected a piece of the vocabulary, got \"-\"\n"));
}

TEST(Naming, RefusesAnEmptyTextWhereverItComesFrom) {
  const TemporaryDirectory directory;
  write_file(directory / "none", std::string_view(""));
  const std::string none = directory / "none";
  const std::string page = directory / "page.html";
  EXPECT_EQ(run_qkv_from(none, {"view", "--text", "-", "--export", page}).err,
            "qkv view: --text: expected a value, got \"\"\n");
  EXPECT_EQ(run_qkv_from(none, {"embed", "english", "--file", "-"}).err,
            "qkv embed: --file: standard input: expected a text on each line, got none\n");
  EXPECT_EQ(run_qkv_from(directory.path(), {"embed", "english", "--file", "-"}).err,
            "qkv embed: --file: cannot read standard input: it is a directory\n");
  expect_said({
      {{"embed", "english", "--line", "the cats", "--line", ""}, "--line: expected a value, got \"\"\n"},
      {{"match", "a.png", ""}, "IMAGE CAPTION: expected a value, got \"\"\n"},
  });
}

TEST(Naming, BlamesWhatWasGiven) {
  const TemporaryDirectory directory;
  const std::string vocabulary = directory / "c.txt";
  const std::string captions = directory / "captions.txt";
  write_file(vocabulary, std::string_view("abc\n"));
  write_file(captions, std::string_view("left a red circle\nhello\n"));
  write_file(directory / "q.npy", std::string_view("\x93NUMPY\x01"));
  const std::string picture = directory / "a.png";
  write_file(picture, encode_png(Tensor(DType::u8, {48, 48, 3})));
  const std::string piece = "\"hello\": expected a piece of the vocabulary, such as \"yellow\", got \"hello\"\n";
  const std::string forms = ": expected a file of safetensors or GGUF, or a folder with config.json, got ";
  expect_said({
      {{"explain", "--model", "induction", "abcabc", "--answer", "100"},
       "--answer: expected at most 26, since there are 32 learned positions, of which the text takes 6, got 100\n"},
      {{"explain", "a b c", "--d-model", "7"},
       "--d-model: expected a multiple of --heads, 2 (or a --d-k of your own), got 7\n"},
      {{"explain", "a b c", "--heads", "3"}, "--heads: expected a divisor of --d-model = 8"},
      {{"cost", "gpt3", "--d-model", "7"},
       "--d-model: expected a multiple of 96, the heads of gpt3, or --d-k beside it, got 7\n"},
      {{"tokens", vocabulary, "hi"},
       "TEXT: expected pieces of the vocabulary, which has no token for what is unknown, got \"hi\"\n"},
      {{"match", picture, "hello"}, "IMAGE CAPTION: " + piece},
      {{"match", picture, "--caption", "hello"}, "--caption: " + piece},
      {{"match", picture, "left a red circle", "--caption", "hello"}, "--caption: " + piece},
      {{"match", picture, "--file", captions}, "--file: " + captions + ", line 2: expected a piece of the vocabulary"},
      {{"explain", "a b", "--why", "all,order"},
       "--why: expected all alone, or one or several of variance, saturation, no-scale, order,"},
      {{"explain", "a b", "--why", "epsilon"}, "--why: expected all alone, or one or several of variance"},
      {{"generate", vocabulary, "hi"}, "MODEL: " + vocabulary + forms + "another file\n"},
      {{"generate", directory / "q.npy", "hi"}, "MODEL: " + directory / "q.npy" + forms + "a .npy file\n"},
      {{"info", vocabulary}, "FILE: " + vocabulary + forms + "another file\n"},
      {{"tokens", picture, "hi"},
       "TOKENIZER: " + picture +
           ": expected a file of a tokenizer (tokenizer.json, vocab.txt, vocab.json, .model, .spm, .gguf), got a PNG "
           "picture\n"},
      {{"generate", "gpt", ""}, "TEXT: expected a value, got \"\"\n"},
  });
  EXPECT_THAT(run_qkv({"explain", "a b", "--why", "epsilon"}).err,
              EndsWith(", transpose, packing, beside --block epsilon, got \"epsilon\"\n"));
}

TEST(Naming, RefusesWhatStandsTwice) {
  expect_said({
      {{"change", "gpt", "a b", "--remove", "0.0", "--remove", "0.0"},
       "--remove: expected each change once, got \"remove 0.0\" twice\n"},
      {{"change", "gpt", "a b", "--change", "remove 0.0", "--remove", "0.0"},
       "--remove: expected each change once, got \"remove 0.0\" twice\n"},
      {{"change", "gpt", "a b", "--change", "remove 0.0; remove 0.0"},
       "--change: expected each change once, got \"remove 0.0\" twice\n"},
      {{"generate", "gpt", "a", "--stop", ".", "--stop", "."}, "--stop: expected each of them once, got \".\" twice\n"},
      {{"embed", "gpt", "a", "--pooling", "mean", "--pooling", "mean"},
       "--pooling: expected each of them once, got \"mean\" twice\n"},
      {{"embed", "gpt", "a", "--pooling", "mean,mean"},
       "--pooling: expected each of them once, got \"mean,mean\" twice\n"},
      {{"lens", "gpt", "a", "--token", " c", "--against", " c"},
       "--against: expected a token other than the answer, with which it is contrasted, got \" c\", which is the "
       "answer\n"},
      {{"change", "gpt", "a", "--remove", "0.0", "--token", " c", "--against", " c"},
       "--against: expected a token other than the answer, with which it is contrasted, got \" c\", which is the "
       "answer\n"},
  });
}

TEST(Naming, LeavesWordsOfTheTextAsTheyAre) {
  expect_said({
      {{"explain", "the `text` sat", "--query", "dog"},
       "--query: expected one of the tokens, by word or by index: 0 the, 1 \"`text`\", 2 sat, got \"dog\"\n"},
      {{"explain", "a \"`text`\" b", "--query", "dog"},
       "--query: expected one of the tokens, by word or by index: 0 a, 1 \"\\\"`text`\\\"\", 2 b, got \"dog\"\n"},
  });
}

TEST(Naming, TakesAListByCommasAndOneByOne) {
  const std::string once =
      run_qkv({"attend", "--q", "[[1,0]]", "--k", "[[1,1]]", "--v", "[[2]]", "--results", "lse,out"}).out;
  EXPECT_THAT(once, HasSubstr("lse"));
  EXPECT_EQ(
      run_qkv({"attend", "--q", "[[1,0]]", "--k", "[[1,1]]", "--v", "[[2]]", "--results", "lse", "--results", "out"})
          .out,
      once);
}

}  // namespace
}  // namespace qkv::naming_test
