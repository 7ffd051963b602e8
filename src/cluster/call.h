// A call over ranks that all have agreed to.
#pragma once

#include <string_view>

#include "cluster/agreement.h"
#include "cluster/windows.h"
#include "qkv/cluster/attention.h"

namespace qkv::cluster {

/// A rank's part of a call. Holds references: its arguments must outlive it.
class RankCall {
 public:
  /// Throws InvalidArgument naming `function`, unless q, k and v are this rank's part of a whole call with these
  /// options.
  RankCall(std::string_view function, Transport& transport, const ClusterCall& cluster, const TensorView& q,
           const TensorView& k, const TensorView& v, const AttentionOptions& options);
  RankCall(const RankCall&) = delete;
  RankCall& operator=(const RankCall&) = delete;

  [[nodiscard]] Digest digest() const;

  [[nodiscard]] Transport& transport() const { return transport_; }
  [[nodiscard]] const ClusterCall& cluster() const { return cluster_; }
  [[nodiscard]] const TensorView& q() const { return q_; }
  [[nodiscard]] const TensorView& k() const { return k_; }
  [[nodiscard]] const TensorView& v() const { return v_; }
  [[nodiscard]] const AttentionOptions& options() const { return options_; }
  /// Its options' watch tells the others that this rank lives.
  [[nodiscard]] WholeCall whole() const { return {.options = options_, .shape = shape_}; }
  [[nodiscard]] const std::vector<SharePiece>& pieces() const { return cluster_.queries.pieces(transport_.rank()); }

 private:
  std::string_view function_;
  Transport& transport_;
  const ClusterCall& cluster_;
  TensorView q_;
  TensorView k_;
  TensorView v_;
  AttentionOptions options_;
  MaskShape shape_;
};

/// The watch of a call that tells the other ranks that this one lives, and then asks `watch`.
[[nodiscard]] CallWatch living(Transport& transport, const CallWatch& watch);

/// Runs `body`. What it throws ends the other ranks, too.
template <class Body>
auto or_give_up(Transport& transport, const Body& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    transport.give_up(error.what());
    throw;
  }
}

/// The keys and values of all ranks, in the order of positions: [B, Hk, Tk, D] and [B, Hk, Tk, Dv].
struct WholeKeys {
  Tensor k;
  Tensor v;
};
[[nodiscard]] WholeKeys gathered_keys(const RankCall& call);

/// The rows of all ranks of a tensor that has one for each query, [B, Hq, Tq] or [B, Hq, Tq, …], on each rank.
[[nodiscard]] Tensor gathered_rows(const RankCall& call, const TensorView& rows);

/// An lse in f64 as results have it: in f32, or in f64.
[[nodiscard]] Tensor stored_lse(const Tensor& lse, DType dtype);

}  // namespace qkv::cluster
