// The steps on the scores of one block and one tile, between the two products.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/dropout.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/softmax.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

/// The running state of up to 64 queries over the keys.
struct Block {
  Lanes lanes;
  KeyRange columns;
  float* q;     // as the products pack it
  float* sums;  // of weighted values, as the products lay it
  Running running;
  bool settled = false;  // every lane has seen a score
  bool begun = false;    // there may be sums other than 0
};

template <class Products>
class TileSteps {
 public:
  using S = typename Products::Simd;
  using Softmax = TileSoftmax<S, Products::kWidth>;
  using Reach = typename Softmax::Reach;
  /// A maximum is raised only if exp2 of a score above it would reach 2^8.
  static constexpr float kSlack = 8;

  static std::int64_t floats(const Forward& call) { return 2 * kTile * kTile + round_up(call.Dv, S::kLanes); }

  TileSteps(const Settings& settings, const Task& task, float* scratch)
      : settings_(settings),
        call_(*settings.call),
        segment_(*task.segment),
        key_head_(task.key_head),
        biases_(scratch),
        bias_rows_(scratch + kTile * kTile),
        value_(scratch + 2 * kTile * kTile) {
    if (settings_.bias == nullptr) return;
    // Rows that no block of the segment has are not turned, either.
    const std::int64_t rows = std::min(kTile, round_up(segment_.shape.Tq * (call_.Hq / call_.Hk), S::kLanes));
    for (std::int64_t n = 0; n < rows * kTile; n += S::kLanes) S::store(bias_rows_ + n, S::zero());
  }

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const Forward& call() const { return call_; }
  [[nodiscard]] KvRows values() const { return segment_.v.head(key_head_); }

  /// True if nothing but the mask comes between scores and weights.
  [[nodiscard]] bool is_plain() const {
    return settings_.softcap == 0 && settings_.bias == nullptr && !call_.problem->dropout;
  }

  /// Applies softcap, biases and mask, if there are any.
  void shape(const Block& block, std::int64_t keys, std::int64_t column, TileClass tile_class, float* scores) {
    if (tile_class != TileClass::partial) return shape(block, keys, column, nullptr, scores);
    std::uint64_t visible[kTile];
    visible_bits(segment_, block.lanes, column, visible);
    shape(block, keys, column, visible, scores);
  }

  /// The same of the keys in reach. `visible` is null where every lane sees every key.
  void shape(const Block& block, const Reach& reach, std::int64_t column, const std::uint64_t* visible, float* scores) {
    if (visible == nullptr && settings_.softcap == 0 && settings_.bias == nullptr) return;
    Shaping shaping = {.scale = settings_.scale, .softcap = settings_.softcap, .visible = visible};
    if (settings_.bias != nullptr) {
      turn_biases(block, column);
      shaping.biases = biases_;
    }
    Softmax::shape(shaping, reach, block.lanes.count(), scores);
  }

  void find_visible(const Block& block, std::int64_t column, std::uint64_t* visible) const {
    visible_bits(segment_, block.lanes, column, visible);
  }

  /// Raises the block's maxima to those of the scores. True if the block's sums must be multiplied by `factors`.
  [[nodiscard]] bool raise(const float* scores, const Reach& reach, Block& block, float* factors) const {
    const std::int64_t lanes = block.lanes.count();
    const bool raised =
        Softmax::raise(scores, reach, lanes, settings_.to_log2, kSlack / settings_.to_log2, block.running, factors);
    block.settled = block.settled || Softmax::settled(block.running, lanes);
    return raised;
  }

  void rescale(const float* factors, Block& block) const {
    Products::scale_sums(factors, block.lanes.count(), call_.Dv, block.sums);
  }

  /// Writes the weights of the scores to `to`.
  template <class To>
  void weigh(Block& block, const Reach& reach, const float* scores, const To& to) const {
    Softmax::weigh(scores, reach, block.lanes.count(), settings_.to_log2, block.running, to);
  }

  /// True if weigh_settled() may be tried: every lane has a maximum, and there is no dropout.
  [[nodiscard]] bool may_settle(const Block& block) const { return block.settled && !call_.problem->dropout; }

  /// Like weigh(), with the old maxima: they are rarely too low. False if one was, or if may_settle() is false.
  template <class To>
  [[nodiscard]] bool weigh_settled(Block& block, const Reach& reach, const float* scores, const To& to) const {
    return may_settle(block) &&
           Softmax::weigh_settled(scores, reach, block.lanes.count(), settings_.to_log2, block.running, to);
  }

  /// Turns scores into weights in place, with dropout.
  void weigh_in_place(Block& block, const Reach& reach, std::int64_t column, float* scores) const {
    weigh(block, reach, scores, InPlace<S, Products::kWidth>{scores});
    if (!call_.problem->dropout) return;
    drop<S, Products::kWidth>(settings_.dropout, segment_, block.lanes, column * kTile, reach, scores);
  }

  /// Adds NaN and infinite values for the rows that see them. The product left them out, since there 0 times such a
  /// value would spread to rows that do not see it.
  void add_unbounded(Block& block, std::int64_t keys, std::int64_t column, const std::uint64_t* visible,
                     const float* weights) const {
    const KvRows rows = segment_.v.head(key_head_);
    for (std::int64_t c = 0; c < keys; ++c) {
      load_row<S>(rows.row(column * kTile + c), rows.dtype, call_.Dv, rows.scale(column * kTile + c), value_);
      for (std::int64_t d = 0; d < call_.Dv; ++d) {
        if (std::isfinite(value_[d])) continue;
        for (std::int64_t lane = 0; lane < block.lanes.count(); ++lane) {
          if ((visible[c] >> lane & 1U) == 0) continue;
          Products::sum_at(block.sums, call_.Dv, lane, d) +=
              value_[d] * weights[Softmax::offset_of(lane) + c * Products::kWidth];
        }
      }
    }
  }

 private:
  // Writes a tile's biases to biases_, [strip][key][lane].
  void turn_biases(const Block& block, std::int64_t column) {
    const BiasRows rows = bias_rows(*settings_.bias, segment_, block.lanes, column, bias_rows_);
    for (std::int64_t lane = 0; lane < block.lanes.count(); lane += S::kLanes) {
      for (std::int64_t c = 0; c < kTile; c += S::kLanes) {
        transpose_block<S>(rows.first + lane * rows.stride + c, rows.stride,
                           biases_ + Softmax::offset_of(lane) + c * Products::kWidth, Products::kWidth);
      }
    }
  }

  const Settings& settings_;
  const Forward& call_;
  const Segment& segment_;
  std::int64_t key_head_;
  float* biases_;
  float* bias_rows_;
  float* value_;
};

}  // namespace qkv::kernels::cpu
