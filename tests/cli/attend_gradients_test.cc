// qkv attend --gradients gives what attention_backward() gives.
#include <string>
#include <vector>

#include "cli/attend_fixture.h"
#include "qkv/backward.h"
#include "qkv/heads.h"
#include "qkv/npz.h"

namespace qkv::attend_gradients_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using tests::Outcome;

class AttendGradients : public tests::Attend {
 protected:
  void write_backward(const Shape& d_out) const { file("do.npy", wave(d_out, 3)); }

  [[nodiscard]] std::vector<std::string> back(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"--d-out", path("do.npy"), "--gradients", path("g.npz")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void expect_member(const std::string& name, const TensorView& expected) const {
    const Tensor got = result("g.npz:" + name);
    EXPECT_EQ(got.dtype(), expected.dtype()) << name;
    EXPECT_EQ(got.shape(), expected.shape()) << name;
    EXPECT_EQ(got.to_vector(), expected.to_vector()) << name;
  }
};

TEST_F(AttendGradients, AreThoseOfTheLibrary) {
  write_inputs({2, 4, 3, 5}, {2, 2, 6, 5}, {2, 2, 6, 7});
  write_backward({2, 4, 3, 7});
  file("dl.npy", wave({2, 4, 3}, 4));
  const Outcome outcome = attend(back({"--d-lse", path("dl.npy"), "--causal", "--bias", "alibi", "--softcap", "2",
                                       "--dropout", "0.25", "--sinks", "1,0,2,-1", "--out", path("o.npy")}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("d_out     [2, 4, 3, 7] f32"), HasSubstr("d_bias_0  [4] f32")));
  const Tensor q = result("q.npy");
  const Tensor k = result("k.npy");
  const Tensor v = result("v.npy");
  const Tensor d_lse = result("dl.npy");
  const AttentionOptions options{.softcap = 2.0,
                                 .bias = alibi(),
                                 .mask = causal(),
                                 .dropout = Dropout{.p = 0.25, .seed = 0},
                                 .sinks = {1, 0, 2, -1}};
  const AttentionResult forward = attention(q, k, v, options);
  const AttentionGradients expected =
      attention_backward(result("do.npy"), q, k, v, forward.out, forward.lse, options, {.d_lse = d_lse});
  EXPECT_THAT(npz_names(path("g.npz")), UnorderedElementsAre("d_q", "d_k", "d_v", "d_bias_0", "d_sinks"));
  expect_member("d_q", expected.d_q);
  expect_member("d_k", expected.d_k);
  expect_member("d_v", expected.d_v);
  expect_member("d_bias_0", expected.d_bias[0]);
  expect_member("d_sinks", expected.d_sinks);
}

TEST_F(AttendGradients, LieAsTheInputsDo) {
  write_inputs({3, 20}, {6, 10}, {6, 14});
  write_backward({3, 28});
  file("dl.npy", wave({4, 3}, 4));
  ASSERT_EQ(attend(back({"--d-lse", path("dl.npy"), "--heads", "4", "--kv-heads", "2", "--quiet"})).code, 0);
  const auto with_heads = [&](const std::string& name, std::int64_t heads) {
    return Tensor(split_heads(result(name).view().unsqueeze(0), heads));
  };
  const Tensor q = with_heads("q.npy", 4);
  const Tensor k = with_heads("k.npy", 2);
  const Tensor v = with_heads("v.npy", 2);
  const Tensor d_lse = result("dl.npy").reshaped({1, 4, 3});
  const AttentionResult forward = attention(q, k, v);
  const AttentionGradients expected =
      attention_backward(with_heads("do.npy", 4), q, k, v, forward.out, forward.lse, {}, {.d_lse = d_lse});
  expect_member("d_q", merge_heads(expected.d_q).view().select(0, 0));
  expect_member("d_k", merge_heads(expected.d_k).view().select(0, 0));
  expect_member("d_v", merge_heads(expected.d_v).view().select(0, 0));
}

TEST_F(AttendGradients, GoIntoSafetensorsToo) {
  write_inputs({3, 5}, {6, 5}, {6, 7});
  write_backward({3, 7});
  ASSERT_EQ(attend({"--d-out", path("do.npy"), "--gradients", path("g.safetensors")}).code, 0);
  EXPECT_EQ(result("g.safetensors:d_v").shape(), Shape({6, 7}));
}

TEST_F(AttendGradients, AreRefusedWhereTheyHaveNoMeaning) {
  write_inputs({1, 2, 3, 5}, {1, 2, 6, 5}, {1, 2, 6, 7});
  write_backward({1, 2, 3, 5});
  const std::string d_out = path("do.npy");
  EXPECT_THAT(refusal(2, back()), HasSubstr("--d-out: expected [B, Hq, Tq, Dv], [1, 2, 3, 7], got [1, 2, 3, 5]"));
  EXPECT_THAT(refusal(2, {"--d-out", d_out}), HasSubstr("--d-out: expected gradients among the --results, got out"));
  EXPECT_THAT(refusal(2, {"--gradients", path("g.npz")}),
              HasSubstr("--gradients: expected --d-out beside gradients, got none"));
  EXPECT_THAT(refusal(2, {"--gradients", path("g.npy"), "--d-out", d_out}),
              HasSubstr("--gradients: expected a name that ends in .npz or .safetensors, got "));
  file("do.npy", wave({1, 2, 3, 7}, 3, DType::f64));
  EXPECT_THAT(refusal(2, back()), HasSubstr("--d-out: expected f32, as q, got f64"));
  file("do.npy", wave({3, 7}, 3));
  EXPECT_THAT(refusal(2, back()), HasSubstr("--d-out: expected rank 4 as of q, got [3, 7]"));
  file("do.npy", wave({1, 2, 3, 7}, 3));
  file("dl.npy", wave({1, 2, 4}, 3));
  EXPECT_THAT(refusal(2, back({"--d-lse", path("dl.npy")})),
              HasSubstr("--d-lse: expected [B, Hq, Tq], [1, 2, 3], got [1, 2, 4]"));
  EXPECT_THAT(refusal(2, {"--d-out", path("g.npz:d"), "--gradients", path("g.npz")}),
              HasSubstr("--gradients: expected a file other than that of --d-out, which is read"));
}

}  // namespace
}  // namespace qkv::attend_gradients_test
