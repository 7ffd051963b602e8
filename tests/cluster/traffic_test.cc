// What the ring is said to send is what it sends.
#include "qkv/cluster/traffic.h"

#include <gmock/gmock.h>

#include "cluster/ranks.h"
#include "core/error_message.h"
#include "qkv/cluster/attention.h"
#include "qkv/tile_plan.h"

namespace qkv::testing_cluster::traffic_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;

struct Masked {
  const char* name;
  Mask mask;
};

std::vector<Masked> masks_of(std::int64_t T) {
  return {{"all", all()},
          {"causal", causal()},
          {"window", causal() & window(T / 8)},
          {"documents", documents({T / 4 + 7, T / 2, T - T / 4 - T / 2 - 7})},
          {"causal documents", causal() & documents({T / 8, T / 2, T - T / 8 - T / 2})},
          {"prefix", causal() | prefix(T / 16)},
          {"strided", causal() & (window(64) | strided(512))},
          {"none", none()}};
}

// What ranks have sent over a call with this many batch entries.
std::vector<Sent> sent_by(const Mask& mask, const SequenceShares& shares, std::int64_t B, DType dtype) {
  std::vector<Sent> sent(static_cast<std::size_t>(shares.ranks()));
  AttentionOptions options;
  options.mask = mask;
  options.threads = 1;
  const ClusterCall call = {.queries = shares, .keys = shares};
  run_ranks(shares.ranks(), [&](Transport& transport) {
    const std::int64_t rows = shares.rows(transport.rank());
    (void)attention(transport, call, Tensor(dtype, {B, 4, rows, 8}), Tensor(dtype, {B, 2, rows, 8}),
                    Tensor(dtype, {B, 2, rows, 16}), options);
    sent[static_cast<std::size_t>(transport.rank())] = transport.sent();
  });
  return sent;
}

// A call without batch entries agrees on as much as one with some, and sends no block.
void expect_counted(const Masked& masked, const SequenceShares& shares, DType dtype) {
  constexpr std::int64_t B = 2;
  const RingTraffic traffic =
      ring_traffic(masked.mask, {.B = B, .H = 4, .Tq = shares.T(), .Tk = shares.T()}, shares, shares);
  const std::vector<Sent> agreed = sent_by(masked.mask, shares, 0, dtype);
  const std::vector<Sent> sent = sent_by(masked.mask, shares, B, dtype);
  const auto row = static_cast<std::int64_t>(B * 2 * (8 + 16) * size_of(dtype));
  for (std::size_t rank = 0; rank < sent.size(); ++rank) {
    EXPECT_EQ(sent[rank].messages - agreed[rank].messages, traffic.ranks[rank].messages) << masked.name << rank;
    EXPECT_EQ(sent[rank].bytes - agreed[rank].bytes, traffic.ranks[rank].rows * row) << masked.name << rank;
  }
}

class Traffic : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Cluster, Traffic, testing::Values(2, 3, 4), testing::PrintToStringParamName());

TEST_P(Traffic, IsWhatTheRingSends) {
  constexpr std::int64_t T = 1000;
  for (const Masked& masked : masks_of(T)) {
    for (const SequenceShares& shares :
         {SequenceShares::planned(masked.mask, {.Tq = T, .Tk = T}, GetParam()), SequenceShares::striped(T, GetParam()),
          SequenceShares::contiguous(T, GetParam()), SequenceShares::zig_zag(T, GetParam())}) {
      expect_counted(masked, shares, DType::f32);
    }
    expect_counted(masked, SequenceShares::contiguous(T, GetParam()), DType::bf16);
  }
}

TEST_P(Traffic, IsOfSharesWithoutRows) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(GetParam()), 0);
  lengths.back() = 200;
  expect_counted({"causal", causal()}, SequenceShares::contiguous(lengths), DType::f32);
  expect_counted({"causal", causal()}, SequenceShares::contiguous(1, GetParam()), DType::f32);
}

