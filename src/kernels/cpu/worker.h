// Runs one task: every tile of keys and values that its queries see, in order, through scores, softmax and sums.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/dropout.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/softmax.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

template <class Products>
class Worker {
  using S = typename Products::Simd;
  using Softmax = TileSoftmax<S, Products::kWidth>;
  using Tile = typename Products::Tile;

 public:
  static constexpr std::int64_t kMostBlocks = 8;
  static constexpr std::int64_t kMostLanes = Products::kMostLanes;  // of a block

  static std::int64_t blocks_a_task(const Forward& call) {
    // Queries and sums of all blocks stay in the second-level cache.
    constexpr std::int64_t kFloats = 512 * 1024 / 4;
    const std::int64_t blocks = kFloats / (Products::query_floats(call.D) + Products::sum_floats(call.Dv) + 1);
    return blocks < 1 ? 1 : blocks > kMostBlocks ? kMostBlocks : blocks;
  }

  static std::size_t worker_bytes(const Forward& call) {
    const std::int64_t floats = Products::tile_floats(call.D, call.Dv) + 3 * kTile * kTile +
                                S::kLanes * (round_up(call.D, S::kLanes) + round_up(call.Dv, S::kLanes)) +
                                blocks_a_task(call) * (Products::query_floats(call.D) + Products::sum_floats(call.Dv));
    return static_cast<std::size_t>(floats) * sizeof(float);
  }

  static void run(const Settings& settings, const Task& task, std::byte* scratch) {
    Worker worker(settings, task, reinterpret_cast<float*>(scratch));
    for (std::int64_t n = 0; n < task.blocks; ++n) worker.start(worker.blocks_[n]);
    worker.run_columns();
    if (task.partial == nullptr) {
      worker.finish();
    } else {
      worker.keep();
    }
  }

  static void merge(const Settings& settings, const Task& task, std::int64_t pieces, std::byte* scratch) {
    Worker worker(settings, task, reinterpret_cast<float*>(scratch));
    const Lanes& lanes = worker.blocks_[0].lanes;
    for (std::int64_t lane = 0; lane < lanes.count(); ++lane) worker.merge_lane(lanes, lane, pieces);
  }

 private:
  struct Block {
    Lanes lanes;
    KeyRange columns;
    float* q;
    float* sums;
    Running running;
  };

  Worker(const Settings& settings, const Task& task, float* scratch)
      : settings_(settings), call_(*settings.call), segment_(*task.segment), task_(task) {
    const auto take = [&](std::int64_t floats) {
      float* block = scratch;
      scratch += floats;
      return block;
    };
    tile_buffer_ = take(Products::tile_floats(call_.D, call_.Dv));
    scores_ = take(kTile * kTile);
    biases_ = take(kTile * kTile);
    bias_rows_ = take(kTile * kTile);
    stage_ = take(S::kLanes * (round_up(call_.D, S::kLanes) + round_up(call_.Dv, S::kLanes)));
    if (call_.bias != nullptr) {
      for (std::int64_t n = 0; n < kTile * kTile; n += S::kLanes) S::store(bias_rows_ + n, S::zero());
    }
    const LaneBlocks blocks(segment_.shape.Tq, call_.group());
    for (std::int64_t n = 0; n < task.blocks; ++n) {
      Block& block = blocks_[n];
      block.lanes = blocks.block(task.first_block + n, task.key_head);
      block.columns = columns_of(segment_, block.lanes);
      block.q = take(Products::query_floats(call_.D));
      block.sums = take(Products::sum_floats(call_.Dv));
    }
  }

  void start(Block& block) {
    const std::byte* rows[kTile] = {};
    const auto* base = static_cast<const std::byte*>(segment_.q.data());
    const std::int64_t bytes = bytes_of(call_.dtype);
    for (std::int64_t lane = 0; lane < block.lanes.count(); ++lane) {
      rows[lane] = base + (block.lanes.head_of(lane) * segment_.q.strides()[0] +
                           block.lanes.query_of(lane) * segment_.q.strides()[1]) *
                              bytes;
    }
    Products::pack_queries(rows, call_.dtype, call_.D, settings_.query_sign, stage_, block.q);
    for (std::int64_t n = 0; n < Products::sum_floats(call_.Dv); n += S::kLanes) S::store(block.sums + n, S::zero());
    for (std::int64_t lane = 0; lane < kTile; lane += S::kLanes) {
      S::store(block.running.maximum + lane, S::splat(-Softmax::kInfinity));
      S::store(block.running.sum + lane, S::zero());
    }
  }

  void run_columns() {
    std::int64_t begin = segment_.plan->columns();
    std::int64_t end = 0;
    for (std::int64_t n = 0; n < task_.blocks; ++n) {
      const KeyRange& columns = blocks_[n].columns;
      if (columns.begin >= columns.end) continue;
      begin = columns.begin < begin ? columns.begin : begin;
      end = columns.end > end ? columns.end : end;
    }
    begin = begin > task_.columns.begin ? begin : task_.columns.begin;
    end = end < task_.columns.end ? end : task_.columns.end;
    for (std::int64_t column = begin; column < end; ++column) run_column(column);
  }

