#include "cluster/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "attention/check.h"
#include "attention/validate.h"
#include "cluster/ring.h"
#include "cluster/rows.h"
#include "kernels/lse_rounding.h"

namespace qkv::cluster {
namespace {

// A view with as many rows as the whole has, to be validated: no element of it is read.
TensorView as_whole(const TensorView& x, std::int64_t rows) {
  static constexpr double kElement = 0;
  if (x.rank() != 4) return x;
  Shape shape = x.shape();
  shape[2] = rows;
  return {&kElement, x.dtype(), shape, Strides{0, 0, 0, 0}};
}

void check_rows(const Check& check, std::string_view argument, const TensorView& x, std::int64_t rows, int rank) {
  check.that(x.dim(2) == rows, argument, [&] { return fmt::format("{} rows, as rank {} has", rows, rank); }, x.shape());
}

void check_ranks(const Check& check, std::string_view argument, const SequenceShares& shares, int ranks) {
  check.that(
      shares.ranks() == ranks, argument, [&] { return fmt::format("shares of {} ranks", ranks); }, shares.ranks());
}

}  // namespace

CallWatch living(Transport& transport, const CallWatch& watch) {
  return [&transport, watch] {
    transport.progress();
    return watch ? watch() : Proceed::go_on;
  };
}

RankCall::RankCall(std::string_view function, Transport& transport, const ClusterCall& cluster, const TensorView& q,
                   const TensorView& k, const TensorView& v, const AttentionOptions& options)
    : function_(function), transport_(transport), cluster_(cluster), q_(q), k_(k), v_(v), options_(options) {
  const Check check(function);
  check_ranks(check, "cluster.queries", cluster.queries, transport.size());
  check_ranks(check, "cluster.keys", cluster.keys, transport.size());
  check.that(options.within.empty(), "within", "none: the shares say where rows lie", options.within.size());
  check.that(options.plan == nullptr, "plan", "none: each window has one of its own", "one");
  check.that(options.scratch.empty(), "scratch", "none: each window needs other scratch", "some");
  const std::int64_t Tk = cluster.keys.T();
  shape_ = validated_batch(function, as_whole(q, cluster.queries.T()), as_whole(k, Tk), as_whole(v, Tk), options).shape;
  const int rank = transport.rank();
  check_rows(check, "q", q, cluster.queries.rows(rank), rank);
  check_rows(check, "k", k, cluster.keys.rows(rank), rank);
  check_rows(check, "v", v, cluster.keys.rows(rank), rank);
  options_.watch = living(transport, options.watch);
}

Digest RankCall::digest() const {
  Digest digest = digest_of(function_, whole(), q_.dtype(), {cluster_.queries, cluster_.keys});
  digest.push_back({"shapes", fmt::format("B = {}, Hq = {}, Hk = {}, D = {}, Dv = {}", q_.dim(0), q_.dim(1), k_.dim(1),
                                          q_.dim(3), v_.dim(3))});
  digest.push_back({"bits", cluster_.bits == Bits::as_one ? "as one" : "of the ring"});
  digest.push_back({"step", std::to_string(cluster_.step)});
  return digest;
}

WholeKeys gathered_keys(const RankCall& call) {
  const SequenceShares& keys = call.cluster().keys;
  const auto whole_of = [&](const TensorView& x) {
    return Tensor(x.dtype(), {x.dim(0), x.dim(1), keys.T(), x.dim(3)});
  };
  WholeKeys whole = {.k = whole_of(call.k()), .v = whole_of(call.v())};
  const MutableTensorView k = whole.k;
  const MutableTensorView v = whole.v;
  const Routes routes = Routes::everywhere(keys);
  Ring ring(call.transport(), routes, keys, call.k(), call.v());
  while (const Block* block = ring.next()) {
    const std::vector<SharePiece>& pieces = keys.pieces(block->source);
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      copy(block->k[n], piece_of(k, 2, pieces[n]));
      copy(block->v[n], piece_of(v, 2, pieces[n]));
    }
  }
  ring.finish();
  return whole;
}

Tensor gathered_rows(const RankCall& call, const TensorView& rows) {
  const SequenceShares& queries = call.cluster().queries;
  Transport& transport = call.transport();
  Shape shape = rows.shape();
  shape[2] = queries.T();
  Tensor whole(rows.dtype(), shape);
  std::vector<std::byte> bytes(static_cast<std::size_t>(whole.size()) * size_of(whole.dtype()));
  gather(transport, 0, queries, rows, whole);
  if (transport.rank() == 0) pack(whole, bytes.data());
  transport.broadcast(0, bytes);
  unpack(bytes.data(), whole);
  return whole;
}

Tensor stored_lse(const Tensor& lse, DType dtype) {
  if (dtype == DType::f64) return lse;
  Tensor narrow(dtype, lse.shape());
  std::ranges::transform(lse.values<double>(), narrow.values<float>().begin(), kernels::stored_lse);
  return narrow;
}

}  // namespace qkv::cluster
