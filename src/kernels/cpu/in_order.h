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
           TileClass tile_class) {
    const Forward& call = steps_.call();
    const std::int64_t lanes = block.lanes.count();
    // Step 1: scores = k . q, then softcap, bias and mask.
    Products::scores(tile, block.q, call.D, lanes, scores_);
    steps_.shape(block, tile.keys, column, tile_class, scores_);
    // Steps 2 and 3 with the old maxima, if they are high enough; else the scores are computed again.
    if constexpr (!Products::kChecksSums) {
      if (tile.finite && steps_.may_settle(block)) {
        if (steps_.weigh_settled(block, tile.keys, scores_, InPlace<S, Products::kWidth>{scores_})) {
          return Products::accumulate(tile, scores_, call.Dv, lanes, block.sums);
        }
        Products::scores(tile, block.q, call.D, lanes, scores_);
        steps_.shape(block, tile.keys, column, tile_class, scores_);
      }
    }
    // Step 2: online softmax: raise the maxima, rescale the sums, turn scores into weights.
    // Step 3: sums += weights . values.
    alignas(64) float factors[kTile];
    if (steps_.raise(scores_, tile.keys, block, factors)) steps_.rescale(factors, block);
    if constexpr (Products::kChecksSums) {
      steps_.weigh_in_place(block, tile.keys, column, scores_);
      if (!Products::accumulate(tile, scores_, call.Dv, lanes, block.sums)) again(block, tile, column, tile_class);
    } else {
      std::uint64_t visible[kTile];
      if (!tile.finite) TileSteps<Products>::Softmax::find_visible(scores_, tile.keys, lanes, visible);
      steps_.weigh_in_place(block, tile.keys, column, scores_);
      Products::accumulate(tile, scores_, call.Dv, lanes, block.sums);
      if (!tile.finite) steps_.add_unbounded(block, tile.keys, column, visible, scores_);
    }
  }

  void finish(Block& /*block*/) {}

 private:
  // After accumulate() refused: computes the weights again, with the visible keys of each lane.
  void again(Block& block, const typename Products::Tile& tile, std::int64_t column, TileClass tile_class) {
    const Forward& call = steps_.call();
    const std::int64_t lanes = block.lanes.count();
    Products::scores(tile, block.q, call.D, lanes, scores_);
    steps_.shape(block, tile.keys, column, tile_class, scores_);
    std::uint64_t visible[kTile];
    TileSteps<Products>::Softmax::find_visible(scores_, tile.keys, lanes, visible);
    const Running counted = block.running;
    steps_.weigh_in_place(block, tile.keys, column, scores_);
    block.running = counted;
    const auto part = Products::finite_part(tile, steps_.values(), column * kTile, call.Dv);
    static_cast<void>(Products::accumulate(part, scores_, call.Dv, lanes, block.sums));
    steps_.add_unbounded(block, tile.keys, column, visible, scores_);
  }

  TileSteps<Products>& steps_;
  float* scores_;
};

}  // namespace qkv::kernels::cpu
