#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/safetensors.h"

namespace qkv::check_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;

class Check : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::vector<double>& values, const Shape& shape,
                   DType dtype = DType::f64) {
    write_tensor(directory_ / name, Tensor(values, shape).to(dtype));
    return directory_ / name;
  }
  TemporaryDirectory directory_;
};

TEST_F(Check, CallsEqualWhatIsWithinTheTolerance) {
  const std::string a = file("a.npy", {1, 2, 3}, {3});
  const std::string b = file("b.npy", {1, 2, 3.00001}, {3});
  EXPECT_EQ(run_qkv({"check", a, a}).code, 0);
  EXPECT_EQ(run_qkv({"check", a, b}).code, 0);  // rtol 1e-5 of 3
  EXPECT_EQ(run_qkv({"check", a, b, "--rtol", "1e-7"}).code, 1);
  EXPECT_EQ(run_qkv({"check", a, b, "--rtol", "0", "--atol", "1.1e-5"}).code, 0);
}

TEST_F(Check, PrintsTheWorstPlace) {
  const std::string a = file("a.npy", {1, 2, 3, 4.5, 5, 6}, {2, 3});
  const std::string b = file("b.npy", {1, 2.25, 3, 4, 5, 6}, {2, 3});
  const Outcome outcome = run_qkv({"check", a, b, "--rtol", "0.01", "--atol", "0"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("different, 2 of 6 elements beyond the tolerance"),
                                 HasSubstr("worst at [1, 0]: A 4.5, B 4\n"),
                                 HasSubstr("absolute error 0.5, relative error 0.125, allowed 0.04")));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(Check, TellsShapesAndElementTypesApart) {
  const std::string a = file("a.npy", {1, 2}, {2});
  const std::string row = file("row.npy", {1, 2}, {1, 2});
  const std::string narrow = file("narrow.npy", {1, 2}, {2}, DType::f32);
  const Outcome shapes = run_qkv({"check", a, row});
  EXPECT_EQ(shapes.code, 1);
  EXPECT_THAT(shapes.out, HasSubstr("different shapes, [2] and [1, 2]"));
  const Outcome types = run_qkv({"check", a, narrow});
  EXPECT_EQ(types.code, 1);
  EXPECT_THAT(types.out, HasSubstr("element types: f64 and f32"));
  EXPECT_EQ(run_qkv({"check", a, narrow, "--any-dtype"}).code, 0);
}

TEST_F(Check, KnowsNaNAndInfinities) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::string a = file("a.npy", {NAN, inf, -inf}, {3});
  const std::string number = file("number.npy", {1, inf, -inf}, {3});
  const std::string sign = file("sign.npy", {NAN, inf, inf}, {3});
  const Outcome same = run_qkv({"check", a, a});
  EXPECT_EQ(same.code, 0);
  EXPECT_THAT(same.out, HasSubstr("1 NaN in both"));
  EXPECT_EQ(run_qkv({"check", a, a, "--nan-differs"}).code, 1);
  EXPECT_THAT(run_qkv({"check", a, number}).out, HasSubstr("worst at [0]: A nan, B 1\n"));
  EXPECT_THAT(run_qkv({"check", a, sign}).out, HasSubstr("worst at [2]: A -inf, B inf\n"));
}

TEST_F(Check, TellsLargeIntegersApart) {
  const std::int64_t large = std::int64_t{1} << 60;
  write_tensor(directory_ / "a.npy", Tensor(std::vector<std::int64_t>{large}, {1}));
  write_tensor(directory_ / "b.npy", Tensor(std::vector<std::int64_t>{large + 1}, {1}));
  EXPECT_EQ(run_qkv({"check", directory_ / "a.npy", directory_ / "b.npy", "--rtol", "0", "--atol", "0"}).code, 1);
}

TEST_F(Check, ComparesArchivesMemberByMember) {
  const Tensor one(std::vector<double>{1}, {1});
  const Tensor two(std::vector<double>{2}, {1});
  const std::string a = directory_ / "a.npz";
  const std::string b = directory_ / "b.safetensors";
  write_tensors(std::vector<NamedView>{{a + ":x", one}, {a + ":y", two}, {a + ":z", two}});
  write_tensors(std::vector<NamedView>{{b + ":w", one}, {b + ":x", one}, {b + ":y", one}});
  const Outcome outcome = run_qkv({"check", a, b});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("x: equal"), HasSubstr("y: different, 1 of 1"), HasSubstr("z: only in A"),
                                 HasSubstr("w: only in B")));
  EXPECT_EQ(run_qkv({"check", a + ":x", b + ":w"}).code, 0);
  const Outcome single = run_qkv({"check", a, file("one.npy", {1}, {1})});
  EXPECT_EQ(single.code, 2);
  EXPECT_EQ(single.err,
            "qkv check: A: expected a single tensor, FILE:NAME, as B is one, got an archive of 3: x, y, z\n");
}

