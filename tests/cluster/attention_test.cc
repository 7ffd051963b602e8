// Attention over ranks is attention of one machine.
#include "qkv/cluster/attention.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>

#include "cases/covering.h"
#include "cases/random_case.h"
#include "cluster/cluster_case.h"
#include "cluster/ranks.h"
#include "core/error_message.h"

namespace qkv::testing_cluster::attention_test {
namespace {

using cases::Case;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

class Ranks : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Cluster, Ranks, testing::Values(2, 3, 4), testing::PrintToStringParamName());

// Every third row of the table, each with a number of ranks.
TEST_P(Ranks, GiveTheRowsOfTheTable) {
  int row = 0;
  for (Case one : cases::table()) {
    if (++row % 3 != GetParam() % 3) continue;
    one.cache = cases::Cache::none;
    EXPECT_EQ(cluster_fault(one, GetParam()), "") << to_text(one);
  }
}

TEST_P(Ranks, GiveTheGradientsOfTheTable) {
  int row = 0;
  for (Case one : cases::table()) {
    if (++row % 12 != GetParam() % 12) continue;
    one.cache = cases::Cache::none;
    one.values = cases::Values::normal;
    EXPECT_EQ(cluster_gradients_fault(one, GetParam()), "") << to_text(one);
  }
}

// Calls of any kind, the same in every run.
template <class Body>
void for_each_random_case(std::uint64_t seed, int count, const Body& body) {
  std::mt19937_64 engine(seed);
  for (int n = 0; n < count; ++n) {
    std::array<std::uint8_t, cases::kCaseBytes> bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
    Case one = cases::case_from(bytes);
    one.cache = cases::Cache::none;
    body(one);
  }
}

TEST_P(Ranks, GiveRandomCalls) {
  for_each_random_case(static_cast<std::uint64_t>(GetParam()), 100,
                       [](const Case& one) { EXPECT_EQ(cluster_fault(one, GetParam()), "") << to_text(one); });
}

TEST_P(Ranks, GiveTheGradientsOfRandomCalls) {
  for_each_random_case(static_cast<std::uint64_t>(GetParam() + 10), 40, [](Case one) {
    one.values = cases::Values::normal;
    one.specials = 0;
    EXPECT_EQ(cluster_gradients_fault(one, GetParam()), "") << to_text(one);
  });
}

struct Problem {
  Tensor q;
  Tensor k;
  Tensor v;

  explicit Problem(std::int64_t T, DType dtype = DType::f32, std::int64_t B = 1)
      : Problem(Generator(11), T, dtype, B) {}

