#include <algorithm>
#include <functional>
#include <utility>

#include "attention/check.h"
#include "attention/outputs.h"
#include "cluster/block_windows.h"
#include "cluster/call.h"
#include "cluster/gradient_relay.h"
#include "cluster/ring.h"
#include "cluster/rows.h"
#include "cluster/sums.h"
#include "kernels/elements.h"
#include "qkv/cluster/attention.h"

namespace qkv {
namespace {

using cluster::Block;
using cluster::BlockGradients;
using cluster::RankCall;

constexpr std::string_view kBackward = "attention_backward";

// What a backward pass is given beside q, k and v.
struct Upstream {
  TensorView d_out;
  TensorView out;
  TensorView lse;
  std::optional<TensorView> d_lse;
  GradientWants wants;

  [[nodiscard]] Upstream rows(std::int64_t begin, std::int64_t end) const {
    Upstream some = {.d_out = d_out.slice(2, begin, end),
                     .out = out.slice(2, begin, end),
                     .lse = lse.slice(2, begin, end),
                     .d_lse = std::nullopt,
                     .wants = wants};
    if (d_lse) some.d_lse = d_lse->slice(2, begin, end);
    return some;
  }
};

void check_upstream(const RankCall& call, const Upstream& upstream, const BackwardOptions& backward) {
  const Check check(kBackward);
  const TensorView& q = call.q();
  const Shape rows = {q.dim(0), q.dim(1), q.dim(2)};
  const Shape outs = rows.inserted(3, call.v().dim(3));
  const auto check_like = [&](std::string_view argument, const TensorView& x, const Shape& shape, DType dtype) {
    check.that(x.shape() == shape, argument, shape, x.shape());
    check.that(x.dtype() == dtype, argument, dtype, x.dtype());
  };
  check_like("d_out", upstream.d_out, outs, q.dtype());
  check_like("out", upstream.out, outs, q.dtype());
  check_like("lse", upstream.lse, rows, lse_dtype(q.dtype()));
  if (upstream.d_lse) check_like("d_lse", *upstream.d_lse, rows, lse_dtype(q.dtype()));
  const GradientPlaces& into = backward.into;
  check.that(!into.d_q && !into.d_k && !into.d_v, "into", "none: gradients are returned", "some");
  check.that(backward.scratch.empty(), "scratch", "none: each window needs other scratch", "some");
}

// What says the extents of a gradient with respect to `x`: without columns if it is not wanted, so that none is sent.
TensorView like(const TensorView& x, bool wanted) { return wanted ? x : x.slice(3, 0, 0); }

// The gradients of this rank's queries, keys and shared inputs over the blocks that were added.
class SummedGradients {
 public:
  SummedGradients(const RankCall& call, const Upstream& upstream)
      : call_(call), upstream_(upstream), sums_(lse_dtype(call.q().dtype())) {
    if (upstream.wants.q) d_q_ = Tensor(sums_, call.q().shape());
    add_sinks();
  }

  // Returns those of the block.
  [[nodiscard]] BlockGradients add(const Block& block) {
    BlockGradients of_block(sums_, block.rows, like(call_.k(), upstream_.wants.k), like(call_.v(), upstream_.wants.v));
    cluster::for_each_window(call_, block, [&](const cluster::BlockWindow& window) { add_window(window, of_block); });
    return of_block;
  }

  // With those of shared inputs summed over ranks. d_k and d_v are of this rank's rows.
  [[nodiscard]] AttentionGradients result(Tensor d_k, Tensor d_v) && {
    const DType dtype = call_.q().dtype();
    AttentionGradients all;
    if (upstream_.wants.q) all.d_q = d_q_.to(dtype);
    if (upstream_.wants.k) all.d_k = d_k.to(dtype);
    if (upstream_.wants.v) all.d_v = d_v.to(dtype);
    cluster::sum_over_ranks(call_.transport(), shared_);
    for (Tensor& sum : shared_) sum = sum.to(sums_);
    const bool has_sinks = upstream_.wants.sinks && !call_.options().sinks.empty();
    if (has_sinks) all.d_sinks = std::move(shared_.front());
    all.d_bias.assign(shared_.begin() + (has_sinks ? 1 : 0), shared_.end());
    return all;
  }

