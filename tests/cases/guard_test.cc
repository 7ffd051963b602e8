// Everything that a call is given stands against pages that may not be touched, before it and behind it.
#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "cases/gradients.h"
#include "cases/guarded.h"
#include "cases/run.h"

namespace qkv::cases::guard_test {
namespace {

// A dense tensor in guarded memory.
class GuardedTensor {
 public:
  GuardedTensor(DType dtype, const Shape& shape, Edge edge)
      : memory_(size_of(dtype) * static_cast<std::size_t>(shape.product()), edge),
        view_(memory_.data(), dtype, shape, contiguous_strides(shape)) {}
  GuardedTensor(const Tensor& tensor, Edge edge) : GuardedTensor(tensor.dtype(), tensor.shape(), edge) {
    std::memcpy(memory_.data(), tensor.data(), size_of(tensor.dtype()) * static_cast<std::size_t>(tensor.size()));
  }

  [[nodiscard]] MutableTensorView view() const { return view_; }

 private:
  Guarded memory_;
  MutableTensorView view_;
};

using Parameters = std::tuple<DType, std::int64_t, Edge>;

class Guards : public testing::TestWithParam<Parameters> {};

void expect_same_in_guarded_memory(const Case& one, Edge edge) {
  const Inputs inputs = Inputs::of(one);
  const GuardedTensor q(Tensor(inputs.q.view()), edge);
  const GuardedTensor k(Tensor(inputs.k.view()), edge);
  const GuardedTensor v(Tensor(inputs.v.view()), edge);
  for (const std::string& target : targets(one.dtype)) {
    AttentionOptions options = inputs.options;
    options.target = target;
    options.threads = 1;
    const GuardedTensor out(one.dtype, {one.B, one.Hq(), one.Tq, one.Dv}, edge);
    const GuardedTensor lse(DType::f32, {one.B, one.Hq(), one.Tq}, edge);
    const std::size_t bytes = attention_scratch_bytes(q.view(), k.view(), v.view(), options);
    const Guarded scratch(bytes, edge);
    options.scratch = {scratch.data(), bytes};
    attention_into(out.view(), lse.view(), q.view(), k.view(), v.view(), options);

    const Written run = run_on(target, one, inputs, 1);
    EXPECT_EQ(out.view().view().to_vector(), run.out.view().view().to_vector()) << target << ": " << to_text(one);
    EXPECT_EQ(lse.view().view().to_vector(), run.lse.view().view().to_vector()) << target << ": " << to_text(one);
  }
}

void expect_same_gradients_in_guarded_memory(const Case& one, Edge edge) {
  const Inputs inputs = Inputs::of(one);
  const Upstream upstream = Upstream::of(one, inputs);
  const auto guarded = [&](const Placed& x) { return GuardedTensor(Tensor(x.view()), edge); };
  const GuardedTensor q = guarded(inputs.q);
  const GuardedTensor k = guarded(inputs.k);
  const GuardedTensor v = guarded(inputs.v);
  const GuardedTensor out = guarded(upstream.out);
  const GuardedTensor lse = guarded(upstream.lse);
  const GuardedTensor d_out = guarded(upstream.d_out);
  const GuardedTensor d_lse = guarded(upstream.d_lse);
  BackwardOptions backward;
  if (upstream.has_d_lse) backward.d_lse = d_lse.view();
  for (const std::string& target : targets(one.dtype)) {
    AttentionOptions options = inputs.options;
    options.target = target;
    options.threads = 1;
    const AttentionGradients gradients =
        attention_backward(d_out.view(), q.view(), k.view(), v.view(), out.view(), lse.view(), options, backward);
    const Gradients expected = run_backward_on(target, one, inputs, upstream, 1);
    EXPECT_EQ(gradients.d_q.to_vector(), expected[0].values) << target << ": " << to_text(one);
    EXPECT_EQ(gradients.d_k.to_vector(), expected[1].values) << target << ": " << to_text(one);
    EXPECT_EQ(gradients.d_v.to_vector(), expected[2].values) << target << ": " << to_text(one);
  }
}

Case guarded_case(DType dtype, std::int64_t Tq, std::int64_t Tk, std::int64_t D) {
  return {.dtype = dtype, .Hk = 2, .group = 2, .Tq = Tq, .Tk = Tk, .D = D, .Dv = 129 - D};
}

TEST_P(Guards, AreNotTouchedByTheBackwardPass) {
  const auto [dtype, D, edge] = GetParam();
  for (const std::int64_t Tq : {1, 16, 65, 130}) {
    for (const std::int64_t Tk : {1, 17, 129}) {
      Case one = guarded_case(dtype, Tq, Tk, D);
      one.mask = "causal_top_left";
      one.bias = "dense";
      one.dropout = 0.25;
      expect_same_gradients_in_guarded_memory(one, edge);
    }
  }
}

TEST_P(Guards, AreNotTouched) {
  const auto [dtype, D, edge] = GetParam();
  for (const std::int64_t Tq : {1, 16, 65, 130}) {
    for (const std::int64_t Tk : {1, 17, 64, 129}) {
      for (const std::string_view mask : {"all", "causal_top_left"}) {
        Case one = guarded_case(dtype, Tq, Tk, D);
        one.Dv = D;
        one.mask = mask;
        expect_same_in_guarded_memory(one, edge);
        Case other = one;
        other.Dv = 129 - D;
        other.bias = "dense";
        other.dropout = 0.25;
        expect_same_in_guarded_memory(other, edge);
      }
      Case both = guarded_case(dtype, Tq, Tk, D);
      both.B = 2;
      both.mask = "causal";
      both.bias = "alibi";
      both.softcap = 5;
      both.sinks = Sinks::mild;
      expect_same_in_guarded_memory(both, edge);
    }
  }
}

std::string name_of_parameters(const testing::TestParamInfo<Parameters>& chosen) {
  const auto& [dtype, D, edge] = chosen.param;
  return std::string(name_of(dtype)) + "_D" + std::to_string(D) + (edge == Edge::front ? "_front" : "_back");
}

INSTANTIATE_TEST_SUITE_P(Cases, Guards,
                         testing::Combine(testing::Values(DType::f32, DType::f16, DType::bf16),
                                          testing::Values(1, 7, 33, 64, 80, 128),
                                          testing::Values(Edge::front, Edge::back)),
                         name_of_parameters);

// Padding behind each sequence, NaN and unmapped: keys beyond key_lengths are never read, whole tiles or not.
TEST(Poison, KeysBeyondTheirLengthMayBeMissing) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Case one = {.dtype = dtype, .Tq = 70, .Tk = 65, .D = 33, .Dv = 20};
    const Inputs inputs = Inputs::of(one);
    const GuardedTensor k(Tensor(inputs.k.view()), Edge::back);
    const GuardedTensor v(Tensor(inputs.v.view()), Edge::back);
    const auto longer = [](const MutableTensorView& x) {
      return TensorView(x.data(), x.dtype(), {1, 1, 128 + 65, x.dim(3)}, x.strides());
    };
    for (const std::string& target : targets(dtype)) {
      const AttentionOptions options = {.mask = key_lengths({64}), .target = target};
      const AttentionResult padded = attention(inputs.q.view(), longer(k.view()), longer(v.view()), options);
      const AttentionResult plain = attention(inputs.q.view(), k.view(), v.view(), options);
      EXPECT_EQ(padded.out.to_vector(), plain.out.to_vector()) << target;
      EXPECT_EQ(padded.lse.to_vector(), plain.lse.to_vector()) << target;
    }
  }
}

