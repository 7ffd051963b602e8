// One tile after the other: scores, softmax, sums.
#pragma once

#include <cstdint>

#include "kernels/cpu/tile_steps.h"

namespace qkv::kernels::cpu {

template <class P>
class InOrder {
 public:
  using Products = P;
  using S = typename Products::Simd;
  static constexpr std::int64_t kColumns = 4;

  static std::int64_t floats() { return kTile * kTile; }

  InOrder(TileSteps<Products>& steps, float* scratch) : steps_(steps), scores_(scratch) {}

  void add(Block& block, const typename Products::Tile& tile, std::int64_t column, std::int64_t /*slot*/,
           TileClass sort) {
    score(block, tile, column, sort);
    if constexpr (!Products::kChecksSums) {
      if (tile.finite && steps_.may_settle(block)) {
        if (steps_.weigh_settled(block, tile.keys, scores_, InPlace<S, Products::kWidth>{scores_})) {
          return Products::accumulate(tile, scores_, steps_.call().Dv, block.lanes.count(), block.sums);
        }
        score(block, tile, column, sort);
      }
    }
    alignas(64) float factors[kTile];
    if (steps_.raise(scores_, tile.keys, block, factors)) steps_.rescale(factors, block);
    if constexpr (Products::kChecksSums) {
      steps_.weigh_in_place(block, tile.keys, column, scores_);
      if (!Products::accumulate(tile, scores_, steps_.call().Dv, block.lanes.count(), block.sums)) {
        again(block, tile, column, sort);
      }
    } else if (tile.finite) {
      steps_.weigh_in_place(block, tile.keys, column, scores_);
      Products::accumulate(tile, scores_, steps_.call().Dv, block.lanes.count(), block.sums);
    } else {
      add_finite_part(block, tile, column);
    }
  }

  void finish(Block& /*block*/) {}

 private:
  void score(Block& block, const typename Products::Tile& tile, std::int64_t column, TileClass sort) {
    Products::scores(tile, block.q, steps_.call().D, block.lanes.count(), scores_);
    steps_.shape(block, tile.keys, column, sort, scores_);
  }

  // What accumulate() refused: the weights once more, now with what each lane sees.
  void again(Block& block, const typename Products::Tile& tile, std::int64_t column, TileClass sort) {
    score(block, tile, column, sort);
    const Running counted = block.running;
    add_finite_part(block, Products::finite_part(tile, steps_.values(), column * kTile, steps_.call().Dv), column);
    block.running = counted;
  }

  // A tile whose values lack those that are not finite, then these on their own.
  template <class Tile>
  void add_finite_part(Block& block, const Tile& tile, std::int64_t column) {
    std::uint64_t visible[kTile];
    TileSteps<Products>::Softmax::find_visible(scores_, tile.keys, block.lanes.count(), visible);
    steps_.weigh_in_place(block, tile.keys, column, scores_);
    static_cast<void>(Products::accumulate(tile, scores_, steps_.call().Dv, block.lanes.count(), block.sums));
    steps_.add_unbounded(block, tile.keys, column, visible, scores_);
  }

  TileSteps<Products>& steps_;
  float* scores_;
};

}  // namespace qkv::kernels::cpu
