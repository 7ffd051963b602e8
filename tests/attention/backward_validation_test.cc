// What attention_backward() refuses, and in which words.
#include <gmock/gmock.h>

#include <string>

#include "core/error_message.h"
#include "qkv/backward.h"

namespace qkv::backward_validation_test {
namespace {

using testing::HasSubstr;

// A call that is refused for nothing until a test changes one of its tensors.
struct Call {
  Tensor d_out = Tensor(DType::f16, {2, 4, 3, 5});
  Tensor q = Tensor(DType::f16, {2, 4, 3, 8});
  Tensor k = Tensor(DType::f16, {2, 2, 6, 8});
  Tensor v = Tensor(DType::f16, {2, 2, 6, 5});
  Tensor out = Tensor(DType::f16, {2, 4, 3, 5});
  Tensor lse = Tensor(DType::f32, {2, 4, 3});
  AttentionOptions options = {};
  BackwardOptions backward = {};

  [[nodiscard]] std::string message() const {
    return error_message([&] { static_cast<void>(attention_backward(d_out, q, k, v, out, lse, options, backward)); });
  }
};

TEST(BackwardValidation, TakesACallThatHolds) { EXPECT_EQ(Call().message(), "nothing was thrown"); }

TEST(BackwardValidation, WantsDOutLikeOut) {
  EXPECT_EQ(Call{.d_out = Tensor(DType::f16, {2, 4, 3, 8})}.message(),
            "attention_backward: d_out: expected [B, Hq, Tq, Dv] = [2, 4, 3, 5], got [2, 4, 3, 8]");
  EXPECT_EQ(Call{.d_out = Tensor(DType::f32, {2, 4, 3, 5})}.message(),
            "attention_backward: d_out: expected f16, got f32");
}

TEST(BackwardValidation, WantsTheResultsOfTheCall) {
  EXPECT_EQ(Call{.out = Tensor(DType::f16, {2, 4, 4, 5})}.message(),
            "attention_backward: out: expected [B, Hq, Tq, Dv] = [2, 4, 3, 5], got [2, 4, 4, 5]");
  EXPECT_EQ(Call{.out = Tensor(DType::bf16, {2, 4, 3, 5})}.message(),
            "attention_backward: out: expected f16, got bf16");
  EXPECT_EQ(Call{.lse = Tensor(DType::f32, {2, 4})}.message(),
            "attention_backward: lse: expected [B, Hq, Tq] = [2, 4, 3], got [2, 4]");
  EXPECT_EQ(Call{.lse = Tensor(DType::f64, {2, 4, 3})}.message(), "attention_backward: lse: expected f32, got f64");
}

TEST(BackwardValidation, WantsDLseLikeLse) {
  const Tensor narrow(DType::f32, {2, 4, 2});
  EXPECT_EQ(Call{.backward = {.d_lse = narrow}}.message(),
            "attention_backward: d_lse: expected [B, Hq, Tq] = [2, 4, 3], got [2, 4, 2]");
  const Tensor half(DType::f16, {2, 4, 3});
  EXPECT_EQ(Call{.backward = {.d_lse = half}}.message(), "attention_backward: d_lse: expected f32, got f16");
}

TEST(BackwardValidation, WantsPlacesForWhatItWrites) {
  Tensor narrow(DType::f16, {2, 4, 3, 7});
  EXPECT_EQ(Call{.backward = {.into = {.d_q = narrow}}}.message(),
            "attention_backward: into.d_q: expected the shape [2, 4, 3, 8], got [2, 4, 3, 7]");
  Tensor wide(DType::f64, {2, 2, 6, 8});
  EXPECT_EQ(Call{.backward = {.into = {.d_k = wide}}}.message(), "attention_backward: into.d_k: expected f16, got f64");
  Tensor turned(DType::f16, {2, 2, 5, 6});
  EXPECT_EQ(Call{.backward = {.into = {.d_v = MutableTensorView(turned).transpose(2, 3)}}}.message(),
            "attention_backward: into.d_v: expected a last stride of 1, got [60, 30, 1, 6]");
  Call call;
  call.backward.into.d_q = call.q;
  EXPECT_EQ(call.message(),
            "attention_backward: into.d_q: expected memory apart from that of q, got some that reaches over the same "
            "bytes");
  Call other;
  other.backward.scratch = {static_cast<std::byte*>(other.k.data()), 64};
  EXPECT_EQ(other.message(),
            "attention_backward: scratch: expected memory apart from that of k, got some that reaches over the same "
            "bytes");
}

TEST(BackwardValidation, RefusesWhatAttentionRefuses) {
  EXPECT_EQ(Call{.k = Tensor(DType::f16, {2, 2, 6, 7})}.message(),
            "attention_backward: k: expected D = 8 as in q [2, 4, 3, 8], got [2, 2, 6, 7]");
  EXPECT_EQ(Call{.v = Tensor(DType::f16, {2, 2, 5, 5})}.message(),
            "attention_backward: v: expected Tk = 6 as in k [2, 2, 6, 8], got [2, 2, 5, 5]");
  EXPECT_EQ(Call{.options = {.softcap = 0.0}}.message(),
            "attention_backward: softcap: expected a finite number > 0, got 0");
  EXPECT_THAT(Call{.options = {.target = "abacus"}}.message(),
              HasSubstr("attention_backward: target: expected a target"));
}

}  // namespace
}  // namespace qkv::backward_validation_test