// Hidden keys and values, padding, and the gaps between rows, batch entries and heads are NaN; the results have none.
TEST(Poison, ReachesNoResult) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::string_view mask : {"key_lengths", "documents", "window_17", "dense_padding", "block_sparse_16"}) {
      for (const Layout layout : {Layout::gapped, Layout::page_rows, Layout::columns, Layout::token_major}) {
        const Case one = {.dtype = dtype,
                          .B = 2,
                          .Hk = 2,
                          .Tq = 40,
                          .Tk = 150,
                          .D = 20,
                          .Dv = 9,
                          .mask = mask,
                          .q = layout,
                          .k = layout,
                          .v = layout,
                          .out = Layout::gapped,
                          .poison = true,
                          .seed = 3};
        const Inputs inputs = Inputs::of(one);
        for (const std::string& target : targets(dtype)) {
          const Written run = run_on(target, one, inputs, 2);
          EXPECT_THAT(run.out.view().view().to_vector(), testing::Each(testing::Not(testing::IsNan()))) << target;
          EXPECT_THAT(run.lse.view().view().to_vector(), testing::Each(testing::Not(testing::IsNan()))) << target;
          EXPECT_TRUE(run.gaps_untouched()) << target << ": " << to_text(one);
        }
      }
    }
  }
}

}  // namespace
}  // namespace qkv::cases::guard_test