 private:
  Problem(Generator random, std::int64_t T, DType dtype, std::int64_t B)
      : q(random.randn({B, 4, T, 16}, DType::f64).to(dtype)),
        k(random.randn({B, 2, T, 16}, DType::f64).to(dtype)),
        v(random.randn({B, 2, T, 8}, DType::f64).to(dtype)) {}
};

// Over ranks, put together. `seen` is called with each rank's transport at the end.
AttentionResult over_ranks(
    const Problem& whole, const ClusterCall& call, const AttentionOptions& options, const LocalOptions& local = {},
    const std::function<void(Transport&)>& seen = [](Transport&) {}) {
  AttentionResult all = {.out = Tensor(whole.q.dtype(), {whole.q.dim(0), 4, whole.q.dim(2), 8}),
                         .lse = Tensor(DType::f32, {whole.q.dim(0), 4, whole.q.dim(2)})};
  std::mutex mutex;
  run_ranks(
      call.queries.ranks(),
      [&](Transport& transport) {
        const int rank = transport.rank();
        const AttentionResult own =
            attention(transport, call, call.queries.rows_of(whole.q, rank), call.keys.rows_of(whole.k, rank),
                      call.keys.rows_of(whole.v, rank), options);
        const std::scoped_lock lock(mutex);
        call.queries.put_rows(own.out, rank, all.out);
        call.queries.put_rows(own.lse, rank, all.lse);
        seen(transport);
      },
      local);
  return all;
}

ClusterCall same(const SequenceShares& shares) { return {.queries = shares, .keys = shares}; }

TEST(Cluster, HasTheSameBitsWhateverIsLate) {
  const Problem whole(600);
  const ClusterCall call = same(SequenceShares::zig_zag(600, 4));
  const AttentionOptions options = {.softcap = 5.0, .bias = alibi(), .mask = causal(), .dropout = Dropout{0.2, 3}};
  const AttentionResult expected = over_ranks(whole, call, options);
  const std::vector<LocalOptions> late = {
      {.queue_bytes = 0},
      {.queue_bytes = std::size_t{1} << 24},
      {.faults = {{.kind = LocalFault::Kind::slow, .rank = 1, .by = 5ms}}},
      {.faults = {{.kind = LocalFault::Kind::delayed, .rank = 2, .by = 30ms}}},
  };
  for (const LocalOptions& local : late) {
    const AttentionResult got = over_ranks(whole, call, options, local);
    EXPECT_EQ(got.out.to_vector(), expected.out.to_vector());
    EXPECT_EQ(got.lse.to_vector(), expected.lse.to_vector());
  }
  AttentionOptions threaded = options;
  threaded.threads = 3;
  EXPECT_EQ(over_ranks(whole, call, threaded).out.to_vector(), expected.out.to_vector());
}

TEST(Cluster, AsOneHasTheBitsOfOneMachine) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Problem whole(300, dtype, 2);
    const AttentionOptions options = {.bias = alibi(), .mask = causal() & window(90), .sinks = {0.5, 1, -1, 2}};
    const AttentionResult expected = attention(whole.q, whole.k, whole.v, options);
    ClusterCall call = same(SequenceShares::striped(300, 3));
    call.bits = Bits::as_one;
    const AttentionResult got = over_ranks(whole, call, options);
    EXPECT_EQ(got.out.to_vector(), expected.out.to_vector());
    EXPECT_EQ(got.lse.to_vector(), expected.lse.to_vector());
    const AttentionResult alone = over_ranks(whole, same(SequenceShares::contiguous(300, 1)), options);
    EXPECT_EQ(alone.out.to_vector(), expected.out.to_vector());
  }
}

TEST(Cluster, GivesZerosWhereAWholeShardIsMasked) {
  const Problem whole(256);
  const AttentionResult got = over_ranks(whole, same(SequenceShares::contiguous(256, 4)), {.mask = key_lengths({0})});
  EXPECT_THAT(got.out.to_vector(), Each(0));
  EXPECT_THAT(got.lse.to_vector(), Each(-std::numeric_limits<double>::infinity()));
  const AttentionResult sunk =
      over_ranks(whole, same(SequenceShares::contiguous(256, 4)), {.mask = none(), .sinks = {1, 2, 3, 4}});
  EXPECT_THAT(sunk.out.to_vector(), Each(0));
  EXPECT_EQ(sunk.lse.at({0, 2, 100}), 3);
}

TEST(Cluster, TakesEmptyBatchesAndSequences) {
  EXPECT_EQ(over_ranks(Problem(20, DType::f32, 0), same(SequenceShares::contiguous(20, 3)), {}).out.size(), 0);
  EXPECT_EQ(over_ranks(Problem(0), same(SequenceShares::contiguous(0, 3)), {}).out.size(), 0);
  const Problem short_one(2);
  const AttentionResult expected = attention(short_one.q, short_one.k, short_one.v, {.mask = causal()});
  const AttentionResult got = over_ranks(short_one, same(SequenceShares::contiguous(2, 5)), {.mask = causal()});
  const std::vector<double> right = expected.out.to_vector();
  const std::vector<double> left = got.out.to_vector();
  for (std::size_t n = 0; n < right.size(); ++n) EXPECT_NEAR(left[n], right[n], 1e-6);
}