// One of a file of others' may hold commands to the terminal.
TEST_F(Check, ShowsNamesWithoutControlCharacters) {
  const std::string path = directory_ / "a.safetensors";
  const Tensor one(std::vector<double>{1}, {1});
  write_file(path, encode_safetensors(std::vector<NamedView>{{"evil\x1b]0;title\x07", one}, {"b", one}}));
  const std::string other = directory_ / "b.safetensors";
  write_file(other, encode_safetensors(std::vector<NamedView>{{"evil\x1b]0;title\x07", one}, {"\x1b[2Jc", one}}));
  const Outcome outcome = run_qkv({"check", path, other});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ((outcome.out + outcome.err).find('\x1b'), std::string::npos);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("evil\\x1b]0;title"), HasSubstr("\\x1b[2Jc: only in B")));
}

TEST_F(Check, ComparesEmptyTensors) {
  const std::string a = file("a.npy", {}, {0, 3});
  const Outcome outcome = run_qkv({"check", a, a});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("equal, 0 of 0 elements"));
}

TEST_F(Check, SpeaksJson) {
  const std::string a = file("a.npy", {1, NAN}, {2});
  const std::string b = file("b.npy", {1, 2}, {2});
  const Outcome outcome = run_qkv({"check", a, b, "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"equal\": false"), HasSubstr("\"mismatches\": 1"),
                                 HasSubstr("\"a\": null"), HasSubstr("\"text_a\": \"nan\"")));
}

TEST_F(Check, PrintsWholeNumbersWhole) {
  const std::string a = directory_ / "big.npy";
  const std::string b = directory_ / "bigger.npy";
  constexpr std::int64_t kBig = std::int64_t{1} << 62;
  write_tensor(a, Tensor(std::vector<std::int64_t>{kBig}, {1}));
  write_tensor(b, Tensor(std::vector<std::int64_t>{kBig + 1}, {1}));
  const std::vector<std::string> words = {"check", a, b, "--rtol", "0", "--atol", "0"};
  EXPECT_THAT(run_qkv(words).out, HasSubstr("worst at [0]: A 4611686018427387904, B 4611686018427387905\n"));
  EXPECT_THAT(run_qkv({"check", a, b, "--rtol", "0", "--atol", "0", "--json"}).out,
              AllOf(HasSubstr("4611686018427387904"), HasSubstr("4611686018427387905")));
}

TEST_F(Check, RefusesWhatHasNoMeaning) {
  const std::string a = file("a.npy", {1}, {1});
  const auto refusal = [&](const std::vector<std::string>& words) {
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, StartsWith("qkv check: "));
    return outcome.err;
  };
  EXPECT_THAT(refusal({"check", a}), HasSubstr("B: expected a value, got none"));
  EXPECT_EQ(refusal({"check", "-dash.npy", a}),
            "qkv check: there is no option -dash.npy; before a name that begins with - put ./ or, before all of them, "
            "--\n");
  EXPECT_THAT(refusal({"check", a, a, "--rtol", "-1"}), HasSubstr("--rtol: expected a number from 0 to 1e38, got -1"));
  EXPECT_THAT(refusal({"check", a, a, "--atol", "nan"}), HasSubstr("--atol: expected a finite number, got nan"));
  EXPECT_THAT(refusal({"check", a, "b.txt"}), HasSubstr("check: B: expected a name like FILE.npy"));
  EXPECT_THAT(refusal({"check", "gpt", "sort"}),
              HasSubstr("--file: expected a file of text, since A and B are models, which are compared by what they "
                        "say of one, got none"));
  EXPECT_THAT(refusal({"check", "gpt", a}), HasSubstr("check: A: expected a name like FILE.npy"));
  EXPECT_THAT(refusal({"check", a, a, "--json", "--quiet"}), HasSubstr("--quiet"));
}

TEST_F(Check, FailsOnAFileThatIsNotThere) {
  const std::string a = file("a.npy", {1}, {1});
  const Outcome outcome = run_qkv({"check", a, directory_ / "none.npy"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "qkv check: B: cannot read " + directory_ / "none.npy" + ": No such file or directory\n");
}

}  // namespace
}  // namespace qkv::check_test
