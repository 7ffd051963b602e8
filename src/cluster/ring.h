// Blocks of keys and values on their way round.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/routes.h"
#include "qkv/cluster/transport.h"
#include "qkv/tensor.h"

namespace qkv::cluster {

/// Messages that were sent, with their bytes, until they have arrived.
class Outbox {
 public:
  explicit Outbox(Transport& transport) : transport_(transport) {}

  void send(int to, int tag, std::vector<std::byte> bytes);
  /// Lets go of what has arrived.
  void sort_out();
  /// Waits for all.
  void finish();

 private:
  struct Letter {
    std::vector<std::byte> bytes;
    std::unique_ptr<Transfer> transfer;  // destroyed before its bytes
  };

  Transport& transport_;
  std::list<Letter> letters_;
};

/// Some rows of the pieces of a rank's keys, with their values.
struct Block {
  int source = 0;
  PieceRows rows;
  std::vector<TensorView> k;  // for each piece, [B, Hk, rows, D]
  std::vector<TensorView> v;
};

/// The blocks that this rank needs, one after the other. The next one is on its way while one is looked at, and each is
/// passed on as soon as it is here.
class Ring {
 public:
  /// k and v hold this rank's keys; they must outlive the ring.
  Ring(Transport& transport, const Routes& routes, const SequenceShares& keys, const TensorView& k,
       const TensorView& v);

  /// The next block, valid until the call after; null behind the last.
  [[nodiscard]] const Block* next();
  /// Waits until all that this rank passed on has arrived.
  void finish() { outbox_.finish(); }

 private:
  struct Coming {
    std::vector<std::byte> bytes;
    std::unique_ptr<Transfer> transfer;
  };

  void look_forward();
  void pass_on(const Block& block);
  [[nodiscard]] Block own_block() const;
  [[nodiscard]] Block block_in(int source, const PieceRows& rows, const std::byte* bytes) const;

  Transport& transport_;
  const Routes& routes_;
  const SequenceShares& keys_;
  TensorView k_;
  TensorView v_;
  std::vector<int> sources_;
  std::size_t place_ = 0;
  std::optional<Coming> coming_;
  std::vector<std::byte> held_;  // the bytes of the block
  Block block_;
  Outbox outbox_;
};

/// The part of a block's rows: `rows` lie within them.
[[nodiscard]] Block cut(const Block& block, const PieceRows& rows);

}  // namespace qkv::cluster