// No way of sending has fewer rows: of each key that a query of another rank sees, one for each such rank.
std::int64_t least_rows(const Mask& mask, const SequenceShares& shares) {
  const std::int64_t T = shares.T();
  const MaskShape shape = {.Tq = T, .Tk = T};
  std::int64_t rows = 0;
  for (int rank = 0; rank < shares.ranks(); ++rank) {
    std::vector<std::uint64_t> seen(static_cast<std::size_t>((T + 63) / 64), 0);
    for (std::int64_t row = 0; row < shares.rows(rank); ++row) {
      const std::int64_t i = shares.position_of({.rank = rank, .row = row});
      for (std::int64_t j = 0; j < T; j += 64) {
        const auto count = static_cast<int>(std::min<std::int64_t>(64, T - j));
        seen[static_cast<std::size_t>(j / 64)] |= mask.row_bits({.i = i, .j = j}, count, shape);
      }
    }
    for (std::int64_t j = 0; j < T; ++j) {
      const bool is_seen = (seen[static_cast<std::size_t>(j / 64)] >> (j % 64) & 1) != 0;
      rows += is_seen && shares.place_of(j).rank != rank ? 1 : 0;
    }
  }
  return rows;
}

double over_least(const Masked& masked, const SequenceShares& shares) {
  const MaskShape shape = {.Tq = shares.T(), .Tk = shares.T()};
  const std::int64_t least = least_rows(masked.mask, shares);
  const std::int64_t rows = ring_traffic(masked.mask, shape, shares, shares).rows();
  EXPECT_GE(rows, least) << masked.name;
  return least == 0 ? 1 + static_cast<double>(rows) : static_cast<double>(rows) / static_cast<double>(least);
}

TEST_P(Traffic, IsWithinFivePercentOfTheLeast) {
  constexpr std::int64_t T = 8192;
  for (const Masked& masked : masks_of(T)) {
    const std::string_view name = masked.name;
    if (name == "strided") continue;  // SendsWhatLiesBetweenSeenRows
    EXPECT_LE(over_least(masked, SequenceShares::contiguous(T, GetParam())), 1.05) << name;
    // Stretches of documents that are dealt to ranks are seen by some of them, here and there on the way round.
    const double allowed = name.ends_with("documents") ? 1.2 : 1.05;
    EXPECT_LE(over_least(masked, SequenceShares::planned(masked.mask, {.Tq = T, .Tk = T}, GetParam())), allowed)
        << name;
  }
}

// Under zig-zag shares a rank's second piece is seen by the ranks before it: blocks go round that way.
TEST(RingTraffic, GoesRoundTheWayThatSendsLess) {
  for (const int ranks : {2, 5, 8}) {
    EXPECT_DOUBLE_EQ(over_least({"causal", causal()}, SequenceShares::zig_zag(ranks * 128, ranks)), 1);
  }
  const SequenceShares shares = SequenceShares::zig_zag(512, 4);
  EXPECT_THAT(ring_traffic(causal(), {.Tq = 512, .Tk = 512}, shares, shares).ranks[1].blocks,
              ElementsAre(Field(&RingBlock::source, 1), Field(&RingBlock::source, 2), Field(&RingBlock::source, 3),
                          Field(&RingBlock::source, 0)));
}

// A block has one range of rows for each of its pieces: rows between two that are seen go with them.
TEST(RingTraffic, SendsWhatLiesBetweenSeenRows) {
  const SequenceShares shares = SequenceShares::contiguous(2048, 2);
  const Mask mask = causal() & (window(64) | strided(2048) | prefix(64));
  EXPECT_EQ(least_rows(mask, shares), 64 + 63);
  EXPECT_EQ(ring_traffic(mask, {.Tq = 2048, .Tk = 2048}, shares, shares).rows(), 1024);
}

TEST(RingTraffic, CountsTheTilesOfItsRanks) {
  for (const Masked& masked : masks_of(2048)) {
    const MaskShape shape = {.B = 2, .H = 3, .Tq = 2048, .Tk = 2048};
    for (const SequenceShares& shares : {SequenceShares::zig_zag(2048, 3), SequenceShares::striped(2048, 5)}) {
      const RingTraffic traffic = ring_traffic(masked.mask, shape, shares, shares);
      const std::vector<std::int64_t> tiles = tiles_of_ranks(masked.mask, shape, shares, shares);
      for (std::size_t rank = 0; rank < tiles.size(); ++rank) EXPECT_EQ(traffic.ranks[rank].tiles, tiles[rank]);
    }
  }
}