TEST(Cluster, TakesRaggedBatches) {
  const Problem whole(500, DType::f64);
  const Ragged ragged = {.q_offsets = {0, 70, 70, 300, 500}, .k_offsets = {0, 10, 200, 310, 500}};
  const AttentionOptions options = {.bias = alibi(),
                                    .mask = causal_offsets({3, 0, 5, 1}),
                                    .dropout = Dropout{0.3, 8},
                                    .sinks = {0, 1, 2, 3},
                                    .ragged = ragged};
  const AttentionResult expected = attention(whole.q, whole.k, whole.v, options);
  for (const SequenceShares& shares :
       {SequenceShares::zig_zag(500, 3), SequenceShares::striped(500, 4), SequenceShares::contiguous(500, 2)}) {
    AttentionResult got = {.out = Tensor(DType::f64, expected.out.shape()),
                           .lse = Tensor(DType::f64, expected.lse.shape())};
    std::mutex mutex;
    run_ranks(shares.ranks(), [&](Transport& transport) {
      const int rank = transport.rank();
      const AttentionResult own = attention(transport, same(shares), shares.rows_of(whole.q, rank),
                                            shares.rows_of(whole.k, rank), shares.rows_of(whole.v, rank), options);
      const std::scoped_lock lock(mutex);
      shares.put_rows(own.out, rank, got.out);
      shares.put_rows(own.lse, rank, got.lse);
    });
    const auto near = [](const Tensor& a, const Tensor& b) {
      const std::vector<double> left = a.to_vector();
      const std::vector<double> right = b.to_vector();
      for (std::size_t n = 0; n < left.size(); ++n) {
        if (left[n] != right[n] && !(std::fabs(left[n] - right[n]) <= 0x1p-44)) return false;
      }
      return true;
    };
    EXPECT_TRUE(near(got.out, expected.out));
    EXPECT_TRUE(near(got.lse, expected.lse));
  }
}

std::int64_t bytes_sent(const Mask& mask, const ClusterCall& call, const Problem& whole) {
  std::int64_t bytes = 0;
  over_ranks(whole, call, {.mask = mask}, {}, [&](Transport& transport) { bytes += transport.sent().bytes; });
  return bytes;
}

TEST(Cluster, SendsOnlyTheRowsThatAreSeen) {
  const Problem whole(4096);
  const ClusterCall call = same(SequenceShares::contiguous(4096, 4));
  constexpr std::int64_t kRow = 2 * (16 + 8) * 4;  // of both key heads
  const std::int64_t control = bytes_sent(documents({1024, 1024, 1024, 1024}), call, whole);
  EXPECT_LT(control, 64 * 1024);
  // Every rank needs every other's 1,024 rows.
  EXPECT_NEAR(static_cast<double>(bytes_sent(all(), call, whole)), 4 * 3 * 1024 * kRow, 64 * 1024);
  // Rank r has those of the r before it.
  EXPECT_NEAR(static_cast<double>(bytes_sent(causal(), call, whole)), (1 + 2 + 3) * 1024 * kRow, 64 * 1024);
  // The last 128 rows of the rank before.
  EXPECT_NEAR(static_cast<double>(bytes_sent(causal() & window(100), call, whole)), 3 * 128 * kRow, 64 * 1024);
}

TEST(Cluster, NamesWhatRanksDisagreeIn) {
  const Problem whole(40);
  const SequenceShares shares = SequenceShares::contiguous(40, 3);
  const auto errors_with = [&](const std::function<void(ClusterCall&, AttentionOptions&)>& changed) {
    return errors_of_ranks(3,
                           [&](Transport& transport) {
                             ClusterCall call = same(shares);
                             AttentionOptions options = {.mask = causal()};
                             if (transport.rank() == 2) changed(call, options);
                             const int rank = transport.rank();
                             (void)attention(transport, call, shares.rows_of(whole.q, rank),
                                             shares.rows_of(whole.k, rank), shares.rows_of(whole.v, rank), options);
                           },
                           {.hosts = {"a", "b", "c"}});
  };
  EXPECT_THAT(errors_with([](ClusterCall& call, AttentionOptions&) { call.step = 7; }),
              Each(HasSubstr("attention: ranks differ in step: 0 on rank 0 (a), 7 on rank 2 (c)")));
  EXPECT_THAT(errors_with([](ClusterCall&, AttentionOptions& options) { options.scale = 0.5; }),
              Each(HasSubstr("attention: ranks differ in scale: none on rank 0 (a), 0.5 on rank 2 (c)")));
  EXPECT_THAT(errors_with([](ClusterCall&, AttentionOptions& options) { options.mask = causal() & window(3); }),
              Each(HasSubstr("ranks differ in mask: causal #")));
  EXPECT_THAT(errors_with([](ClusterCall&, AttentionOptions& options) {
                options.mask = predicate("causal", [](const Place&, const MaskShape&) { return true; });
              }),
              Each(HasSubstr("ranks differ in mask")));
  EXPECT_THAT(errors_with([](ClusterCall&, AttentionOptions& options) { options.target = "reference"; }),
              Each(HasSubstr("ranks differ in target")));
  EXPECT_THAT(errors_with([](ClusterCall& call, AttentionOptions&) { call.bits = Bits::as_one; }),
              Each(HasSubstr("attention: ranks differ in bits: of the ring on rank 0 (a), as one on rank 2 (c)")));
  // The same rows of this rank, but not of the others.
  EXPECT_THAT(errors_with([](ClusterCall& call, AttentionOptions&) {
                call.keys =
                    SequenceShares({{{.first = 13, .count = 13}}, {{.count = 13}}, {{.first = 26, .count = 14}}});
              }),
              Each(HasSubstr("ranks differ in shares")));
}