  void run_column(std::int64_t column) {
    TileClass classes[kMostBlocks];
    bool wanted = false;
    for (std::int64_t n = 0; n < task_.blocks; ++n) {
      const KeyRange& columns = blocks_[n].columns;
      const bool outside = column < columns.begin || column >= columns.end;
      classes[n] = outside ? TileClass::skip : class_of(segment_, blocks_[n].lanes, column);
      wanted = wanted || classes[n] != TileClass::skip;
    }
    if (!wanted) return;
    const std::int64_t j = column * kTile;
    const std::int64_t keys = segment_.shape.Tk - j < kTile ? segment_.shape.Tk - j : kTile;
    const Tile tile = Products::load(segment_.k.head(task_.key_head), segment_.v.head(task_.key_head), j, keys, call_.D,
                                     call_.Dv, tile_buffer_);
    for (std::int64_t n = 0; n < task_.blocks; ++n) {
      if (classes[n] != TileClass::skip) run_tile(blocks_[n], tile, column, classes[n]);
    }
  }

  void run_tile(Block& block, const Tile& tile, std::int64_t column, TileClass sort) {
    const std::int64_t lanes = block.lanes.count();
    Products::scores(tile, block.q, call_.D, lanes, scores_);
    if (sort == TileClass::partial || settings_.softcap > 0 || call_.bias != nullptr) {
      shape_scores(block, tile.keys, column, sort);
    }
    alignas(64) float factors[kTile];
    if (Softmax::raise(scores_, tile.keys, lanes, settings_.to_log2, 8 / settings_.to_log2, block.running, factors)) {
      Products::scale_sums(factors, lanes, call_.Dv, block.sums);
    }
    std::uint64_t visible[kTile];
    if (!tile.finite) Softmax::find_visible(scores_, tile.keys, lanes, visible);
    Softmax::weigh(tile.keys, lanes, settings_.to_log2, block.running, scores_);
    if (call_.dropout) {
      drop<S, Products::kWidth>(settings_.dropout, segment_.b, block.lanes, column * kTile, tile.keys, scores_);
    }
    if constexpr (Products::kChecksSums) {
      if (!Products::accumulate(tile, scores_, call_.Dv, lanes, block.sums))
        add_with_unbounded(block, tile, column, sort);
    } else {
      Products::accumulate(tile, scores_, call_.Dv, lanes, block.sums);
      if (!tile.finite) add_unbounded(block, column * kTile, tile.keys, visible);
    }
  }

  // What accumulate() refused: the weights once more, now with what each lane sees.
  void add_with_unbounded(Block& block, const Tile& tile, std::int64_t column, TileClass sort) {
    const std::int64_t lanes = block.lanes.count();
    Products::scores(tile, block.q, call_.D, lanes, scores_);
    if (sort == TileClass::partial || settings_.softcap > 0 || call_.bias != nullptr) {
      shape_scores(block, tile.keys, column, sort);
    }
    std::uint64_t visible[kTile];
    Softmax::find_visible(scores_, tile.keys, lanes, visible);
    Running counted = block.running;
    Softmax::weigh(tile.keys, lanes, settings_.to_log2, counted, scores_);
    if (call_.dropout) {
      drop<S, Products::kWidth>(settings_.dropout, segment_.b, block.lanes, column * kTile, tile.keys, scores_);
    }
    const Tile part = Products::finite_part(tile, segment_.v.head(task_.key_head), column * kTile, call_.Dv);
    static_cast<void>(Products::accumulate(part, scores_, call_.Dv, lanes, block.sums));
    add_unbounded(block, column * kTile, tile.keys, visible);
  }

  void shape_scores(const Block& block, std::int64_t keys, std::int64_t column, TileClass sort) {
    Shaping shaping = {.scale = settings_.scale, .softcap = settings_.softcap};
    std::uint64_t visible[kTile];
    if (sort == TileClass::partial) {
      visible_bits(segment_, block.lanes, column, visible);
      shaping.visible = visible;
    }
    if (call_.bias != nullptr) {
      write_biases(*call_.bias, segment_, block.lanes, column, bias_rows_);
      for (std::int64_t lane = 0; lane < block.lanes.count(); lane += S::kLanes) {
        for (std::int64_t c = 0; c < kTile; c += S::kLanes) {
          transpose_block<S>(bias_rows_ + lane * kTile + c, kTile,
                             biases_ + Softmax::offset_of(lane) + c * Products::kWidth, Products::kWidth);
        }
      }
      shaping.biases = biases_;
    }
    Softmax::shape(shaping, keys, block.lanes.count(), scores_);
  }

