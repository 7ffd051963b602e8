// Decoding over caches that several ranks hold is decoding over one.
#include <gmock/gmock.h>

#include <cmath>

#include "cluster/ranks.h"
#include "core/error_message.h"
#include "qkv/cluster/attention.h"

namespace qkv::testing_cluster::decode_test {
namespace {

using testing::Each;
using testing::HasSubstr;

// Sequences of their own lengths, each cut into `ranks` stretches, of which some are empty.
struct Sequences {
  std::vector<Tensor> k;  // [Hk, length, D] of each
  std::vector<Tensor> v;
  std::vector<SequenceShares> shares;
  KvFormat format;

  Sequences(const std::vector<std::vector<std::int64_t>>& lengths, DType dtype)
      : format({.Hk = 2, .D = 16, .Dv = 8, .dtype = dtype}) {
    Generator random(31);
    for (const std::vector<std::int64_t>& own : lengths) {
      shares.push_back(SequenceShares::contiguous(own));
      k.push_back(random.randn({2, shares.back().T(), 16}));
      v.push_back(random.randn({2, shares.back().T(), 8}));
    }
  }

  [[nodiscard]] std::int64_t B() const { return static_cast<std::int64_t>(k.size()); }

  [[nodiscard]] KvCache whole() const {
    KvCache cache({.format = format, .B = B(), .capacity = 512});
    for (std::int64_t b = 0; b < B(); ++b) cache.append(b, k[at(b)], v[at(b)]);
    return cache;
  }

  [[nodiscard]] KvCache of_rank(int rank, const KvPages& pages) const {
    KvCache cache(pages, B());
    for (std::int64_t b = 0; b < B(); ++b) {
      cache.append(b, shares[at(b)].rows_of(k[at(b)], rank, 1), shares[at(b)].rows_of(v[at(b)], rank, 1));
    }
    return cache;
  }

  [[nodiscard]] std::vector<MatrixWindow> within(int rank, std::int64_t Tq) const {
    std::vector<MatrixWindow> windows;
    for (const SequenceShares& own : shares) {
      const std::vector<SharePiece>& pieces = own.pieces(rank);
      windows.push_back({.Tq = Tq, .Tk = own.T(), .first_j = pieces.empty() ? 0 : pieces.front().first});
    }
    return windows;
  }

 private:
  static std::size_t at(std::int64_t b) { return static_cast<std::size_t>(b); }
};

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double most = 0;
  for (std::size_t n = 0; n < left.size(); ++n) most = std::max(most, std::fabs(left[n] - right[n]));
  return most;
}

TEST(ClusterDecode, IsThatOfOneCache) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i8}) {
    const Sequences sequences({{100, 0, 60, 140}, {0, 0, 0, 5}, {200, 1, 1, 0}}, dtype);
    const Tensor q = Generator(8).randn({3, 4, 2, 16});
    const AttentionOptions options = {.bias = alibi(), .mask = causal() & window(150), .sinks = {1, 2, -1, 0}};
    const AttentionResult expected = decode(q, sequences.whole(), options);
    run_ranks(4, [&](Transport& transport) {
      const int rank = transport.rank();
      const KvPages pages({.format = sequences.format, .pages = 40, .page_tokens = 16});
      const KvCache cache = sequences.of_rank(rank, pages);
      AttentionOptions own = options;
      own.within = sequences.within(rank, 2);
      const AttentionResult got = decode(transport, q, cache, own);
      EXPECT_LE(largest_difference(got.out, expected.out), 2e-6);
      EXPECT_LE(largest_difference(got.lse, expected.lse), 4e-6);
    });
  }
}

TEST(ClusterDecode, NamesWhatDoesNotFit) {
  const Sequences sequences({{30, 20}}, DType::f32);
  const Tensor q = Generator(8).randn({1, 4, 1, 16});
  const auto errors_with = [&](const std::function<void(int, Tensor&, AttentionOptions&)>& changed) {
    return errors_of_ranks(2, [&](Transport& transport) {
      const KvPages pages({.format = sequences.format, .pages = 40, .page_tokens = 16});
      const KvCache cache = sequences.of_rank(transport.rank(), pages);
      Tensor own_q = q;
      AttentionOptions options = {.within = sequences.within(transport.rank(), 1)};
      changed(transport.rank(), own_q, options);
      (void)decode(transport, own_q, cache, options);
    });
  };
  EXPECT_THAT(errors_with([](int, Tensor&, AttentionOptions& options) { options.within[0].Tk = 60; }),
              Each(HasSubstr("decode: cache: expected 60 tokens of sequence 0 on all ranks, got 50")));
  EXPECT_THAT(errors_with([](int rank, Tensor& x, AttentionOptions&) { x.set({0, 0, 0, 0}, rank); }),
              Each(HasSubstr("decode: ranks differ in q: #")));
  EXPECT_THAT(errors_with([](int, Tensor&, AttentionOptions& options) { options.within.clear(); }),
              Each(HasSubstr("decode: within: expected where this rank's keys lie in each sequence, got none")));
  EXPECT_THAT(errors_with([](int rank, Tensor&, AttentionOptions& options) { options.within[0].Tk += rank; }),
              Each(HasSubstr("decode: ranks differ in lengths: 50 on rank 0 (local), 51 on rank 1 (local)")));
}

}  // namespace
}  // namespace qkv::testing_cluster::decode_test