TEST(Cluster, RefusesOnTheRankAtFaultAndTellsTheOthers) {
  const Problem whole(40);
  const SequenceShares shares = SequenceShares::contiguous(40, 2);
  const auto errors = errors_of_ranks(2, [&](Transport& transport) {
    AttentionOptions options;
    if (transport.rank() == 1) options.softcap = -1.0;
    const int rank = transport.rank();
    (void)attention(transport, same(shares), shares.rows_of(whole.q, rank), shares.rows_of(whole.k, rank),
                    shares.rows_of(whole.v, rank), options);
  });
  const std::string refusal = "attention: softcap: expected a finite number > 0, got -1";
  EXPECT_THAT(errors, ElementsAre("rank 1 (local) refuses the call: " + refusal, refusal));
}

TEST(Cluster, RefusesWhatSharesDoNotFit) {
  const Problem whole(40);
  const SequenceShares shares = SequenceShares::contiguous(40, 1);
  run_ranks(1, [&](Transport& transport) {
    const auto message = [&](const ClusterCall& call, const AttentionOptions& options) {
      return error_message([&] { (void)attention(transport, call, whole.q, whole.k, whole.v, options); });
    };
    EXPECT_EQ(message(same(SequenceShares::contiguous(40, 2)), {}),
              "attention: cluster.queries: expected shares of 1 ranks, got 2");
    EXPECT_EQ(message(same(SequenceShares::contiguous(39, 1)), {}),
              "attention: q: expected 39 rows, as rank 0 has, got [1, 4, 40, 16]");
    EXPECT_EQ(message(same(shares), {.within = {{.Tq = 40, .Tk = 40}}}),
              "attention: within: expected none: the shares say where rows lie, got 1");
    std::vector<std::byte> scratch(100);
    EXPECT_EQ(message(same(shares), {.scratch = scratch}),
              "attention: scratch: expected none: each window needs other scratch, got some");
    const TilePlan plan(all(), {.Tq = 40, .Tk = 40});
    EXPECT_EQ(message(same(shares), {.plan = &plan}),
              "attention: plan: expected none: each window has one of its own, got one");
  });
}

TEST(Cluster, EndsWhereARankIsLostInTheMiddle) {
  const Problem whole(600);
  const ClusterCall call = same(SequenceShares::contiguous(600, 3));
  for (const std::int64_t after : {20, 40, 60}) {
    const auto errors = errors_of_ranks(3,
                                        [&](Transport& transport) {
                                          const int rank = transport.rank();
                                          for (int n = 0; n < 20; ++n) {
                                            (void)attention(transport, call, call.queries.rows_of(whole.q, rank),
                                                            call.keys.rows_of(whole.k, rank),
                                                            call.keys.rows_of(whole.v, rank), {.threads = 1});
                                          }
                                        },
                                        {.hosts = {"a", "b", "c"},
                                         .patience = 1000ms,
                                         .faults = {{.kind = LocalFault::Kind::stopped, .rank = 1, .after = after}}});
    for (const int other : {0, 2}) {
      EXPECT_THAT(errors[static_cast<std::size_t>(other)], HasSubstr("rank 1 (b) has given no sign of life"));
    }
  }
}

}  // namespace
}  // namespace qkv::testing_cluster::attention_test
