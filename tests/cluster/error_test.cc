// Results over ranks are as near those of f64 as results of one rank.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <mutex>

#include "cluster/ranks.h"
#include "qkv/cluster/attention.h"

namespace qkv::testing_cluster::error_test {
namespace {

constexpr std::int64_t kT = 1024;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kD = 64;

struct Numbers {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor d_out;

  Numbers(std::uint64_t seed, DType dtype, double size) {
    Generator random(seed);
    const Shape shape = {1, kHeads, kT, kD};
    Tensor wide = random.randn(shape, DType::f64);
    for (double& value : wide.values<double>()) value *= size;
    q = wide.to(dtype);
    k = random.randn(shape, DType::f64).to(dtype);
    v = random.randn(shape, DType::f64).to(dtype);
    d_out = random.randn(shape, DType::f64).to(dtype);
  }
};

struct Results {
  Tensor out;
  Tensor d_q;
  Tensor d_k;
  Tensor d_v;
};

Results over_ranks(const Numbers& x, const AttentionOptions& options, int ranks) {
  const SequenceShares shares = SequenceShares::zig_zag(kT, ranks);
  const ClusterCall call = {.queries = shares, .keys = shares};
  Results all;
  for (Tensor* const one : {&all.out, &all.d_q, &all.d_k, &all.d_v}) *one = Tensor(x.q.dtype(), x.q.shape());
  std::mutex mutex;
  run_ranks(ranks, [&](Transport& transport) {
    const int rank = transport.rank();
    const auto rows = [&](const Tensor& whole) { return shares.rows_of(whole, rank); };
    const Tensor q = rows(x.q);
    const Tensor k = rows(x.k);
    const Tensor v = rows(x.v);
    const AttentionResult result = attention(transport, call, q, k, v, options);
    const AttentionGradients gradients =
        attention_backward(transport, call, rows(x.d_out), q, k, v, result.out, result.lse, options);
    const std::scoped_lock lock(mutex);
    shares.put_rows(result.out, rank, all.out);
    shares.put_rows(gradients.d_q, rank, all.d_q);
    shares.put_rows(gradients.d_k, rank, all.d_k);
    shares.put_rows(gradients.d_v, rank, all.d_v);
  });
  return all;
}

// The reference's answer to the same numbers.
Results exact(const Numbers& x, const AttentionOptions& options) {
  const Tensor q = x.q.to(DType::f64);
  const Tensor k = x.k.to(DType::f64);
  const Tensor v = x.v.to(DType::f64);
  const AttentionResult result = attention(q, k, v, options);
  AttentionGradients gradients = attention_backward(x.d_out.to(DType::f64), q, k, v, result.out, result.lse, options);
  return {.out = result.out, .d_q = gradients.d_q, .d_k = gradients.d_k, .d_v = gradients.d_v};
}

double square_error(const Tensor& got, const Tensor& expected) {
  const std::vector<double> left = got.to_vector();
  const std::vector<double> right = expected.to_vector();
  double sum = 0;
  for (std::size_t n = 0; n < left.size(); ++n) sum += (left[n] - right[n]) * (left[n] - right[n]);
  return sum;
}

// In f32 one rank sums rows of large scores again in its backward pass, whose lse is too coarse for them. No part can.
double most(DType dtype, double size, bool is_gradient) {
  return is_gradient && dtype == DType::f32 && size > 1 ? 1.15 : 1.05;
}

class Errors : public testing::TestWithParam<std::tuple<DType, double>> {};

// The root of the mean square of the errors, over that of one rank.
TEST_P(Errors, DoNotGrowWithRanks) {
  const auto [dtype, size] = GetParam();
  const AttentionOptions options = {.mask = causal()};
  const Numbers x(7, dtype, size);
  const Results expected = exact(x, options);
  const Results one = over_ranks(x, options, 1);
  const std::map<std::string, Tensor Results::*> named = {
      {"out", &Results::out}, {"d_q", &Results::d_q}, {"d_k", &Results::d_k}, {"d_v", &Results::d_v}};
  for (const int ranks : {2, 3, 4, 8}) {
    const Results got = over_ranks(x, options, ranks);
    for (const auto& [name, which] : named) {
      const double ratio =
          std::sqrt(square_error(got.*which, expected.*which) / square_error(one.*which, expected.*which));
      EXPECT_LE(ratio, most(dtype, size, name != "out")) << name << " over " << ranks << " ranks";
      RecordProperty(name + "_" + std::to_string(ranks), std::to_string(ratio));
    }
  }
}

// Of scores around 1 and around 4.
INSTANTIATE_TEST_SUITE_P(Cluster, Errors,
                         testing::Combine(testing::Values(DType::f32, DType::bf16, DType::f16),
                                          testing::Values(1.0, 4.0)),
                         [](const auto& chosen) {
                           return std::string(name_of(std::get<0>(chosen.param))) + "_" +
                                  std::to_string(static_cast<int>(std::get<1>(chosen.param)));
                         });

}  // namespace
}  // namespace qkv::testing_cluster::error_test
