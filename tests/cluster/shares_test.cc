// Which rank holds which positions.
#include "qkv/cluster/shares.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "cluster/ranks.h"
#include "core/error_message.h"

namespace qkv::testing_cluster::shares_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> positions_of(const SequenceShares& shares, int rank) {
  std::vector<std::int64_t> all;
  for (std::int64_t row = 0; row < shares.rows(rank); ++row) {
    all.push_back(shares.position_of({.rank = rank, .row = row}));
  }
  return all;
}

TEST(Shares, GiveEachRankItsPositions) {
  EXPECT_THAT(positions_of(SequenceShares::contiguous(7, 3), 2), ElementsAre(4, 5, 6));
  EXPECT_THAT(positions_of(SequenceShares::contiguous({2, 0, 3}), 2), ElementsAre(2, 3, 4));
  EXPECT_THAT(positions_of(SequenceShares::contiguous({2, 0, 3}), 1), IsEmpty());
  EXPECT_THAT(positions_of(SequenceShares::zig_zag(8, 2), 0), ElementsAre(0, 1, 6, 7));
  EXPECT_THAT(positions_of(SequenceShares::zig_zag(8, 2), 1), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(positions_of(SequenceShares::striped(8, 3), 1), ElementsAre(1, 4, 7));
  EXPECT_THAT(positions_of(SequenceShares::by_documents({3, 4, 2}, 2), 0), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(positions_of(SequenceShares::by_documents({3, 4, 2}, 2), 1), ElementsAre(0, 1, 2, 7, 8));
  EXPECT_THAT(positions_of(SequenceShares::striped(2, 5), 3), IsEmpty());
  EXPECT_EQ(SequenceShares().T(), 0);
}

TEST(Shares, CutAtTilesWherePiecesAreLong) {
  EXPECT_EQ(SequenceShares::contiguous(64 * 100 + 5, 3).pieces(1).front(), (SharePiece{.first = 2112, .count = 2112}));
  EXPECT_EQ(SequenceShares::contiguous(64 * 6, 3).pieces(1).front(), (SharePiece{.first = 128, .count = 128}));
  EXPECT_EQ(SequenceShares::zig_zag(128, 1).pieces(0), (std::vector<SharePiece>{{.first = 0, .count = 128}}));
}

std::vector<SequenceShares> many_shares() {
  std::vector<SequenceShares> all;
  for (const std::int64_t T : {0, 1, 5, 64, 1000, 5000}) {
    for (const int ranks : {1, 2, 3, 8}) {
      all.push_back(SequenceShares::contiguous(T, ranks));
      all.push_back(SequenceShares::zig_zag(T, ranks));
      all.push_back(SequenceShares::striped(T, ranks));
      all.push_back(SequenceShares::planned(causal() & window(100), {.Tq = T, .Tk = T}, ranks));
    }
  }
  const std::vector<std::vector<SharePiece>> pieces = {{{.first = 3, .step = 2, .count = 2}, {.first = 0, .count = 1}},
                                                       {},
                                                       {{.first = 4, .count = 1}, {.first = 1, .count = 2}}};
  all.emplace_back(pieces);
  return all;
}

TEST(Shares, LeadFromAPositionToItsRowAndBack) {
  for (const SequenceShares& shares : many_shares()) {
    std::int64_t rows = 0;
    for (int rank = 0; rank < shares.ranks(); ++rank) rows += shares.rows(rank);
    EXPECT_EQ(rows, shares.T());
    for (std::int64_t position = 0; position < shares.T(); ++position) {
      ASSERT_EQ(shares.position_of(shares.place_of(position)), position);
    }
  }
}

TEST(Shares, NameWhatTheyWant) {
  const auto message = [](std::vector<std::vector<SharePiece>> pieces) {
    return error_message([&] { SequenceShares shares(std::move(pieces)); });
  };
  EXPECT_EQ(message({}), "SequenceShares: pieces: expected those of one rank or more, got of none");
  EXPECT_EQ(message({{{.count = 3}}, {{.first = 2, .count = 2}}}),
            "SequenceShares: pieces: expected each position from 0 to 4 once, got 2 twice");
  EXPECT_EQ(message({{{.count = 3}}, {{.first = 4, .count = 2}}}),
            "SequenceShares: pieces: expected each position from 0 to 4 once, got 5");
  EXPECT_EQ(message({{{.step = 0, .count = 3}}}),
            "SequenceShares: pieces: expected first >= 0, step >= 1 and count >= 0, got first 0, step 0, count 3");
  EXPECT_EQ(error_message([] { (void)SequenceShares::striped(-1, 2); }),
            "SequenceShares::striped: T: expected 0 or more, got -1");
  EXPECT_EQ(error_message([] { (void)SequenceShares::zig_zag(4, 0); }),
            "SequenceShares::zig_zag: ranks: expected 1 or more, got 0");
  const SequenceShares shares = SequenceShares::contiguous(5, 2);
  EXPECT_EQ(error_message([&] { (void)shares.rows(2); }), "SequenceShares: rank: expected a rank from 0 to 1, got 2");
  EXPECT_EQ(error_message([&] { (void)shares.place_of(5); }),
            "SequenceShares::place_of: position: expected 0 to 4, got 5");
  EXPECT_EQ(error_message([&] { (void)shares.position_of({.rank = 1, .row = 3}); }),
            "SequenceShares::position_of: place: expected a row below 3 of rank 1, got 3");
  EXPECT_EQ(error_message([&] { (void)shares.rows_of(Tensor(DType::f32, {1, 1, 4, 2}), 0); }),
            "SequenceShares::rows_of: whole: expected 5 places on axis 2, got [1, 1, 4, 2]");
}

TEST(Shares, CutATensorAndPutItTogether) {
  Generator random(3);
  for (const SequenceShares& shares : many_shares()) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
      const Tensor whole = random.randn({2, 3, shares.T(), 4}).to(dtype);
      Tensor again(dtype, whole.shape());
      for (int rank = 0; rank < shares.ranks(); ++rank) {
        const Tensor rows = shares.rows_of(whole, rank);
        EXPECT_EQ(rows.dim(2), shares.rows(rank));
        shares.put_rows(rows, rank, again);
      }
      EXPECT_EQ(again.to_vector(), whole.to_vector());
    }
  }
}

