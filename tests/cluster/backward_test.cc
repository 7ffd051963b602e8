// Gradients over ranks are those of one machine.
#include <gmock/gmock.h>

#include <cmath>
#include <mutex>

#include "cluster/ranks.h"
#include "core/error_message.h"
#include "qkv/cluster/attention.h"

namespace qkv::testing_cluster::backward_test {
namespace {

using testing::Each;
using testing::HasSubstr;

// One call with its results and a gradient of these, whole.
struct Problem {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor d_out;
  AttentionOptions options;
  AttentionResult result;

  Problem(std::int64_t T, DType dtype, AttentionOptions with) : options(std::move(with)) {
    Generator random(21);
    q = random.randn({1, 4, T, 16}, DType::f64).to(dtype);
    k = random.randn({1, 2, T, 16}, DType::f64).to(dtype);
    v = random.randn({1, 2, T, 8}, DType::f64).to(dtype);
    d_out = random.randn({1, 4, T, 8}, DType::f64).to(dtype);
    result = attention(q, k, v, options);
  }

  [[nodiscard]] AttentionGradients gradients(const GradientWants& wants = {}) const {
    return attention_backward(d_out, q, k, v, result.out, result.lse, options, {.wants = wants});
  }

  // Rank by rank.
  [[nodiscard]] std::vector<AttentionGradients> over_ranks(const ClusterCall& call, const LocalOptions& local = {},
                                                           const GradientWants& wants = {}) const {
    std::vector<AttentionGradients> all(static_cast<std::size_t>(call.queries.ranks()));
    run_ranks(
        call.queries.ranks(),
        [&](Transport& transport) {
          const int rank = transport.rank();
          const auto of_queries = [&](const Tensor& x) { return call.queries.rows_of(x, rank); };
          const auto of_keys = [&](const Tensor& x) { return call.keys.rows_of(x, rank); };
          all[static_cast<std::size_t>(rank)] =
              attention_backward(transport, call, of_queries(d_out), of_queries(q), of_keys(k), of_keys(v),
                                 of_queries(result.out), of_queries(result.lse), options, {.wants = wants});
        },
        local);
    return all;
  }
};

Tensor put_together(const SequenceShares& shares, const std::vector<AttentionGradients>& all,
                    Tensor AttentionGradients::* which, const Tensor& like) {
  Tensor whole(like.dtype(), like.shape());
  for (int rank = 0; rank < shares.ranks(); ++rank) {
    shares.put_rows(all[static_cast<std::size_t>(rank)].*which, rank, whole);
  }
  return whole;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double most = left.size() == right.size() ? 0 : INFINITY;
  for (std::size_t n = 0; n < left.size() && n < right.size(); ++n) {
    most = std::max(most, std::fabs(left[n] - right[n]));
  }
  return most;
}

AttentionOptions many_options(std::int64_t T) {
  return {.softcap = 4.0,
          .bias = alibi() + dense_bias(Generator(5).randn({1, 4, T, T}, DType::f64)),
          .mask = causal() & window(T / 2),
          .dropout = Dropout{0.25, 9},
          .sinks = {0.5, -1, 2, 0}};
}

TEST(ClusterGradients, AreThoseOfOneMachineInF64) {
  const Problem problem(130, DType::f64, many_options(130));
  const AttentionGradients expected = problem.gradients();
  for (const SequenceShares& shares : {SequenceShares::zig_zag(130, 3), SequenceShares::striped(130, 4),
                                       SequenceShares::contiguous({100, 0, 30}), SequenceShares::contiguous(130, 1)}) {
    const auto got = problem.over_ranks({.queries = shares, .keys = shares});
    EXPECT_LE(largest_difference(put_together(shares, got, &AttentionGradients::d_q, problem.q), expected.d_q), 1e-12);
    EXPECT_LE(largest_difference(put_together(shares, got, &AttentionGradients::d_k, problem.k), expected.d_k), 1e-12);
    EXPECT_LE(largest_difference(put_together(shares, got, &AttentionGradients::d_v, problem.v), expected.d_v), 1e-12);
    for (const AttentionGradients& own : got) {
      ASSERT_EQ(own.d_bias.size(), 2U);
      EXPECT_LE(largest_difference(own.d_bias[0], expected.d_bias[0]), 1e-10);
      EXPECT_LE(largest_difference(own.d_bias[1], expected.d_bias[1]), 1e-12);
      EXPECT_LE(largest_difference(own.d_sinks, expected.d_sinks), 1e-12);
    }
  }
}

TEST(ClusterGradients, OfARaggedBatchAreThoseOfOneMachine) {
  AttentionOptions options = {.bias = alibi(), .mask = causal(), .sinks = {0, 1, 2, 3}};
  options.ragged = Ragged{.q_offsets = {0, 40, 40, 130}, .k_offsets = {0, 50, 60, 130}};
  const Problem problem(130, DType::f64, options);
  const AttentionGradients expected = problem.gradients();
  const SequenceShares shares = SequenceShares::striped(130, 3);
  const auto got = problem.over_ranks({.queries = shares, .keys = shares});
  EXPECT_LE(largest_difference(put_together(shares, got, &AttentionGradients::d_q, problem.q), expected.d_q), 1e-12);
  EXPECT_LE(largest_difference(put_together(shares, got, &AttentionGradients::d_k, problem.k), expected.d_k), 1e-12);
  EXPECT_LE(largest_difference(got.front().d_bias[0], expected.d_bias[0]), 1e-10);
  EXPECT_LE(largest_difference(got.front().d_sinks, expected.d_sinks), 1e-12);
}

TEST(ClusterGradients, HaveTheSameBitsWhateverIsLateAndOnEveryRank) {
  using namespace std::chrono_literals;
  const Problem problem(300, DType::f32, many_options(300));
  const SequenceShares shares = SequenceShares::zig_zag(300, 4);
  const ClusterCall call = {.queries = shares, .keys = shares};
  const auto expected = problem.over_ranks(call);
  const auto got = problem.over_ranks(
      call, {.queue_bytes = 0, .faults = {{.kind = LocalFault::Kind::delayed, .rank = 3, .by = 20ms}}});
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    EXPECT_EQ(got[rank].d_q.to_vector(), expected[rank].d_q.to_vector());
    EXPECT_EQ(got[rank].d_k.to_vector(), expected[rank].d_k.to_vector());
    EXPECT_EQ(got[rank].d_v.to_vector(), expected[rank].d_v.to_vector());
    EXPECT_EQ(got[rank].d_bias[1].to_vector(), expected[0].d_bias[1].to_vector());
    EXPECT_EQ(got[rank].d_sinks.to_vector(), expected[0].d_sinks.to_vector());
  }
}

TEST(ClusterGradients, AsOneHaveTheBitsOfOneMachine) {
  const Problem problem(200, DType::bf16, many_options(200));
  const AttentionGradients expected = problem.gradients();
  const SequenceShares shares = SequenceShares::zig_zag(200, 3);
  const auto got = problem.over_ranks({.queries = shares, .keys = shares, .bits = Bits::as_one});
  EXPECT_EQ(put_together(shares, got, &AttentionGradients::d_q, problem.q).to_vector(), expected.d_q.to_vector());
  EXPECT_EQ(put_together(shares, got, &AttentionGradients::d_k, problem.k).to_vector(), expected.d_k.to_vector());
  EXPECT_EQ(put_together(shares, got, &AttentionGradients::d_v, problem.v).to_vector(), expected.d_v.to_vector());
  EXPECT_EQ(got[1].d_sinks.to_vector(), expected.d_sinks.to_vector());
}

TEST(ClusterGradients, AreTheWantedOnesAlone) {
  const Problem problem(100, DType::f32, many_options(100));
  const SequenceShares shares = SequenceShares::contiguous(100, 2);
  const auto got = problem.over_ranks({.queries = shares, .keys = shares}, {},
                                      {.q = false, .k = true, .v = false, .bias = false, .sinks = true});
  EXPECT_TRUE(got[0].d_q.empty());
  EXPECT_TRUE(got[0].d_v.empty());
  EXPECT_TRUE(got[0].d_bias.empty());
  EXPECT_FALSE(got[0].d_k.empty());
  EXPECT_EQ(got[0].d_sinks.size(), 4);
}

TEST(ClusterGradients, RefuseWhatDoesNotFit) {
  const Problem problem(10, DType::f32, {});
  const SequenceShares shares = SequenceShares::contiguous(10, 1);
  run_ranks(1, [&](Transport& transport) {
    const auto message = [&](const Tensor& lse, const BackwardOptions& backward) {
      return error_message([&] {
        (void)attention_backward(transport, {.queries = shares, .keys = shares}, problem.d_out, problem.q, problem.k,
                                 problem.v, problem.result.out, lse, {}, backward);
      });
    };
    EXPECT_EQ(message(Tensor(DType::f32, {1, 4, 9}), {}),
              "attention_backward: lse: expected [1, 4, 10], got [1, 4, 9]");
    EXPECT_EQ(message(Tensor(DType::f64, {1, 4, 10}), {}), "attention_backward: lse: expected f32, got f64");
    Tensor place(DType::f32, problem.q.shape());
    EXPECT_EQ(message(problem.result.lse, {.into = {.d_q = place}}),
              "attention_backward: into: expected none: gradients are returned, got some");
  });
}

TEST(ClusterGradients, NameRanksThatWantOthers) {
  const Problem problem(20, DType::f32, {});
  const SequenceShares shares = SequenceShares::contiguous(20, 2);
  const auto errors = errors_of_ranks(2, [&](Transport& transport) {
    const int rank = transport.rank();
    const auto rows = [&](const Tensor& x) { return shares.rows_of(x, rank); };
    (void)attention_backward(transport, {.queries = shares, .keys = shares}, rows(problem.d_out), rows(problem.q),
                             rows(problem.k), rows(problem.v), rows(problem.result.out), rows(problem.result.lse), {},
                             {.wants = {.q = rank == 0}});
  });
  EXPECT_THAT(errors, Each(HasSubstr("ranks differ in wants: q k v bias sinks on rank 0 (local), k v bias sinks on")));
}

}  // namespace
}  // namespace qkv::testing_cluster::backward_test