// The plan of a window looks at each tile by itself.
TEST(Shares, CountTilesAsPlansDo) {
  for (const std::int64_t T : {100, 640, 1500}) {
    for (const Masked& masked : masks_of(T)) {
      const SequenceShares whole = SequenceShares::contiguous(T, 1);
      const MaskShape shape = {.B = 2, .H = 3, .Tq = T, .Tk = T};
      const TileCounts counts = TilePlan(masked.mask, {.Tq = T, .Tk = T}).counts();
      EXPECT_THAT(tiles_of_ranks(masked.mask, shape, whole, whole), ElementsAre(6 * (counts.full + counts.partial)))
          << masked.name << T;
    }
  }
}

TEST(RingTraffic, OfAllIsThePlainRing) {
  const SequenceShares shares = SequenceShares::contiguous(1024, 4);
  const RingTraffic traffic = ring_traffic(all(), {.Tq = 1024, .Tk = 1024}, shares, shares);
  EXPECT_EQ(traffic.messages(), 12);
  EXPECT_EQ(traffic.rows(), 12 * 256);
  EXPECT_EQ(traffic.most_rows(), 3 * 256);
  EXPECT_EQ(traffic.tiles(), 256);
  EXPECT_EQ(traffic.most_tiles(), 64);
  EXPECT_THAT(traffic.ranks[1].blocks, ElementsAre(Field(&RingBlock::source, 1), Field(&RingBlock::source, 0),
                                                   Field(&RingBlock::source, 3), Field(&RingBlock::source, 2)));
  EXPECT_THAT(traffic.ranks[1].blocks, Each(Field(&RingBlock::tiles, 16)));
}

// In a plain ring a rank computes a block while the next one comes, and waits where that takes longer.
TEST(RingTime, OverlapsTransferWithComputing) {
  const SequenceShares shares = SequenceShares::contiguous(1024, 4);
  const RingTraffic traffic = ring_traffic(all(), {.Tq = 1024, .Tk = 1024}, shares, shares);
  const RingTime computes = ring_time(traffic, {.tile = 1, .row = 1.0 / 256, .message = 0.5});
  EXPECT_DOUBLE_EQ(computes.compute, 64);
  EXPECT_DOUBLE_EQ(computes.transfer, 3 * 1.5);
  EXPECT_DOUBLE_EQ(computes.together, 64);
  // A block is on its way for 32 s, of which 16 s are computed: 16 s, and then 32 s for each of three.
  const RingTime waits = ring_time(traffic, {.tile = 1, .row = 32.0 / 256});
  EXPECT_DOUBLE_EQ(waits.together, 3 * 32 + 16);
  EXPECT_DOUBLE_EQ(ring_time(traffic, {.row = 1.0 / 256, .message = 2}).together, 3 * 3);
  EXPECT_DOUBLE_EQ(ring_time(traffic, {}).together, 0);
}

TEST(RingTraffic, NamesWhatDoesNotFit) {
  const SequenceShares four = SequenceShares::contiguous(64, 4);
  const auto message = [](const MaskShape& shape, const SequenceShares& queries, const SequenceShares& keys) {
    return error_message([&] { (void)ring_traffic(causal(), shape, queries, keys); });
  };
  EXPECT_EQ(message({.Tq = 65, .Tk = 64}, four, four),
            "ring_traffic: queries: expected 65 positions, as shape.Tq says, got 64");
  EXPECT_EQ(message({.Tq = 64, .Tk = 65}, four, four),
            "ring_traffic: keys: expected 65 positions, as shape.Tk says, got 64");
  EXPECT_EQ(message({.Tq = 64, .Tk = 64}, four, SequenceShares::contiguous(64, 2)),
            "ring_traffic: keys: expected 4 ranks, as queries have, got 2");
  EXPECT_EQ(error_message([] { (void)ring_time({}, {.row = -1}); }),
            "ring_time: pace: expected 0 seconds or more, got -1");
}

}  // namespace
}  // namespace qkv::testing_cluster::traffic_test
