// qkv probe --stage dp and ds, as a user runs them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/attend_fixture.h"
#include "qkv/gradient_probe.h"

namespace qkv::probe_gradients_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::Outcome;

class ProbeGradients : public tests::Attend {
 protected:
  void write_two_heads(DType dtype = DType::f32) const {
    write_inputs({1, 2, 70, 4}, {1, 1, 70, 4}, {1, 1, 70, 3}, dtype);
    file("do.npy", wave({1, 2, 70, 3}, 3, dtype));
    file("dl.npy", wave({1, 2, 70}, 4, dtype == DType::f64 ? dtype : DType::f32));
  }

  [[nodiscard]] Outcome probe(std::vector<std::string> words) const {
    words.insert(words.begin(), {"probe", "--q", path("q.npy"), "--k", path("k.npy"), "--v", path("v.npy")});
    return tests::run_qkv(words);
  }

  [[nodiscard]] Outcome gradients(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--d-out", path("do.npy")});
    return probe(words);
  }

  // What a call that must end with 2 says; nothing is printed or left behind.
  [[nodiscard]] std::string misuse(const std::vector<std::string>& words) const {
    const auto before = directory_.names();
    const Outcome outcome = probe(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_EQ(directory_.names(), before) << "something was left behind";
    return outcome.err;
  }

  static void expect_same(const Tensor& got, const Tensor& expected) {
    EXPECT_EQ(got.shape(), expected.shape());
    EXPECT_EQ(got.to_vector(), expected.to_vector());
  }

  [[nodiscard]] std::string text(const std::string& name) const {
    const auto bytes = read_file(path(name));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

TEST_F(ProbeGradients, AreThoseOfTheLibrary) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    write_two_heads(dtype);
    const Tensor q = result("q.npy");
    const Tensor k = result("k.npy");
    const Tensor v = result("v.npy");
    const Tensor d_out = result("do.npy");
    const Tensor d_lse = result("dl.npy");
    const AttentionOptions options = {.bias = alibi(), .mask = causal()};
    const auto [out, lse] = attention(q, k, v, options);
    const GradientProbe expected(d_out, q, k, v, out, lse, options, d_lse);
    for (const auto& [name, stage] : {std::pair("dp", Stage::weights), std::pair("ds", Stage::biased)}) {
      const Outcome outcome =
          gradients({"--causal", "--bias", "alibi", "--d-lse", path("dl.npy"), "--head", "1", "--map", "7x10", "--row",
                     "69", "--tile", "3:9,2:5", "--stage", name, "--npz", path("all.npz"), "--quiet"});
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      const HeadPlace head = {0, 1};
      const CellMaps map = expected.map({.heads = {1}, .size = {7, 10}}, stage);
      expect_same(result("all.npz:map"), map.mean.select(0, 0));
      expect_same(result("all.npz:map_visible"), map.visible.select(0, 0));
      expect_same(result("all.npz:row"), expected.row(head, 69, stage));
      expect_same(result("all.npz:tile"), expected.tile({0, 1, 3, 9, 2, 5}, stage));
    }
  }
}

TEST_F(ProbeGradients, OfSeveralHeadsAreAveraged) {
  write_two_heads();
  ASSERT_EQ(gradients({"--stage", "ds", "--average", "--map", "5", "--reduce", "max", "--npz", path("m.npz")}).code, 0);
  const Tensor q = result("q.npy");
  const Tensor k = result("k.npy");
  const Tensor v = result("v.npy");
  const Tensor d_out = result("do.npy");
  const auto [out, lse] = attention(q, k, v);
  const GradientProbe expected(d_out, q, k, v, out, lse);
  expect_same(result("m.npz:map"), expected.map({.size = {5, 5}, .of = MapOf::mean}).largest.select(0, 0));
}

TEST_F(ProbeGradients, LieAsTheInputsDo) {
  write_inputs({9, 8}, {9, 4}, {9, 3});
  file("do.npy", wave({9, 6}, 3));
  const Outcome outcome =
      gradients({"--heads", "2", "--kv-heads", "1", "--stage", "ds", "--row", "8", "--npy", path("r.npy")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  double sum = 0;
  for (const double number : result("r.npy").to_vector()) sum += number;
  EXPECT_NEAR(sum, 0, 9 * 4 * 0x1p-24);  // of a softmax's gradient
  EXPECT_THAT(outcome.out, HasSubstr("d_out     [1, 2, 9, 3] f32  " + path("do.npy")));
}

TEST_F(ProbeGradients, AreDrawnWithTheirSigns) {
  write_two_heads();
  ASSERT_EQ(gradients({"--causal", "--stage", "ds", "--tile", "0:3,0:3", "--svg", path("t.svg")}).code, 0);
  EXPECT_THAT(text("t.svg"), AllOf(HasSubstr("Attention gradients dS: causal"), HasSubstr("3 cells hidden")));
  EXPECT_THAT(gradients({"--causal", "--stage", "dp", "--map", "8"}).out,
              AllOf(HasSubstr("mean |dP| of each; largest"), HasSubstr("rows: query, columns: key")));
  ASSERT_EQ(gradients({"--stage", "dp", "--map", "8", "--reduce", "max", "--svg", path("m.svg")}).code, 0);
  EXPECT_THAT(text("m.svg"), HasSubstr("largest |dP|"));
}

TEST_F(ProbeGradients, AreListedByTheirSize) {
  write_inputs({1, 1, 1, 1}, {1, 1, 3, 1}, {1, 1, 3, 1});
  file("q.npy", Tensor(std::vector<float>{0}, {1, 1, 1, 1}));
  file("v.npy", Tensor(std::vector<float>{1, 0, -4}, {1, 1, 3, 1}));
  file("do.npy", Tensor(std::vector<float>{3}, {1, 1, 1, 1}));
  // Weights of a third, dP = 3 v, delta = -3.
  EXPECT_THAT(gradients({"--stage", "ds", "--map", "3"}).out,
              HasSubstr("1 x 3 cells, mean |dS| of each; largest 3 in cell (0, 2), 0"));
  EXPECT_THAT(gradients({"--stage", "ds", "--row", "0"}).out,
              HasSubstr("       key  dS\n         2  -3\n         0  2\n         1  1\n"));
}

TEST_F(ProbeGradients, OfADrawnLossDependOnTheSeed) {
  write_two_heads();
  const std::vector<std::string> words = {"--d-out", "random", "--stage", "ds", "--row", "5", "--json"};
  const Outcome first = probe(words);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(nlohmann::json::parse(first.out)["stage"], "dS");
  std::vector<std::string> seeded = words;
  seeded.insert(seeded.end(), {"--seed", "1"});
  EXPECT_NE(probe(seeded).out, first.out);
  EXPECT_EQ(probe(words).out, first.out);
  EXPECT_THAT(tests::run_qkv({"probe", "--random", "1,2,1,5,6,3", "--stage", "ds", "--row", "4"}).out,
              AllOf(HasSubstr("v         [1, 1, 6, 3] f32, drawn at random"),
                    HasSubstr("d_out     [1, 2, 5, 3] f32, drawn at random")));
}

TEST_F(ProbeGradients, AreRefusedWhereTheyHaveNoMeaning) {
  write_two_heads();
  const std::string d_out = path("do.npy");
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"--d-out", d_out, "--stage", "ds"}, "--stage: expected --row, --tile or --map beside it, got none of them"},
      {{"--d-out", d_out, "--stage", "ds", "--stats"}, "--stage: expected --row, --tile or --map"},
      {{"--stage", "ds", "--row", "1"}, "--stage: expected --v and --d-out beside ds, or --random, got one"},
      {{"--row", "1"}, "--v: expected --stage dp or ds beside it, got weights"},
      {{"--stage", "dq", "--row", "1"}, "weights, dropped, dp or ds, got \"dq\""},
      {{"--d-out", path("q.npy"), "--stage", "ds", "--row", "1"},
       "--d-out: expected [B, Hq, Tq, Dv], [1, 2, 70, 3], got [1, 2, 70, 4]"},
      {{"--d-out", d_out, "--d-lse", d_out, "--stage", "ds", "--row", "1"}, "--d-lse: expected [B, Hq, Tq]"},
      {{"--d-out", d_out, "--stage", "ds", "--row", "1", "--npy", d_out},
       "--npy: expected a file other than that of --d-out, which is read"}};
  for (const auto& [words, message] : refused) EXPECT_THAT(misuse(words), HasSubstr(message));
}

}  // namespace
}  // namespace qkv::probe_gradients_test