  // Values that are NaN or infinite were left out of the product, where a weight of 0 would have spread them to rows
  // that do not see them.
  void add_unbounded(Block& block, std::int64_t j, std::int64_t keys, const std::uint64_t* visible) {
    const KvRows rows = segment_.v.head(task_.key_head);
    float* row = stage_;
    for (std::int64_t c = 0; c < keys; ++c) {
      load_row<S>(rows.row(j + c), rows.dtype, call_.Dv, rows.scale(j + c), row);
      for (std::int64_t d = 0; d < call_.Dv; ++d) {
        if (std::isfinite(row[d])) continue;
        for (std::int64_t lane = 0; lane < block.lanes.count(); ++lane) {
          if ((visible[c] >> lane & 1U) == 0) continue;
          Products::sum_at(block.sums, call_.Dv, lane, d) +=
              row[d] * scores_[Softmax::offset_of(lane) + c * Products::kWidth];
        }
      }
    }
  }

  void finish() {
    for (std::int64_t n = 0; n < task_.blocks; ++n) {
      for (std::int64_t lane = 0; lane < blocks_[n].lanes.count(); lane += S::kLanes) finish_lanes(blocks_[n], lane);
    }
  }

  void finish_lanes(Block& block, std::int64_t first) {
    Products::unpack_sums(block.sums, call_.Dv, first, stage_);
    const std::int64_t end = block.lanes.count() - first < S::kLanes ? block.lanes.count() - first : S::kLanes;
    for (std::int64_t n = 0; n < end; ++n) {
      const std::int64_t lane = first + n;
      finish_lane(block.lanes, lane, block.running.maximum[lane], block.running.sum[lane],
                  stage_ + n * round_up(call_.Dv, S::kLanes));
    }
  }

  void finish_lane(const Lanes& lanes, std::int64_t lane, float maximum, float sum, float* values) {
    const std::int64_t h = lanes.head_of(lane);
    const std::int64_t i = lanes.query_of(lane);
    const Finished row = finished(maximum, sum, h);
    const typename S::F factor = S::splat(row.factor);
    for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) S::store(values + d, S::mul(S::load(values + d), factor));
    store_row<S>(values, call_.Dv, call_.dtype,
                 segment_.out + (h * segment_.out_head_stride + i * segment_.out_row_stride) * bytes_of(call_.dtype));
    segment_.lse[h * segment_.lse_head_stride + i * segment_.lse_row_stride] = row.lse;
  }

  void keep() {
    const Block& block = blocks_[0];
    float* rows = task_.partial + 2 * kTile;
    for (std::int64_t lane = 0; lane < kTile; lane += S::kLanes) {
      S::store(task_.partial + lane, S::load(block.running.maximum + lane));
      S::store(task_.partial + kTile + lane, S::load(block.running.sum + lane));
    }
    for (std::int64_t lane = 0; lane < block.lanes.count(); ++lane, rows += partial_stride(call_.Dv)) {
      if (lane % S::kLanes == 0) Products::unpack_sums(block.sums, call_.Dv, lane, stage_);
      const float* values = stage_ + lane % S::kLanes * round_up(call_.Dv, S::kLanes);
      for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) S::store(rows + d, S::load(values + d));
    }
  }

  void merge_lane(const Lanes& lanes, std::int64_t lane, std::int64_t pieces) {
    const std::int64_t stride = partial_floats(lanes.count(), call_.Dv);
    float maximum = -Softmax::kInfinity;
    for (std::int64_t n = 0; n < pieces; ++n) {
      const float one = task_.partial[n * stride + lane];
      maximum = one > maximum ? one : maximum;
    }
    float sum = 0;
    for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) S::store(stage_ + d, S::zero());
    for (std::int64_t n = 0; n < pieces; ++n) {
      const float* piece = task_.partial + n * stride;
      if (piece[lane] == -Softmax::kInfinity && piece[kTile + lane] == 0) continue;
      const float share = piece[lane] == maximum ? 1.0F : std::exp2((piece[lane] - maximum) * settings_.to_log2);
      const typename S::F factor = S::splat(share);
      sum += piece[kTile + lane] * share;
      const float* values = piece + 2 * kTile + lane * partial_stride(call_.Dv);
      for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) {
        S::store(stage_ + d, S::fma(S::load(values + d), factor, S::load(stage_ + d)));
      }
    }
    finish_lane(lanes, lane, maximum, sum, stage_);
  }

  struct Finished {
    float factor;
    float lse;
  };

  // A sink is one more score, which has no value.
  [[nodiscard]] Finished finished(float maximum, float sum, std::int64_t h) const {
    const double top = maximum * settings_.to_nats;
    const double sink = call_.sinks.empty() ? -INFINITY : call_.sinks[static_cast<std::size_t>(h)];
    if (sink == -INFINITY) {
      return {.factor = sum == 0 ? 0.0F : 1 / sum,
              .lse = static_cast<float>(sum == 0 ? -INFINITY : top + std::log(static_cast<double>(sum)))};
    }
    const double highest = top > sink ? top : sink;
    const double share = std::exp(top - highest);
    const double total = sum * share + std::exp(sink - highest);
    return {.factor = static_cast<float>(share / total), .lse = static_cast<float>(highest + std::log(total))};
  }

  const Settings& settings_;
  const Forward& call_;
  const Segment& segment_;
  const Task& task_;
  float* tile_buffer_;
  float* scores_;
  float* biases_;
  float* bias_rows_;
  float* stage_;
  Block blocks_[kMostBlocks];
};

}  // namespace qkv::kernels::cpu
