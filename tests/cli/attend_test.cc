// qkv attend gives what the library gives, in the layout in which the inputs came.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cli/attend_fixture.h"
#include "qkv/attention.h"
#include "qkv/heads.h"
#include "qkv/kv.h"
#include "qkv/targets.h"

namespace qkv::attend_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::Attend;
using tests::Outcome;
using tests::run_qkv;

// Same dtype, shape and bits.
void expect_same(const Tensor& got, const TensorView& expected) {
  EXPECT_EQ(got.dtype(), expected.dtype());
  EXPECT_EQ(got.shape(), expected.shape());
  EXPECT_EQ(got.to_vector(), expected.to_vector());
}

TEST_F(Attend, GivesWhatTheLibraryGives) {
  write_inputs({2, 4, 3, 5}, {2, 2, 6, 5}, {2, 2, 6, 7});
  const Outcome outcome =
      attend({"--mask", "causal & window(3)", "--scale",   "0.3",         "--softcap", "2",           "--bias",
              "alibi",  "--dropout",          "0.25",      "--seed",      "7",         "--out",       path("o.npy"),
              "--lse",  path("l.npy"),        "--weights", path("w.npy"), "--scores",  path("s.npy"), "--stage",
              "biased"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const AttentionOptions options{.scale = 0.3,
                                 .softcap = 2.0,
                                 .bias = alibi(),
                                 .mask = causal() & window(3),
                                 .dropout = Dropout{.p = 0.25, .seed = 7}};
  const AttentionResult expected = attention(result("q.npy"), result("k.npy"), result("v.npy"), options);
  expect_same(result("o.npy"), expected.out);
  expect_same(result("l.npy"), expected.lse);
  const auto stage = [&](Stage which) {
    return attention_stage(result("q.npy"), result("k.npy"), options, which, DType::f32);
  };
  expect_same(result("w.npy"), stage(Stage::weights));
  expect_same(result("s.npy"), stage(Stage::biased));
}

TEST_F(Attend, GivesPackedHeadsBackPacked) {
  write_inputs({2, 3, 20}, {2, 6, 10}, {2, 6, 14});
  ASSERT_EQ(attend({"--heads", "4", "--kv-heads", "2", "--out", path("o.npy"), "--lse", path("l.npy")}).code, 0);
  const Tensor q = result("q.npy");
  const Tensor k = result("k.npy");
  const Tensor v = result("v.npy");
  const AttentionResult expected = attention(split_heads(q, 4), split_heads(k, 2), split_heads(v, 2));
  expect_same(result("o.npy"), merge_heads(expected.out));
  expect_same(result("l.npy"), expected.lse);
}

TEST_F(Attend, GivesAMatrixBackAsAMatrix) {
  write_inputs({3, 5}, {6, 5}, {6, 7});
  ASSERT_EQ(attend({"--out", path("o.npy"), "--lse", path("l.npy"), "--weights", path("w.npy")}).code, 0);
  const Tensor expected = attention(result("q.npy").reshaped({1, 1, 3, 5}), result("k.npy").reshaped({1, 1, 6, 5}),
                                    result("v.npy").reshaped({1, 1, 6, 7}))
                              .out;
  expect_same(result("o.npy"), expected.view().reshape({3, 7}));
  EXPECT_EQ(result("l.npy").shape(), Shape({3}));
  EXPECT_EQ(result("w.npy").shape(), Shape({3, 6}));
}

class AttendDTypes : public Attend, public testing::WithParamInterface<DType> {};

TEST_P(AttendDTypes, KeepTheirType) {
  write_inputs({1, 1, 3, 4}, {1, 1, 3, 4}, {1, 1, 3, 4}, GetParam());
  ASSERT_EQ(attend({"--causal", "--out", path("o.npy")}).code, 0);
  expect_same(result("o.npy"), attention(result("q.npy"), result("k.npy"), result("v.npy"), {.mask = causal()}).out);
}

INSTANTIATE_TEST_SUITE_P(All, AttendDTypes, testing::Values(DType::f64, DType::f32, DType::f16, DType::bf16),
                         [](const auto& item) { return std::string(name_of(item.param)); });

TEST_F(Attend, ReadsAndWritesMembersOfArchives) {
  const Tensor q = wave({1, 1, 2, 3}, 0);
  const std::string npz = path("in.npz");
  const std::string tensors = path("in.safetensors");
  write_tensors(std::vector<NamedView>{{npz + ":q", q}, {npz + ":k", q}, {tensors + ":layer.v", q}});
  const Outcome outcome = tests::run_qkv({"attend", "--q", npz + ":q", "--k", npz + ":k", "--v", tensors + ":layer.v",
                                          "--out", path("r.safetensors:out"), "--lse", path("r.safetensors:lse")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_same(result("r.safetensors:out"), attention(q, q, q).out);
  expect_same(result("r.safetensors:lse"), attention(q, q, q).lse);
}

TEST_F(Attend, PutsThePastInFront) {
  write_inputs({1, 2, 1, 4}, {1, 2, 1, 4}, {1, 2, 1, 3});
  const Tensor past_k = wave({1, 2, 5, 4}, 3);
  const Tensor past_v = wave({1, 2, 5, 3}, 4);
  ASSERT_EQ(attend({"--past-k", file("pk.npy", past_k), "--past-v", file("pv.npy", past_v), "--causal", "--out",
                    path("o.npy"), "--present-k", path("k2.npy"), "--present-v", path("v2.npy")})
                .code,
            0);
  const Tensor k = concat_time(past_k, result("k.npy"));
  const Tensor v = concat_time(past_v, result("v.npy"));
  expect_same(result("k2.npy"), k);
  expect_same(result("v2.npy"), v);
  expect_same(result("o.npy"), attention(result("q.npy"), k, v, {.mask = causal()}).out);
}

TEST_F(Attend, HidesWhatAnyOfItsMasksHides) {
  write_inputs({2, 1, 3, 4}, {2, 1, 3, 4}, {2, 1, 3, 4});
  const Tensor kept(std::vector<bool>{true, true, false, true, true, true, false, true, true}, {3, 3});
  const AttentionOptions options{.mask = causal() & window(2) & key_lengths({3, 2}) & dense(kept)};
  const Tensor expected = attention(result("q.npy"), result("k.npy"), result("v.npy"), options).out;
  const std::string lengths = file("lengths.npy", Tensor(std::vector<std::int64_t>{3, 2}, {2}));
  for (const std::string& given : {std::string("3,2"), lengths}) {
    ASSERT_EQ(attend({"--causal", "--window", "2", "--kv-lengths", given, "--mask-file", file("m.npy", kept), "--out",
                      path("o.npy")})
                  .code,
              0);
    expect_same(result("o.npy"), expected);
  }
}

TEST_F(Attend, TakesAWindowWithoutASide) {
  write_inputs({1, 1, 4, 2}, {1, 1, 4, 2}, {1, 1, 4, 2});
  const auto expect = [&](const std::string& sides, const Mask& mask) {
    ASSERT_EQ(attend({"--window", sides, "--out", path("o.npy")}).code, 0);
    expect_same(result("o.npy"), attention(result("q.npy"), result("k.npy"), result("v.npy"), {.mask = mask}).out);
  };
  expect("1,", window(std::optional<std::int64_t>(1), std::nullopt));
  expect(",0", window(std::nullopt, std::optional<std::int64_t>(0)));
}

TEST_F(Attend, TakesAWindowWithTwoSides) {
  write_inputs({1, 1, 4, 2}, {1, 1, 4, 2}, {1, 1, 4, 2});
  ASSERT_EQ(attend({"--window", "2,1", "--out", path("o.npy")}).code, 0);
  const AttentionOptions options{.mask = window(std::optional<std::int64_t>(2), std::optional<std::int64_t>(1))};
  expect_same(result("o.npy"), attention(result("q.npy"), result("k.npy"), result("v.npy"), options).out);
}

TEST_F(Attend, AddsItsBiases) {
  write_inputs({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4});
  const Tensor bias = wave({3, 3}, 5);
  ASSERT_EQ(attend({"--bias", "alibi", "--bias-file", file("b.npy", bias), "--out", path("o.npy")}).code, 0);
  const AttentionOptions options{.bias = alibi() + dense_bias(bias)};
  expect_same(result("o.npy"), attention(result("q.npy"), result("k.npy"), result("v.npy"), options).out);
}

TEST_F(Attend, TakesASinkForEachHead) {
  write_inputs({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4});
  const AttentionOptions options{.sinks = {0.5, -1e-1}};
  const Tensor expected = attention(result("q.npy"), result("k.npy"), result("v.npy"), options).out;
  const std::string sinks = file("sinks.npy", Tensor(options.sinks, {2}));
  for (const std::string& given : {std::string("0.5,-1e-1"), sinks}) {
    const Outcome outcome = attend({"--sinks", given, "--out", path("o.npy")});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    expect_same(result("o.npy"), expected);
    EXPECT_THAT(outcome.out, HasSubstr("sinks     0.5, -0.1"));
  }
}

TEST_F(Attend, RunsOnTheTargetAndThreadsOfItsOptions) {
  write_inputs({1, 2, 70, 4}, {1, 2, 70, 4}, {1, 2, 70, 4});
  const Tensor q = result("q.npy");
  for (const std::string& target : {std::string("reference"), std::string("scalar")}) {
    const Outcome outcome = attend({"--target", target, "--threads", "3", "--out", path("o.npy")});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("target    " + target));
    expect_same(result("o.npy"), attention(q, result("k.npy"), result("v.npy"), {.target = target}).out);
  }
}

// bf16, which each target serves or leaves to one below it. Each has its own rounding, so that its numbers tell which
// one ran.
TEST_F(Attend, RunsOnTheTargetThatTheEnvironmentForces) {
  write_inputs({1, 2, 70, 64}, {1, 2, 70, 64}, {1, 2, 70, 64}, DType::bf16);
  std::map<std::vector<double>, std::string> names;
  for (const CpuTarget& target : cpu_targets()) {
    if (!target.compiled || !target.runs_here) continue;
    const Outcome outcome = run_qkv({"attend", "--q", path("q.npy"), "--k", path("k.npy"), "--v", path("v.npy"),
                                     "--out", path("o.npy"), "--lse", path("l.npy")},
                                    {{"QKV_FORCE_TARGET", target.name}});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const AttentionOptions options = {.target = target.name};
    const std::string serving(attention_target(DType::bf16, options));
    EXPECT_THAT(outcome.out, HasSubstr("target    " + serving + "\n"));
    expect_same(result("l.npy"), attention(result("q.npy"), result("k.npy"), result("v.npy"), options).lse);
    const auto other = names.emplace(result("l.npy").to_vector(), serving).first;
    EXPECT_EQ(other->second, serving);
  }
}

TEST_F(Attend, SaysThatF64RunsOnTheReference) {
  write_inputs({1, 4}, {1, 4}, {1, 4}, DType::f64);
  EXPECT_THAT(attend({"--out", path("o.npy")}).out, HasSubstr("target    reference"));
}

TEST_F(Attend, OfOneTokenIsItsValue) {
  write_inputs({1, 4}, {1, 4}, {1, 4});
  ASSERT_EQ(attend({"--out", path("o.npy")}).code, 0);
  expect_same(result("o.npy"), result("v.npy"));
}

TEST_F(Attend, OfNoKeysIsZero) {
  write_inputs({2, 4}, {0, 4}, {0, 3});
  const Outcome outcome = attend({"--out", path("o.npy"), "--lse", path("l.npy"), "--weights", path("w.npy")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(result("o.npy").shape(), Shape({2, 3}));
  EXPECT_THAT(result("o.npy").to_vector(), Each(0.0));
  EXPECT_THAT(result("l.npy").to_vector(), Each(-INFINITY));
  EXPECT_EQ(result("w.npy").shape(), Shape({2, 0}));
}

TEST_F(Attend, WhereAllIsHiddenIsZeroAndSaysSo) {
  write_inputs({3, 4}, {3, 4}, {3, 4});
  const Outcome outcome = attend({"--mask", "none", "--out", path("o.npy"), "--lse", path("l.npy")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(result("o.npy").to_vector(), Each(0.0));
  EXPECT_THAT(result("l.npy").to_vector(), Each(-INFINITY));
  EXPECT_THAT(outcome.out, HasSubstr("3 see nothing: zeros in out, -inf in lse"));
}

TEST_F(Attend, SummarisesShapesMaskAndCoverage) {
  write_inputs({1, 2, 4, 4}, {1, 1, 4, 4}, {1, 1, 4, 4});
  const Outcome outcome = attend({"--causal", "--out", path("o.npy")});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("[1, 2, 4, 4] f32"), HasSubstr("0.5 (1 / sqrt(D))"), HasSubstr("causal"),
                    HasSubstr("20 of 32 pairs (62.50 %)"),
                    HasSubstr("target    " + std::string(attention_target(DType::f32))), HasSubstr("o.npy")));
  EXPECT_THAT(attend({"--causal", "--out", path("o.npy"), "--quiet"}).out, IsEmpty());
}

TEST_F(Attend, SummarisesInJson) {
  write_inputs({1, 1, 4, 4}, {1, 1, 4, 4}, {1, 1, 4, 4});
  const Outcome outcome = attend({"--causal", "--out", path("o.npy"), "--json"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\"pairs_kept\": 10"), HasSubstr("\"coverage\": 0.625"), HasSubstr("\"scale\": 0.5"),
                    HasSubstr("\"target\": \"" + std::string(attention_target(DType::f32)) + "\"")));
}

}  // namespace
}  // namespace qkv::attend_test
