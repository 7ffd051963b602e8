#include "qkv/cluster/attention.h"

#include <algorithm>
#include <array>
#include <limits>

#include "attention/outputs.h"
#include "cluster/block_windows.h"
#include "cluster/call.h"
#include "cluster/ring.h"

namespace qkv {
namespace {

using cluster::Block;
using cluster::RankCall;

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// The results of this rank's queries over the blocks that were added.
class MergedRows {
 public:
  explicit MergedRows(const RankCall& call)
      : call_(call),
        sums_(lse_dtype(call.q().dtype())),
        out_(sums_, {call.q().dim(0), call.q().dim(1), call.q().dim(2), call.v().dim(3)}),
        lse_(DType::f64, {call.q().dim(0), call.q().dim(1), call.q().dim(2)}) {
    // A sink is a part of its own, which has no value.
    const std::vector<double>& sinks = call.options().sinks;
    const MutableTensorView lse = lse_;
    for (std::int64_t b = 0; b < lse.dim(0); ++b) {
      for (std::int64_t h = 0; h < lse.dim(1); ++h) {
        const std::vector<double> logits(static_cast<std::size_t>(lse.dim(2)),
                                         sinks.empty() ? kNothing : sinks[static_cast<std::size_t>(h)]);
        lse.store_row(std::array{b, h}, logits);
      }
    }
  }

  void add(const Block& block) {
    cluster::for_each_window(call_, block, [&](const cluster::BlockWindow& window) { add_window(window); });
  }

  [[nodiscard]] AttentionResult result() && {
    return {.out = out_.to(call_.q().dtype()), .lse = cluster::stored_lse(lse_, sums_)};
  }

 private:
  void add_window(const cluster::BlockWindow& window) {
    const auto& [begin, end] = window.rows;
    const TensorView q = call_.q().slice(2, begin, end);
    Tensor out(sums_, {q.dim(0), q.dim(1), q.dim(2), window.v.dim(3)});
    Tensor lse(DType::f64, {q.dim(0), q.dim(1), q.dim(2)});
    attention_into(out, lse, q, window.k, window.v, cluster::options_of(call_.whole(), window.queries, window.keys));
    const MutableTensorView sum = MutableTensorView(out_).slice(2, begin, end);
    const MutableTensorView sum_lse = MutableTensorView(lse_).slice(2, begin, end);
    const std::array parts = {PartialAttention{sum, sum_lse}, PartialAttention{out, lse}};
    merge_attention_into(sum, sum_lse, parts, call_.options().threads);
  }

  const RankCall& call_;
  DType sums_;
  Tensor out_;
  Tensor lse_;
};

AttentionResult run_ring(const RankCall& call) {
  const ClusterCall& shares = call.cluster();
  const cluster::Routes routes(call.whole(), shares.queries, shares.keys);
  cluster::Ring ring(call.transport(), routes, shares.keys, call.k(), call.v());
  MergedRows rows(call);
  while (const Block* block = ring.next()) rows.add(*block);
  ring.finish();
  return std::move(rows).result();
}

AttentionResult run_as_one(const RankCall& call) {
  const cluster::WholeKeys keys = cluster::gathered_keys(call);
  const Tensor q = cluster::gathered_rows(call, call.q());
  const AttentionResult whole = attention(q, keys.k, keys.v, call.options());
  const SequenceShares& queries = call.cluster().queries;
  const int rank = call.transport().rank();
  return {.out = queries.rows_of(whole.out, rank), .lse = queries.rows_of(whole.lse, rank)};
}

}  // namespace

AttentionResult attention(Transport& transport, const ClusterCall& cluster, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionOptions& options) {
  std::optional<RankCall> call;
  cluster::agree(transport, "attention",
                 [&] { return call.emplace("attention", transport, cluster, q, k, v, options).digest(); });
  const bool as_one = cluster.bits == Bits::as_one || transport.size() == 1;
  return cluster::or_give_up(transport, [&] { return as_one ? run_as_one(*call) : run_ring(*call); });
}

}  // namespace qkv
