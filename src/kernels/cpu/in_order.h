// One tile after the other: scores, softmax, sums.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cpu/dense_softmax.h"
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
    if constexpr (Products::kChecksSums) {
      add_checked(block, tile, column, tile_class);
    } else {
      add_in_reach(block, tile, column, tile_class);
    }
  }

  void finish(Block& /*block*/) {}

 private:
  using Reach = typename TileSteps<Products>::Reach;

  // Of a partial tile only what each strip may see. Values that are not finite are added where scores show that they
  // are visible, so that all scores are then made.
  void add_in_reach(Block& block, const typename Products::Tile& tile, std::int64_t column, TileClass tile_class) {
    const Forward& call = steps_.call();
    const std::int64_t lanes = block.lanes.count();
    std::uint64_t bits[kTile];
    const std::uint64_t* visible = nullptr;
    Reach reach(tile.keys);
    if (tile_class == TileClass::partial) {
      steps_.find_visible(block, column, bits);
      visible = bits;
      if (tile.finite) reach = Reach::of(visible, tile.keys);
    }
    // Step 1: scores = k . q, then softcap, bias and mask.
    Products::scores(tile, block.q, call.D, lanes, reach, scores_);
    steps_.shape(block, reach, column, visible, scores_);
    // Steps 2 and 3 with the old maxima, if they are high enough; else the scores are computed again.
    if (tile.finite && steps_.may_settle(block)) {
      if (steps_.weigh_settled(block, reach, scores_, weights_of(tile))) {
        return Products::accumulate(tile, scores_, call.Dv, lanes, reach, block.sums);
      }
      Products::scores(tile, block.q, call.D, lanes, reach, scores_);
      steps_.shape(block, reach, column, visible, scores_);
    }
    // Step 2: online softmax: raise the maxima, rescale the sums, turn scores into weights.
    // Step 3: sums += weights . values.
    raise(block, reach);
    if (tile.finite && !call.problem->dropout) {
      steps_.weigh(block, reach, scores_, weights_of(tile));
    } else {
      if (!tile.finite) TileSteps<Products>::Softmax::find_visible(scores_, tile.keys, lanes, bits);
      steps_.weigh_in_place(block, reach, column, scores_);
      if (!tile.finite) steps_.add_unbounded(block, tile.keys, column, bits, scores_);
      if constexpr (!std::is_same_v<typename Products::Weights, InPlace<S, Products::kWidth>>) {
        TileSteps<Products>::Softmax::pass_on(scores_, reach, lanes, weights_of(tile));
      }
    }
    Products::accumulate(tile, scores_, call.Dv, lanes, reach, block.sums);
  }

  // The same of all of the tile. accumulate() refuses values that are not finite.
  void add_checked(Block& block, const typename Products::Tile& tile, std::int64_t column, TileClass tile_class) {
    const Forward& call = steps_.call();
    const std::int64_t lanes = block.lanes.count();
    const std::int64_t width = width_of(lanes, tile_class);
    Products::scores(tile, block.q, call.D, lanes, width, scores_);
    if (width < Products::kWidth) {
      weigh_dense(block, tile.keys, width);
    } else {
      steps_.shape(block, tile.keys, column, tile_class, scores_);
      raise(block, tile.keys);
      steps_.weigh_in_place(block, tile.keys, column, scores_);
    }
    if (!Products::accumulate(tile, scores_, call.Dv, lanes, width, block.sums)) again(block, tile, column, tile_class);
  }

  // Floats from one key to the next. Masks, biases and dropout want a vector for each.
  std::int64_t width_of(std::int64_t lanes, TileClass tile_class) const {
    if constexpr (Products::kDense) {
      const std::int64_t dense = Products::dense_width(lanes);
      if (dense < Products::kWidth && tile_class == TileClass::full && steps_.is_plain()) return dense;
    }
    return Products::kWidth;
  }

  void weigh_dense(Block& block, std::int64_t keys, std::int64_t width) {
    const Settings& settings = steps_.settings();
    const DenseSoftmax<S> softmax(keys, width, settings.to_log2, scores_);
    alignas(64) float factors[S::kLanes];
    const bool raised = softmax.raise(TileSteps<Products>::kSlack / settings.to_log2, block.running, factors);
    if (raised && block.begun) steps_.rescale(factors, block);
    block.begun = true;
    softmax.weigh(block.running);
  }

  // Where weights go, and in what form.
  auto weights_of(const typename Products::Tile& tile) const {
    if constexpr (requires { Products::weights(tile, scores_); }) {
      return Products::weights(tile, scores_);
    } else {
      return typename Products::Weights{scores_};
    }
  }

  void raise(Block& block, const Reach& reach) {
    alignas(64) float factors[kTile];
    const bool raised = steps_.raise(scores_, reach, block, factors);
    if (raised && block.begun) steps_.rescale(factors, block);
    block.begun = true;
  }

  // After accumulate() refused: computes the weights again, with the visible keys of each lane.
  void again(Block& block, const typename Products::Tile& tile, std::int64_t column, TileClass tile_class) {
    const Forward& call = steps_.call();
    const std::int64_t lanes = block.lanes.count();
    Products::scores(tile, block.q, call.D, lanes, Products::kWidth, scores_);
    steps_.shape(block, tile.keys, column, tile_class, scores_);
    std::uint64_t visible[kTile];
    TileSteps<Products>::Softmax::find_visible(scores_, tile.keys, lanes, visible);
    const Running counted = block.running;
    steps_.weigh_in_place(block, tile.keys, column, scores_);
    block.running = counted;
    const auto part = Products::finite_part(tile, steps_.values(), column * kTile, call.Dv);
    static_cast<void>(Products::accumulate(part, scores_, call.Dv, lanes, Products::kWidth, block.sums));
    steps_.add_unbounded(block, tile.keys, column, visible, scores_);
  }

  TileSteps<Products>& steps_;
  float* scores_;
};

}  // namespace qkv::kernels::cpu
