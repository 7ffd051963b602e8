// The lse that qkv probe is given: taken where it is that of the call, refused where it is not.
#include <gmock/gmock.h>

#include "cli/attend_fixture.h"

namespace qkv::probe_lse_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using tests::Outcome;
using Words = std::vector<std::string>;

class ProbeLse : public tests::Attend {
 protected:
  // Writes l.npy with these options.
  void write_lse(Words words) const {
    words.insert(words.end(), {"--lse", path("l.npy")});
    const Outcome outcome = attend(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  [[nodiscard]] Outcome probe(const Words& words) const {
    Words all = {"probe", "--q", path("q.npy"), "--k", path("k.npy"), "--lse", path("l.npy"), "--head", "all"};
    all.insert(all.end(), words.begin(), words.end());
    return tests::run_qkv(all);
  }
};

TEST_F(ProbeLse, IsTakenWhereTheOptionsAreTheSame) {
  const std::vector<Words> calls = {{},
                                    {"--causal"},
                                    {"--mask", "causal & window(5)", "--scale", "30"},
                                    {"--softcap", "2", "--bias", "alibi"},
                                    {"--sinks", "0.5,3"},
                                    {"--mask", "none"},
                                    {"--kv-lengths", "0", "--sinks", "1,2"},
                                    {"--dropout", ".5", "--seed", "3"}};
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    write_inputs({1, 2, 70, 4}, {1, 1, 70, 4}, {1, 1, 70, 4}, dtype);
    for (Words words : calls) {
      write_lse(words);
      words.emplace_back("--stats");
      const Outcome outcome = probe(words);
      EXPECT_EQ(outcome.code, 0) << name_of(dtype) << " " << testing::PrintToString(words) << outcome.err;
    }
  }
}

TEST_F(ProbeLse, OfOtherOptionsIsRefused) {
  write_inputs({1, 2, 70, 4}, {1, 1, 70, 4}, {1, 1, 70, 4});
  write_lse({"--causal"});
  for (const Words& words : {Words{},
                             {"--mask", "causal & window(50)"},
                             {"--causal", "--scale", "0.51"},
                             {"--causal", "--sinks", "-5,-5"}}) {
    Words all = words;
    all.insert(all.end(), {"--map", "4", "--png", path("m.png")});
    const Outcome outcome = probe(all);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(words);
    EXPECT_THAT(outcome.err, MatchesRegex("qkv probe: --lse: expected what these q, k and options give: [-.0-9]+ at "
                                          "\\[0, 0, [0-9]+\\] \\(within [-.e0-9]+\\), got [-.0-9]+ in .*l.npy\n"));
    EXPECT_THAT(outcome.out, testing::IsEmpty());
  }
}

TEST_F(ProbeLse, OfARowThatSeesNothingIsRefusedWhereItSeesSome) {
  write_inputs({1, 2, 3, 4}, {1, 1, 3, 4}, {1, 1, 3, 4});
  write_lse({"--mask", "none"});
  EXPECT_THAT(probe({"--stats"}).err, HasSubstr("got -inf in "));
  write_lse({});
  EXPECT_THAT(probe({"--stats", "--mask", "none"}).err,
              HasSubstr("expected what these q, k and options give: -inf at"));
}

TEST_F(ProbeLse, IsSampledWhereRowsAreMany) {
  write_inputs({1, 1, 1100, 1}, {1, 1, 1100, 1}, {1, 1, 1100, 1});
  write_lse({"--causal"});
  EXPECT_EQ(probe({"--causal", "--row", "3"}).code, 0);
  EXPECT_EQ(probe({"--mask", "causal & window(1000)", "--row", "3"}).code, 2);
}

}  // namespace
}  // namespace qkv::probe_lse_test
