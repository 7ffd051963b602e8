// What qkv attend refuses, with which words and exit code; nothing is half-written then.
#include <filesystem>

#include "cli/attend_fixture.h"
#include "core/sanitizer.h"

namespace qkv::attend_refusal_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::Outcome;

class AttendRefusal : public tests::Attend {
 protected:
  AttendRefusal() { write_inputs({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}); }

  // What it says of bytes in place of q.npy.
  [[nodiscard]] std::string refusal_of_q(std::string_view bytes) const {
    write_file(path("q.npy"), bytes);
    return refusal(1);
  }
};

TEST_F(AttendRefusal, TwoResultsInOneFile) {
  const std::string again = path("") + "./o.npy";
  EXPECT_THAT(refusal(2, {"--lse", again}),
              HasSubstr("--lse: expected a file other than that of --out, which is written"));
  std::filesystem::create_symlink(path("o.npy"), path("link.npy"));
  EXPECT_THAT(refusal(2, {"--lse", path("link.npy")}), HasSubstr("which is written, too"));
  EXPECT_THAT(refusal(2, {"--lse", path("") + "./q.npy"}), HasSubstr("a file other than that of --q, which is read"));
}

TEST_F(AttendRefusal, RaggedShapes) {
  write_inputs({1, 2, 3, 4}, {2, 2, 3, 4}, {2, 2, 3, 4});
  EXPECT_THAT(refusal(2), HasSubstr("qkv attend: --k: expected B = 1 as in q [1, 2, 3, 4], got [2, 2, 3, 4]"));
  write_inputs({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 5, 4});
  EXPECT_THAT(refusal(2), AllOf(HasSubstr("qkv attend: --v: expected "), HasSubstr("got [1, 2, 5, 4]")));
}

TEST_F(AttendRefusal, DifferentD) {
  write_inputs({1, 2, 3, 4}, {1, 2, 3, 6}, {1, 2, 3, 4});
  EXPECT_THAT(refusal(2), HasSubstr("k: expected D = 4 as in q [1, 2, 3, 4], got [1, 2, 3, 6]"));
}