TEST(Shares, ScatterAndGatherOverRanks) {
  Generator random(4);
  const SequenceShares shares = SequenceShares::zig_zag(10, 3);
  const Tensor whole = random.randn({2, 3, 10, 4});
  Tensor again(DType::f32, whole.shape());
  run_ranks(3, [&](Transport& transport) {
    Tensor rows(DType::f32, {2, 3, shares.rows(transport.rank()), 4});
    scatter(transport, 1, shares, transport.rank() == 1 ? whole : Tensor(), rows);
    EXPECT_EQ(rows.to_vector(), shares.rows_of(whole, transport.rank()).to_vector());
    Tensor nothing;
    gather(transport, 2, shares, rows, transport.rank() == 2 ? MutableTensorView(again) : MutableTensorView(nothing));
  });
  EXPECT_EQ(again.to_vector(), whole.to_vector());
}

// The largest number of tiles of a rank over the mean.
double evenness(const Mask& mask, const MaskShape& shape, int ranks) {
  const SequenceShares shares = SequenceShares::planned(mask, shape, ranks);
  const std::vector<std::int64_t> tiles = tiles_of_ranks(mask, shape, shares, shares);
  const auto sum = static_cast<double>(std::reduce(tiles.begin(), tiles.end()));
  return static_cast<double>(*std::ranges::max_element(tiles)) * ranks / sum;
}

std::vector<std::int64_t> random_lengths(std::int64_t T) {
  std::mt19937_64 engine(5);
  std::vector<std::int64_t> lengths;
  while (T > 0) {
    lengths.push_back(std::min<std::int64_t>(T, 100 + static_cast<std::int64_t>(engine() % 4000)));
    T -= lengths.back();
  }
  return lengths;
}

class Planned : public testing::TestWithParam<int> {};

TEST_P(Planned, HaveTilesWithinTwoPercent) {
  const int ranks = GetParam();
  const std::int64_t T = std::max<std::int64_t>(16'384, 1024 * ranks);
  const MaskShape shape = {.Tq = T, .Tk = T};
  for (const char* const text : {"causal", "causal & window(1024)", "window(512)", "causal | prefix(2000)", "all"}) {
    EXPECT_LE(evenness(parse_mask(text), shape, ranks), 1.02) << text;
  }
  EXPECT_LE(evenness(documents(random_lengths(T)), shape, ranks), 1.02);
  EXPECT_LE(evenness(causal() & documents(random_lengths(T)), shape, ranks), 1.02);
}

INSTANTIATE_TEST_SUITE_P(Shares, Planned, testing::Values(2, 3, 4, 8, 16, 64), testing::PrintToStringParamName());

TEST(Shares, AreContiguousWhereThatIsEvenAndZigZagUnderCausal) {
  const MaskShape shape = {.Tq = 8192, .Tk = 8192};
  EXPECT_EQ(SequenceShares::planned(all(), shape, 4), SequenceShares::contiguous(8192, 4));
  EXPECT_EQ(SequenceShares::planned(causal() & window(64), shape, 4), SequenceShares::contiguous(8192, 4));
  EXPECT_EQ(SequenceShares::planned(causal(), shape, 4).rows(0), 2048);
  EXPECT_LE(SequenceShares::planned(causal(), shape, 4).pieces(0).size(), 2U);
}

TEST(Shares, CountTilesOfEveryHead) {
  const SequenceShares shares = SequenceShares::contiguous(256, 2);
  EXPECT_THAT(tiles_of_ranks(causal(), {.B = 2, .H = 3, .Tq = 256, .Tk = 256}, shares, shares), ElementsAre(18, 42));
}

}  // namespace
}  // namespace qkv::testing_cluster::shares_test