 private:
  [[nodiscard]] AttentionGradients run(const KeyRange& rows, const TensorView& k, const TensorView& v,
                                       const AttentionOptions& options, const GradientWants& wants,
                                       const GradientPlaces& into) const {
    const Upstream some = upstream_.rows(rows.begin, rows.end);
    return attention_backward(some.d_out, call_.q().slice(2, rows.begin, rows.end), k, v, some.out, some.lse, options,
                              {.d_lse = some.d_lse, .wants = wants, .into = into});
  }

  // Sinks first, then each term of the bias. A sink's gradient comes from the rows alone, whatever keys there are.
  void add_sinks() {
    const std::vector<double>& sinks = call_.options().sinks;
    const GradientWants& wants = upstream_.wants;
    if (wants.sinks && !sinks.empty()) shared_.emplace_back(DType::f64, Shape{call_.q().dim(1)});
    std::int64_t row = 0;
    for (const SharePiece& queries : call_.pieces()) {
      if (!wants.sinks || sinks.empty()) break;
      AttentionOptions options = cluster::options_of(call_.whole(), queries, {});
      options.sinks = sinks;
      const AttentionGradients some =
          run({row, row + queries.count}, call_.k().slice(2, 0, 0), call_.v().slice(2, 0, 0), options,
              {.q = false, .k = false, .v = false, .bias = false, .sinks = true}, {});
      kernels::add_elements(some.d_sinks.to(DType::f64), shared_.front());
      row += queries.count;
    }
    if (wants.bias) add_bias(no_keys());
  }

  // The gradients of the biases' terms by a call without pairs: zeros of their shapes.
  [[nodiscard]] AttentionGradients no_keys() const {
    const AttentionOptions options = cluster::options_of(call_.whole(), {}, {});
    return run({0, 0}, call_.k().slice(2, 0, 0), call_.v().slice(2, 0, 0), options,
               {.q = false, .k = false, .v = false, .bias = true, .sinks = false}, {});
  }

  void add_bias(const AttentionGradients& some) {
    const std::size_t first = upstream_.wants.sinks && !call_.options().sinks.empty() ? 1 : 0;
    for (std::size_t n = 0; n < some.d_bias.size(); ++n) {
      if (first + n == shared_.size()) shared_.emplace_back(DType::f64, some.d_bias[n].shape());
      kernels::add_elements(some.d_bias[n].to(DType::f64), shared_[first + n]);
    }
  }

  void add_window(const cluster::BlockWindow& window, BlockGradients& of_block) {
    const auto& [piece, seen, rows, queries, keys, k, v] = window;
    GradientWants wants = upstream_.wants;
    wants.sinks = false;
    Tensor d_q;
    Tensor d_k;
    Tensor d_v;
    GradientPlaces into;
    const auto place = [&](bool wanted, Tensor& own, const Shape& shape, std::optional<MutableTensorView>& to) {
      if (wanted) to = own = Tensor(sums_, shape);
    };
    place(wants.q, d_q, {k.dim(0), call_.q().dim(1), queries.count, k.dim(3)}, into.d_q);
    place(wants.k, d_k, k.shape(), into.d_k);
    place(wants.v, d_v, v.shape(), into.d_v);
    add_bias(run(rows, k, v, cluster::options_of(call_.whole(), queries, keys), wants, into));
    if (wants.q) kernels::add_elements(d_q, MutableTensorView(d_q_).slice(2, rows.begin, rows.end));
    if (wants.k) kernels::add_elements(d_k, of_block.d_k(piece).slice(2, seen.begin, seen.end));
    if (wants.v) kernels::add_elements(d_v, of_block.d_v(piece).slice(2, seen.begin, seen.end));
  }