TEST_F(AttendRefusal, HeadsThatDoNotDivide) {
  write_inputs({1, 3, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_THAT(refusal(2), HasSubstr("k: expected Hk that divides Hq = 3, got Hk = 2"));
  write_inputs({1, 3, 10}, {1, 3, 10}, {1, 3, 10});
  EXPECT_THAT(refusal(2, {"--heads", "3"}), HasSubstr("--heads: expected a divisor of 10, the last axis of q, got 3"));
  EXPECT_THAT(refusal(2, {"--heads", "0"}),
              HasSubstr("--heads: expected a whole number from 1 to 1099511627776, got 0"));
  EXPECT_THAT(refusal(2, {"--heads", "5", "--kv-heads", "4"}), HasSubstr("--kv-heads: expected a divisor of 10"));
  write_inputs({2, 4}, {2, 4}, {2, 1});
  EXPECT_THAT(refusal(2, {"--heads", "2"}), HasSubstr("--heads: expected a divisor of 1, the last axis of v, got 2"));
}

TEST_F(AttendRefusal, HeadsThatAreNotThoseOfTheFile) {
  EXPECT_THAT(refusal(2, {"--heads", "4"}), HasSubstr("--heads: expected 2, which is axis 1 of q, got 4"));
}

TEST_F(AttendRefusal, RanksThatDoNotAgree) {
  file("k.npy", wave({3, 4}, 1));
  EXPECT_THAT(refusal(2), HasSubstr("--k: expected rank 4 as of q, got [3, 4]"));
  file("q.npy", wave({4}, 1));
  EXPECT_THAT(refusal(2), HasSubstr("--q: expected [T, D], [B, T, H * D] or [B, H, T, D], got [4]"));
}

TEST_F(AttendRefusal, ElementTypesThatDoNotAgree) {
  file("k.npy", wave({1, 2, 3, 4}, 1, DType::f64));
  EXPECT_THAT(refusal(2), HasSubstr("k: expected f32 as q, got f64"));
  file("q.npy", wave({1, 2, 3, 4}, 1, DType::i32));
  EXPECT_THAT(refusal(2), HasSubstr("q: expected f64, f32, f16 or bf16, got i32"));
}

TEST_F(AttendRefusal, NumbersWithoutMeaning) {
  EXPECT_THAT(refusal(2, {"--scale", "nan"}), HasSubstr("qkv attend: --scale: expected a finite number, got nan"));
  EXPECT_THAT(refusal(2, {"--scale=-inf"}), HasSubstr("scale: expected a finite number, got -inf"));
  EXPECT_THAT(refusal(2, {"--softcap", "0"}), HasSubstr("--softcap: expected a number above 0, up to 1e38, got 0"));
  EXPECT_THAT(refusal(2, {"--dropout", "1"}), HasSubstr("--dropout: expected a number from 0, below 1, got 1"));
  EXPECT_THAT(refusal(2, {"--scale", "many"}), HasSubstr("--scale"));
  EXPECT_THAT(refusal(2, {"--seed", "7"}), HasSubstr("--seed: expected --dropout beside it, got none"));
  EXPECT_THAT(refusal(2, {"--dropout", "0", "--seed", "7"}),
              HasSubstr("--seed: expected --dropout above 0 beside it, got a dropout of 0"));
  EXPECT_THAT(refusal(2, {"--stage", "raw"}), HasSubstr("--stage: expected scores among the --results, got out"));
  for (const std::string& seed : {std::string("99999999999999999999"), std::string("-3")}) {
    EXPECT_THAT(refusal(2, {"--dropout", ".5", "--seed", seed}),
                HasSubstr("--seed: expected a whole number from 0 to 18446744073709551615, got " + seed));
  }
  EXPECT_THAT(refusal(2, {"--lse", ""}), HasSubstr("--lse: expected a value, got \"\""));
}

TEST_F(AttendRefusal, MasksThatCannotBeRead) {
  const std::string text = refusal(2, {"--mask", "causal & windw(3)"});
  EXPECT_THAT(text, AllOf(HasSubstr("column 10: expected a mask"), HasSubstr("\n  causal & windw(3)\n           ^\n")));
  EXPECT_THAT(refusal(2, {"--bias", "alibbi"}), HasSubstr("alibbi\n"));
  EXPECT_THAT(refusal(2, {"--window", "x"}),
              HasSubstr("--window: expected WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each, got "));
  EXPECT_THAT(refusal(2, {"--window", "0"}),
              HasSubstr("qkv attend: --window: expected WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each, got 0"));
  EXPECT_THAT(refusal(2, {"--window", "1,2,3"}),
              HasSubstr("--window: expected WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each, got 1,2,3"));
}

TEST_F(AttendRefusal, MasksThatDoNotFit) {
  EXPECT_THAT(refusal(2, {"--kv-lengths", "9"}),
              HasSubstr("qkv attend: --kv-lengths: expected at most 3, the number of keys"));
  EXPECT_THAT(refusal(2, {"--kv-lengths", "1,,2"}), HasSubstr("--kv-lengths: expected whole numbers"));
  EXPECT_THAT(refusal(2, {"--kv-lengths", "3,-1"}), HasSubstr("or a file, got \"-1\""));
  EXPECT_THAT(refusal(2, {"--kv-lengths", file("floats.npy", wave({1}, 0))}),
              HasSubstr("--kv-lengths: expected [B] of i64, i32, i8 or u8, got [1] of f32"));
  EXPECT_THAT(refusal(2, {"--mask-file", file("ragged.npy", Tensor(DType::b8, {2, 3}))}),
              HasSubstr("--mask-file: expected a shape that broadcasts to [1, 2, 3, 3], got [2, 3]"));
  EXPECT_THAT(refusal(2, {"--bias-file", file("thin.npy", wave({2, 3}, 0))}),
              HasSubstr("--bias-file: expected a shape that broadcasts to [1, 2, 3, 3], got [2, 3]"));
}

// Of a word of the mask or bias language, that word is named behind the option.
TEST_F(AttendRefusal, WordsThatDoNotFit) {
  EXPECT_THAT(refusal(2, {"--mask", "keys(9)"}), HasSubstr("qkv attend: --mask: keys: expected at most 3"));
  EXPECT_THAT(refusal(2, {"--mask", "blocks(2, [[1]])"}),
              HasSubstr("qkv attend: --mask: blocks: expected [2, 2] blocks"));
  EXPECT_THAT(refusal(2, {"--mask", "documents(1, 1)"}), HasSubstr("qkv attend: --mask: documents: expected a sum"));
  EXPECT_THAT(refusal(2, {"--bias", "t5(table=[[1], [2], [3], [4]], max_distance=8)"}),
              HasSubstr("qkv attend: --bias: t5: expected one column for each of 2 heads"));
  EXPECT_THAT(refusal(2, {"--bias", "dense([[1, 2]])"}), HasSubstr("qkv attend: --bias: dense: expected a shape"));
}

TEST_F(AttendRefusal, OptionsGivenTwice) {
  EXPECT_THAT(refusal(2, {"--lse", path("a.npy"), "--lse", path("b.npy")}),
              HasSubstr("qkv attend: --lse: expected it once, got it twice"));
}

TEST_F(AttendRefusal, AWordOfAListTwiceByWhateverWay) {
  const std::string twice = "qkv attend: --results: expected each word once, got \"out\" twice\n";
  EXPECT_EQ(refusal(2, {"--results", "out,lse,out"}), twice);
  EXPECT_EQ(refusal(2, {"--results", "out", "--results", "out"}), twice);
  EXPECT_EQ(refusal(2, {"--results", "lse,out", "--results=out"}), twice);
}

TEST_F(AttendRefusal, ASeedOfWhichNothingIsDrawn) {
  EXPECT_EQ(
      refusal(2, {"--seed", "7", "--dropout", "0"}),
      "qkv attend: --seed: expected --dropout above 0 beside it, got a dropout of 0, for which nothing is drawn\n");
}

TEST_F(AttendRefusal, SizesThatCannotBeRead) {
  const std::string expected =
      "--memory-limit: expected a number of bytes from 0 to 1024PiB, such as 4096, 512MiB or 4GiB, got ";
  for (const std::string size : {"3xb", "many", "1e400GiB"}) {
    EXPECT_THAT(refusal(2, {"--memory-limit", size}), HasSubstr(expected + "\"" + size + "\""));
  }
  EXPECT_THAT(refusal(2, {"--memory-limit", "-1"}), HasSubstr(expected + "-1\n"));
}

TEST_F(AttendRefusal, OnePathForTwoThings) {
  EXPECT_THAT(refusal(2, {"--lse", path("o.npy"), "--weights", path("o.npy")}),
              HasSubstr("which is written, too, got \"" + path("o.npy") + "\"\n"));
}

TEST_F(AttendRefusal, WindowsWithoutASide) {
  EXPECT_THAT(refusal(2, {"--window", ","}),
              HasSubstr("--window: expected WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each, got ,"));
  EXPECT_THAT(refusal(2, {"--window", "2,x"}),
              HasSubstr("--window: expected WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each, got "));
  EXPECT_THAT(refusal(2, {"--window", "0"}),
              HasSubstr("qkv attend: --window: expected WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each, got 0"));
}

TEST_F(AttendRefusal, FilesOfTheWrongKind) {
  EXPECT_THAT(refusal(2, {"--mask-file", file("floats.npy", wave({3, 3}, 0))}),
              HasSubstr("--mask-file: expected b8 or u8, nonzero where a query sees a key (numbers to add go into "
                        "--bias-file), got f32"));
  EXPECT_THAT(refusal(2, {"--bias-file", file("flags.npy", Tensor(DType::b8, {3, 3}))}),
              HasSubstr("--bias-file: expected numbers to add"));
}

TEST_F(AttendRefusal, NothingToWriteAndNothingToSay) {
  const Outcome outcome = attend({"--quiet"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "qkv attend: --quiet: expected --out, --lse, --weights, --scores, --present-k, --present-v or --gradients "
            "beside it, got none of them\n");
}

TEST_F(AttendRefusal, ALimitOfWhatIsNotStored) {
  EXPECT_EQ(refusal(2, {"--memory-limit", "1GiB"}),
            "qkv attend: --memory-limit: expected weights or scores among the --results, got out\n");
}

TEST_F(AttendRefusal, APastWithoutItsOtherHalf) {
  EXPECT_THAT(refusal(2, {"--past-k", path("k.npy")}), HasSubstr("--past-k: expected --past-v beside it, got none"));
  EXPECT_THAT(refusal(2, {"--past-k", file("pk.npy", wave({1, 2, 3, 5}, 0)), "--past-v", path("v.npy")}),
              HasSubstr("qkv attend: --k: expected the B, Hk and D of past [1, 2, 3, 5], got [1, 2, 3, 4]"));
}

TEST_F(AttendRefusal, StagesThatAreNone) {
  EXPECT_THAT(refusal(2, {"--stage", "cooked", "--scores", path("s.npy")}),
              HasSubstr("--stage: expected raw, scaled, softcapped, biased, masked, weights or dropped, got "
                        "\"cooked\""));
}

TEST_F(AttendRefusal, InputsThatAreNotGiven) {
  const Outcome outcome = tests::run_qkv({"attend", "--q", path("q.npy"), "--k", path("k.npy")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "qkv attend: --v: expected a value, got none\n");
}

TEST_F(AttendRefusal, FilesThatCannotBeRead) {
  std::filesystem::remove(path("q.npy"));
  EXPECT_EQ(refusal(1), "qkv attend: --q: cannot read " + path("q.npy") + ": No such file or directory\n");
  std::filesystem::create_directory(path("q.npy"));
  EXPECT_EQ(refusal(1), "qkv attend: --q: cannot read " + path("q.npy") + ": it is a directory\n");
}

TEST_F(AttendRefusal, FilesThatAreTruncated) {
  const auto whole = read_file(path("q.npy"));
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  EXPECT_THAT(refusal_of_q(text.substr(0, text.size() - 1)),
              HasSubstr("q.npy: truncated: the shape [1, 2, 3, 4] of f32 needs 96 bytes of data, got 95"));
  EXPECT_THAT(refusal_of_q(text.substr(0, 50)), HasSubstr("truncated: the .npy header has 118 bytes"));
  EXPECT_THAT(refusal_of_q(""), HasSubstr("q.npy: not a .npy file"));
}

TEST_F(AttendRefusal, FilesThatAreMalformed) {
  EXPECT_THAT(refusal_of_q("a,b\n1,2\n"), HasSubstr("q.npy: not a .npy file"));
  file("q.npy", wave({1, 2, 3, 4}, 0));
  write_file(path("q.safetensors"), std::string_view("\1\0\0\0\0\0\0\0{", 9));
  EXPECT_THAT(refusal(1, {"--mask-file", path("q.safetensors")}),
              HasSubstr("q.safetensors: InvalidHeaderDeserialization"));
  write_file(path("q.npz"), "PK");
  EXPECT_THAT(refusal(1, {"--mask-file", path("q.npz")}), HasSubstr("q.npz: not a readable .npz (zip) file"));
}

TEST_F(AttendRefusal, MembersThatAreNotThere) {
  write_tensors(std::vector<NamedView>{{path("a.npz:x"), wave({3}, 0)}, {path("a.npz:y"), wave({3}, 0)}});
  EXPECT_THAT(refusal(1, {"--mask-file", path("a.npz:z")}), HasSubstr("there is no member \"z\"; it holds x, y"));
  EXPECT_THAT(refusal(2, {"--mask-file", path("a.npz")}), HasSubstr("which holds x, y"));
}

TEST_F(AttendRefusal, NamesThatNoFormatHas) {
  EXPECT_THAT(refusal(2, {"--lse", path("l.csv")}), HasSubstr("expected a name like FILE.npy, FILE.npz:NAME"));
}

TEST_F(AttendRefusal, PlacesThatCannotBeWrittenTo) {
  EXPECT_THAT(refusal(1, {"--lse", path("none/l.npy")}),
              HasSubstr("cannot write " + path("none/l.npy") + ": there is no directory"));
  EXPECT_THAT(refusal(1, {"--lse", path("q.npy/l.npy")}), HasSubstr(": Not a directory"));
  std::filesystem::create_directory(path("l.npy"));
  EXPECT_THAT(refusal(1, {"--lse", path("l.npy")}), HasSubstr("l.npy: it is a directory"));
}

TEST_F(AttendRefusal, TwoResultsForOnePlace) {
  EXPECT_THAT(refusal(2, {"--lse", path("o.npy")}),
              HasSubstr("--lse: expected a file other than that of --out, which is written, too"));
}

TEST_F(AttendRefusal, AResultInThePlaceOfAnInput) {
  const auto before = read_file(path("q.npy"));
  EXPECT_THAT(refusal(2, {"--lse", path("./q.npy")}), HasSubstr("--lse: expected a file other than that of --q"));
  EXPECT_EQ(read_file(path("q.npy")), before);
  EXPECT_THAT(refusal(2, {"--lse", path("./o.npy")}), HasSubstr("other than that of --out"));
}

TEST_F(AttendRefusal, TargetsThatAreNotThere) {
  const Outcome outcome = tests::run_qkv(
      {"attend", "--q", path("q.npy"), "--k", path("k.npy"), "--v", path("v.npy"), "--out", path("o.npy")},
      {{"QKV_FORCE_TARGET", "abacus"}});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("QKV_FORCE_TARGET"));
  EXPECT_FALSE(std::filesystem::exists(path("o.npy")));
}

TEST_F(AttendRefusal, TargetsAndThreadsOfItsOptionsThatAreNone) {
  EXPECT_THAT(refusal(2, {"--target", "abacus"}),
              HasSubstr("--target: expected a target that this build holds and this machine runs (reference scalar"));
  EXPECT_THAT(refusal(2, {"--threads", "0"}), HasSubstr("--threads"));
}

TEST_F(AttendRefusal, ATargetForF64) {
  write_inputs({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}, DType::f64);
  EXPECT_THAT(refusal(2, {"--target", "scalar"}),
              HasSubstr("--target: expected reference for f64, which runs there alone, got \"scalar\""));
  EXPECT_EQ(attend({"--target", "reference", "--out", path("o.npy")}).code, 0);
}

TEST_F(AttendRefusal, MoreThanTheMemoryLimit) {
  EXPECT_THAT(refusal(2, {"--weights", path("w.npy"), "--memory-limit", "71"}),
              HasSubstr("--memory-limit: expected at least 72 B for weights, [1, 2, 3, 3] of f32 (qkv probe shows any "
                        "part without storing the whole), got 71 B"));
  EXPECT_THAT(refusal(2, {"--scores", path("s.npy"), "--memory-limit", "71"}),
              HasSubstr("--memory-limit: expected at least 72 B for scores"));
  EXPECT_EQ(attend({"--weights", path("w.npy"), "--memory-limit", "72"}).code, 0);
}

TEST_F(AttendRefusal, WhatIsWrongBeforeWhatIsMissing) {
  write_inputs({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 5, 4});
  EXPECT_THAT(attend({}).err, HasSubstr("--v: expected Tk = 3"));
  EXPECT_THAT(attend({"--mask", "windw(3)"}).err, HasSubstr("column 1: expected a mask"));
}

TEST_F(AttendRefusal, SinksThatAreNotOneNumberForEachHead) {
  EXPECT_THAT(refusal(2, {"--sinks", "1,,2"}),
              HasSubstr("--sinks: expected numbers with commas between them, or a file, got \"\""));
  EXPECT_THAT(refusal(2, {"--sinks", "inf,0"}), HasSubstr("--sinks: expected finite numbers, got inf\n"));
  EXPECT_THAT(refusal(2, {"--sinks", "0,-nan"}), HasSubstr("--sinks: expected finite numbers, got -nan\n"));
  EXPECT_THAT(refusal(2, {"--sinks", "1,many"}), HasSubstr("or a file, got \"many\""));
  EXPECT_THAT(refusal(2, {"--sinks", "1,2,3"}), HasSubstr("sinks: expected 2, one for each query head, got 3"));
  EXPECT_THAT(refusal(2, {"--sinks", file("s.npy", wave({2, 2}, 0))}),
              HasSubstr("--sinks: expected [Hq] of f64, f32, f16 or bf16, got [2, 2] of f32"));
}

TEST_F(AttendRefusal, ShapesThatMemoryDoesNotHold) {
  if (tests::kHasShadowMemory) GTEST_SKIP() << "AddressSanitizer takes more address space than this test leaves";
  constexpr std::int64_t kQueries = 1 << 20;
  write_inputs({1, 1, kQueries, 1}, {1, 1, 1, 1}, {1, 1, 1, 4096});
  const Outcome outcome = tests::run_qkv_within(
      std::uint64_t{2} << 30U,
      {"attend", "--q", path("q.npy"), "--k", path("k.npy"), "--v", path("v.npy"), "--out", path("o.npy")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "qkv attend: not enough memory for out [1, 1, 1048576, 4096] of f32, 16.0 GiB\n");
  EXPECT_FALSE(std::filesystem::exists(path("o.npy")));
}

}  // namespace
}  // namespace qkv::attend_refusal_test
