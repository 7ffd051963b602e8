#include "cluster/cluster_case.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>

#include "cases/judge.h"
#include "cases/windows.h"
#include "cluster/ranks.h"

namespace qkv::testing_cluster {
namespace {

using cases::Case;
using cases::Inputs;
using cases::Placed;
using cases::Upstream;
using cases::Written;

SequenceShares shares_over(std::int64_t T, int ranks, std::mt19937_64& engine) {
  const auto way = engine() % 4;
  if (way == 0) return SequenceShares::contiguous(T, ranks);
  if (way == 1) return SequenceShares::zig_zag(T, ranks);
  if (way == 2) return SequenceShares::striped(T, ranks);
  std::vector<std::int64_t> lengths;
  std::int64_t left = T;
  for (int rank = 0; rank + 1 < ranks; ++rank) {
    lengths.push_back(engine() % 3 == 0 ? 0
                                        : static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(left + 1)));
    left -= lengths.back();
  }
  lengths.push_back(left);
  return SequenceShares::contiguous(lengths);
}

// The numbers of a case in `dtype`, whole.
struct Numbers {
  Tensor q;
  Tensor k;
  Tensor v;

  Numbers(const Inputs& inputs, DType dtype)
      : q(inputs.q.view(), dtype), k(inputs.k.view(), dtype), v(inputs.v.view(), dtype) {}
};

AttentionOptions options_of(const Case& one, const Inputs& inputs, std::string_view target) {
  AttentionOptions options = inputs.options;
  options.target = target;
  options.threads = one.threads;
  if (one.seed % 4 == 2) options.plans = std::make_shared<MaskPlans>();
  return options;
}

Written run_forward(std::string_view target, const Case& one, const Inputs& inputs, int ranks, DType dtype) {
  const ClusterCall call = shares_of(one, ranks);
  const Numbers whole(inputs, dtype);
  const AttentionOptions options = options_of(one, inputs, target);
  const DType sums = dtype == DType::f64 ? DType::f64 : DType::f32;
  Written written = {.out = Placed(dtype, {one.B, one.Hq(), one.Tq, one.Dv}, one.out),
                     .lse = Placed(sums, {one.B, one.Hq(), one.Tq}, one.out)};
  std::mutex mutex;
  run_ranks(ranks, [&](Transport& transport) {
    const int rank = transport.rank();
    const AttentionResult result =
        attention(transport, call, call.queries.rows_of(whole.q, rank), call.keys.rows_of(whole.k, rank),
                  call.keys.rows_of(whole.v, rank), options);
    const std::scoped_lock lock(mutex);
    call.queries.put_rows(result.out, rank, written.out.view());
    call.queries.put_rows(result.lse, rank, written.lse.view());
  });
  return written;
}

std::string differing(const TensorView& got, const TensorView& expected, std::string_view name) {
  const std::vector<double> left = got.to_vector();
  const std::vector<double> right = expected.to_vector();
  double size = 0;
  for (const double value : right) size = std::max(size, std::isfinite(value) ? std::fabs(value) : 0);
  for (std::size_t n = 0; n < left.size(); ++n) {
    const bool same = left[n] == right[n] || (std::isnan(left[n]) && std::isnan(right[n]));
    if (!same && !(std::fabs(left[n] - right[n]) <= 0x1p-36 * size)) {
      return "reference: " + std::string(name) + " of ranks is not that of one machine";
    }
  }
  return {};
}

// The reference over ranks, beside the reference of one machine.
std::string reference_fault(const Case& one, int ranks) {
  // An infinite value of a weight that is 0 where other keys are beside it.
  const bool judged = one.specials == 0 && one.scale != cases::Scale::large && one.values != cases::Values::huge_q &&
                      one.values != cases::Values::huge_k && one.values != cases::Values::outlier;
  if (!judged) return {};
  const Inputs inputs = Inputs::of(one);
  const Written got = run_forward("reference", one, inputs, ranks, DType::f64);
  const AttentionResult expected = cases::run_reference(inputs);
  const std::string fault = differing(got.out.view(), expected.out, "out");
  return fault.empty() ? differing(got.lse.view(), expected.lse, "lse") : fault;
}

AttentionGradients run_backward(std::string_view target, const Case& one, const Inputs& inputs,
                                const Upstream& upstream, int ranks) {
  const ClusterCall call = shares_of(one, ranks);
  const Numbers whole(inputs, one.dtype);
  const AttentionOptions options = options_of(one, inputs, target);
  AttentionGradients all = {.d_q = Tensor(one.dtype, whole.q.shape()),
                            .d_k = Tensor(one.dtype, whole.k.shape()),
                            .d_v = Tensor(one.dtype, whole.v.shape()),
                            .d_bias = {},
                            .d_sinks = {}};
  std::mutex mutex;
  run_ranks(ranks, [&](Transport& transport) {
    const int rank = transport.rank();
    const auto of_queries = [&](const TensorView& x) { return call.queries.rows_of(x, rank); };
    const auto of_keys = [&](const TensorView& x) { return call.keys.rows_of(x, rank); };
    const Tensor d_lse = of_queries(upstream.d_lse.view());
    BackwardOptions backward;
    if (upstream.has_d_lse) backward.d_lse = d_lse;
    AttentionGradients own = attention_backward(transport, call, of_queries(upstream.d_out.view()), of_queries(whole.q),
                                                of_keys(whole.k), of_keys(whole.v), of_queries(upstream.out.view()),
                                                of_queries(upstream.lse.view()), options, backward);
    const std::scoped_lock lock(mutex);
    call.queries.put_rows(own.d_q, rank, all.d_q);
    call.keys.put_rows(own.d_k, rank, all.d_k);
    call.keys.put_rows(own.d_v, rank, all.d_v);
    if (rank != ranks - 1) return;
    all.d_bias = std::move(own.d_bias);
    all.d_sinks = std::move(own.d_sinks);
  });
  return all;
}

}  // namespace

ClusterCall shares_of(const Case& one, int ranks) {
  std::mt19937_64 engine(one.seed + 7);
  SequenceShares queries = shares_over(one.Tq, ranks, engine);
  SequenceShares keys = shares_over(one.Tk, ranks, engine);
  if (one.Tq == one.Tk && engine() % 2 == 0) keys = queries;
  return {.queries = std::move(queries), .keys = std::move(keys)};
}

std::string cluster_fault(const Case& one, int ranks) {
  const std::string fault = reference_fault(one, ranks);
  if (!fault.empty()) return fault;
  return cases::merged_fault_by_row(one, [&](std::string_view target, const Inputs& inputs) {
    return run_forward(target, one, inputs, ranks, one.dtype);
  });
}

std::string cluster_gradients_fault(const Case& one, int ranks) {
  return cases::merged_gradients_fault(
      one, [&](std::string_view target, const Inputs& inputs, const Upstream& upstream) {
        cases::AllowedGradients all = {.gradients = cases::named(run_backward(target, one, inputs, upstream, ranks)),
                                       .slack = {}};
        for (const cases::Gradient& gradient : all.gradients) {
          double largest = 0;
          for (const double value : gradient.values) largest = std::max(largest, std::fabs(value));
          all.slack.push_back(0x1p-24 * 2 * ranks * largest);
        }
        return all;
      });
}

}  // namespace qkv::testing_cluster