  const RankCall& call_;
  const Upstream& upstream_;
  DType sums_;
  Tensor d_q_;
  std::vector<Tensor> shared_;  // f64
};

// The rows of this rank's keys, of which `gradients` are some.
void add_home(const SequenceShares& keys, int rank, BlockGradients& gradients, Tensor& d_k, Tensor& d_v) {
  std::int64_t row = 0;
  const std::vector<SharePiece>& pieces = keys.pieces(rank);
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const auto [begin, end] = gradients.rows()[n];
    if (begin < end) {
      kernels::add_elements(gradients.d_k(n).view(), MutableTensorView(d_k).slice(2, row + begin, row + end));
      kernels::add_elements(gradients.d_v(n).view(), MutableTensorView(d_v).slice(2, row + begin, row + end));
    }
    row += pieces[n].count;
  }
}

AttentionGradients run_backward_ring(const RankCall& call, const Upstream& upstream) {
  const SequenceShares& keys = call.cluster().keys;
  const int rank = call.transport().rank();
  const DType sums = lse_dtype(call.q().dtype());
  const cluster::Routes routes(call.whole(), call.cluster().queries, keys);
  cluster::Ring ring(call.transport(), routes, keys, call.k(), call.v());
  const TensorView like_k = like(call.k(), upstream.wants.k);
  const TensorView like_v = like(call.v(), upstream.wants.v);
  cluster::GradientRelay relay(call.transport(), routes, sums, like_k, like_v);
  SummedGradients gradients(call, upstream);
  Tensor d_k(sums, like_k.shape());
  Tensor d_v(sums, like_v.shape());
  while (const Block* block = ring.next()) {
    if (block->source != rank) relay.expect(block->source);
    BlockGradients own = gradients.add(*block);
    if (block->source == rank) {
      add_home(keys, rank, own, d_k, d_v);
    } else {
      relay.pass_on(block->source, own);
    }
  }
  if (std::optional<BlockGradients> others = relay.finish()) add_home(keys, rank, *others, d_k, d_v);
  ring.finish();
  return std::move(gradients).result(std::move(d_k), std::move(d_v));
}

AttentionGradients run_backward_as_one(const RankCall& call, const Upstream& upstream) {
  const cluster::WholeKeys whole = cluster::gathered_keys(call);
  const auto all = [&](const TensorView& rows) { return cluster::gathered_rows(call, rows); };
  const Tensor d_lse = upstream.d_lse ? all(*upstream.d_lse) : Tensor();
  BackwardOptions backward = {.wants = upstream.wants};
  if (upstream.d_lse) backward.d_lse = d_lse;
  AttentionGradients gradients = attention_backward(all(upstream.d_out), all(call.q()), whole.k, whole.v,
                                                    all(upstream.out), all(upstream.lse), call.options(), backward);
  const int rank = call.transport().rank();
  const auto own = [&](const SequenceShares& shares, Tensor& x) {
    if (!x.empty()) x = shares.rows_of(x, rank);
  };
  own(call.cluster().queries, gradients.d_q);
  own(call.cluster().keys, gradients.d_k);
  own(call.cluster().keys, gradients.d_v);
  return gradients;
}

cluster::Digest digest_of(const RankCall& call, const Upstream& upstream) {
  cluster::Digest digest = call.digest();
  const GradientWants& wants = upstream.wants;
  std::string wanted;
  const auto add = [&](bool is_wanted, std::string_view name) {
    if (is_wanted) wanted += (wanted.empty() ? "" : " ") + std::string(name);
  };
  add(wants.q, "q");
  add(wants.k, "k");
  add(wants.v, "v");
  add(wants.bias, "bias");
  add(wants.sinks, "sinks");
  digest.push_back({"wants", wanted});
  digest.push_back({"d_lse", upstream.d_lse ? "given" : "none"});
  return digest;
}

}  // namespace

AttentionGradients attention_backward(Transport& transport, const ClusterCall& cluster, const TensorView& d_out,
                                      const TensorView& q, const TensorView& k, const TensorView& v,
                                      const TensorView& out, const TensorView& lse, const AttentionOptions& options,
                                      const BackwardOptions& backward) {
  const Upstream upstream = {.d_out = d_out, .out = out, .lse = lse, .d_lse = backward.d_lse, .wants = backward.wants};
  std::optional<RankCall> call;
  cluster::agree(transport, kBackward, [&] {
    call.emplace(kBackward, transport, cluster, q, k, v, options);
    check_upstream(*call, upstream, backward);
    return digest_of(*call, upstream);
  });
  const bool as_one = cluster.bits == Bits::as_one || transport.size() == 1;
  return cluster::or_give_up(
      transport, [&] { return as_one ? run_backward_as_one(*call, upstream) : run_backward_ring(*call, upstream); });
}

}  // namespace qkv
