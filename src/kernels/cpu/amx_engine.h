// A block's scores and weights of several tiles, whose sums the tile unit then makes in one go: the sums of a block are
// larger than its weights, and are read and written once for all of these tiles.
#pragma once

#include <cstdint>

#include "kernels/cpu/amx_products.h"
#include "kernels/cpu/tile_steps.h"

namespace qkv::kernels::cpu::amx {

template <class P>
class Engine {
 public:
  using Products = P;
  static constexpr std::int64_t kColumns = 4;  // of tiles that a block visits before the next block

  static std::int64_t floats() { return kTile * kTile + kColumns * Products::kWeightElements / 2; }

  Engine(TileSteps<Products>& steps, float* scratch)
      : steps_(steps),
        scores_(scratch),
        weights_(reinterpret_cast<std::uint16_t*>(scratch + kTile * kTile)),
        tile_bytes_(Products::tile_floats(steps.call().D, steps.call().Dv) * static_cast<std::int64_t>(sizeof(float))) {
  }

  /// The next of a block's tiles; `slot` is its place among the tile buffers.
  void add(Block& block, const typename Products::Tile& tile, std::int64_t column, std::int64_t slot,
           TileClass tile_class) {
    if (pending_ > 0 && slot != first_slot_ + pending_) finish(block);
    if (pending_ == 0) {
      first_ = tile;
      first_slot_ = slot;
    }
    const std::int64_t lanes = block.lanes.count();
    Products::scores(tile, block.q, steps_.call().D, lanes, scores_);
    steps_.shape(block, tile.keys, column, tile_class, scores_);
    if (!tile.finite ||
        !steps_.weigh_settled(block, tile.keys, scores_, Products::packing(tile.keys, next_weights()))) {
      weigh_raised(block, tile, column, slot);
    }
    ++pending_;
  }

  /// Ends a block's visit.
  void finish(Block& block) { sum_up(block); }

 private:
  using Softmax = typename TileSteps<Products>::Softmax;

  [[nodiscard]] std::uint16_t* next_weights() const { return weights_ + pending_ * Products::kWeightElements; }

  void weigh_raised(Block& block, const typename Products::Tile& tile, std::int64_t column, std::int64_t slot) {
    alignas(64) float factors[kTile];
    if (steps_.raise(scores_, tile.keys, block, factors)) {
      sum_up(block);
      first_ = tile;
      first_slot_ = slot;
      steps_.rescale(factors, block);
    }
    if (tile.finite && !steps_.call().problem->dropout) {
      return steps_.weigh(block, tile.keys, scores_, Products::packing(tile.keys, next_weights()));
    }
    weigh_in_place(block, tile, column);
    Products::pack_weights(scores_, tile.keys, block.lanes.count(), next_weights());
  }

  void weigh_in_place(Block& block, const typename Products::Tile& tile, std::int64_t column) {
    std::uint64_t visible[kTile];
    if (!tile.finite) Softmax::find_visible(scores_, tile.keys, block.lanes.count(), visible);
    steps_.weigh_in_place(block, tile.keys, column, scores_);
    if (!tile.finite) steps_.add_unbounded(block, tile.keys, column, visible, scores_);
  }

  void sum_up(Block& block) {
    if (pending_ == 0) return;
    Products::accumulate(first_, pending_, tile_bytes_, weights_, steps_.call().Dv, block.lanes.count(), block.sums);
    pending_ = 0;
  }

  TileSteps<Products>& steps_;
  float* scores_;
  std::uint16_t* weights_;
  std::int64_t tile_bytes_;
  typename Products::Tile first_ = {};
  std::int64_t first_slot_ = 0;
  std::int64_t pending_ = 0;  // tiles whose weights wait
};

}  // namespace qkv::kernels::cpu::amx
