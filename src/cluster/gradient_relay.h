// Gradients of blocks of keys on their way home.
#pragma once

#include <optional>
#include <vector>

#include "cluster/ring.h"

namespace qkv::cluster {

/// d_k and d_v of some rows of the pieces of a rank's keys, in f32 or f64.
class BlockGradients {
 public:
  /// Zeros; k and v say the other extents.
  BlockGradients(DType sums, const PieceRows& rows, const TensorView& k, const TensorView& v);

  [[nodiscard]] const PieceRows& rows() const noexcept { return rows_; }
  [[nodiscard]] MutableTensorView d_k(std::size_t piece) { return d_k_[piece]; }
  [[nodiscard]] MutableTensorView d_v(std::size_t piece) { return d_v_[piece]; }

  /// Adds those of rows that lie within these.
  void add(BlockGradients& others);

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::vector<std::byte> packed() const;
  void read(const std::vector<std::byte>& bytes);

 private:
  PieceRows rows_;
  std::vector<Tensor> d_k_;
  std::vector<Tensor> d_v_;
};

/// Takes what earlier ranks found for a block, adds this rank's own and passes it on, in the order of the ring.
class GradientRelay {
 public:
  GradientRelay(Transport& transport, const Routes& routes, DType sums, const TensorView& k, const TensorView& v);

  /// Starts the receipt of what is to come of `source`'s block, which this rank needs.
  void expect(int source);
  /// What was expected, and `own`: to the next rank that needs the block, or home.
  void pass_on(int source, BlockGradients& own);
  /// What the others found for this rank's keys; none if none of them needs these. Waits until all has arrived.
  [[nodiscard]] std::optional<BlockGradients> finish();

 private:
  struct Expected {
    BlockGradients gradients;
    std::vector<std::byte> bytes;
    std::unique_ptr<Transfer> transfer;
  };
  [[nodiscard]] Expected expected_from(int from, int source, const PieceRows& rows);

  Transport& transport_;
  const Routes& routes_;
  DType sums_;
  TensorView k_;
  TensorView v_;
  std::optional<Expected> expected_;
  std::optional<Expected> home_;
  Outbox outbox_;
};

}  // namespace qkv::cluster
