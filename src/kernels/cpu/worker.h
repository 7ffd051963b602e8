// Runs one task: every tile of keys and values that its queries see, in order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/tile_steps.h"
#include "kernels/lse_rounding.h"

namespace qkv::kernels::cpu {

/// `Engine` takes a block's tiles through products and softmax: InOrder, or a pipeline.
template <class Engine>
class Worker {
  using Products = typename Engine::Products;
  using S = typename Products::Simd;

 public:
  static constexpr std::int64_t kMostBlocks = 8;
  static constexpr std::int64_t kMostLanes = Products::kMostLanes;  // of a block

  static bool takes(const Forward& call) { return Products::takes(call); }
  static std::int64_t most_lanes(const Forward& /*call*/) { return kMostLanes; }

  static std::int64_t blocks_a_task(const Forward& call) {
    // Queries and sums of all blocks stay in the second-level cache.
    constexpr std::int64_t kFloats = 512 * 1024 / 4;
    const std::int64_t blocks = kFloats / (Products::query_floats(call.D) + Products::sum_floats(call.Dv) + 1);
    return blocks < 1 ? 1 : blocks > kMostBlocks ? kMostBlocks : blocks;
  }

  static std::size_t worker_bytes(const Forward& call) {
    const std::int64_t floats = Engine::kColumns * Products::tile_floats(call.D, call.Dv) + Engine::floats() +
                                TileSteps<Products>::floats(call) + stage_floats(call) +
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
      for (std::int64_t n = 0; n < task.blocks; ++n) {
        worker.keep(worker.blocks_[n], task.partial + n * task.partial_stride);
      }
    }
  }

  static void merge(const Settings& settings, const Task& task, std::span<const KeptStates> kept, std::byte* scratch) {
    Worker worker(settings, task, reinterpret_cast<float*>(scratch));
    const Lanes& lanes = worker.blocks_[0].lanes;
    for (std::int64_t lane = 0; lane < lanes.count(); ++lane) worker.merge_lane(lanes, lane, kept);
  }

 private:
  /// Hands out a worker's scratch.
  struct Floats {
    float* next;

    float* take(std::int64_t count) {
      float* block = next;
      next += count;
      return block;
    }
  };

  // Rows of one vector of lanes, on their way in or out.
  static std::int64_t stage_floats(const Forward& call) {
    const std::int64_t width = call.D > call.Dv ? call.D : call.Dv;
    return S::kLanes * round_up(width, kTile);
  }

  Worker(const Settings& settings, const Task& task, float* scratch)
      : call_(*settings.call),
        settings_(settings),
        segment_(*task.segment),
        task_(task),
        scratch_{scratch},
        steps_(settings, task, scratch_.take(TileSteps<Products>::floats(call_))),
        engine_(steps_, scratch_.take(Engine::floats())),
        stage_(scratch_.take(stage_floats(call_))) {
    for (float*& buffer : tile_buffers_) buffer = scratch_.take(Products::tile_floats(call_.D, call_.Dv));
    const LaneBlocks blocks(segment_.shape.Tq, call_.group());
    for (std::int64_t n = 0; n < task.blocks; ++n) {
      Block& block = blocks_[n];
      block.lanes = blocks.block(task.first_block + n, task.key_head);
      block.columns = columns_of(segment_, block.lanes);
      block.q = scratch_.take(Products::query_floats(call_.D));
      block.sums = scratch_.take(Products::sum_floats(call_.Dv));
    }
  }

  void start(Block& block) {
    const std::byte* rows[kTile] = {};
    const std::int64_t bytes = bytes_of(call_.dtype);
    for (std::int64_t lane = 0; lane < block.lanes.count(); ++lane) {
      rows[lane] = row_of(segment_.q, block.lanes, lane, bytes);
      fetch<Fetch::second_level>(rows[lane], call_.D * bytes);
    }
    Products::pack_queries(rows, call_.dtype, call_.D, settings_.query_sign, stage_, block.q);
    const std::int64_t sums = used_floats(block.lanes.count());  // read once: a store might change it
    for (std::int64_t n = 0; n < sums; n += S::kLanes) S::store(block.sums + n, S::zero());
    for (std::int64_t lane = 0; lane < kTile; lane += S::kLanes) {
      S::store(block.running.maximum + lane, S::splat(-INFINITY));
      S::store(block.running.sum + lane, S::zero());
    }
  }

  // How many floats of a block's sums its lanes use.
  [[nodiscard]] std::int64_t used_floats(std::int64_t lanes) const {
    if constexpr (requires { Products::sum_floats_of(lanes, call_.Dv); }) {
      return Products::sum_floats_of(lanes, call_.Dv);
    }
    return Products::sum_floats(call_.Dv);
  }

  // Writes the sums of the lanes from `first` on to stage_, as many as a vector has. Returns how many there are.
  std::int64_t unpack(const Block& block, std::int64_t first) const {
    const std::int64_t left = block.lanes.count() - first;
    const std::int64_t lanes = left < S::kLanes ? left : S::kLanes;
    if constexpr (requires { Products::unpack_sums(block.sums, call_.Dv, first, lanes, stage_); }) {
      Products::unpack_sums(block.sums, call_.Dv, first, lanes, stage_);
    } else {
      Products::unpack_sums(block.sums, call_.Dv, first, stage_);
    }
    return lanes;
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
    // So that a block's tiles are grouped alike, whichever others its task has.
    begin -= (begin - task_.columns.begin) % Engine::kColumns;
    for (std::int64_t column = begin; column < end; column += Engine::kColumns) {
      run_columns(column, column + Engine::kColumns < end ? column + Engine::kColumns : end);
    }
  }

  // Each tile is loaded once for all blocks.
  void run_columns(std::int64_t begin, std::int64_t end) {
    TileClass classes[Engine::kColumns][kMostBlocks];
    typename Products::Tile tiles[Engine::kColumns];
    for (std::int64_t slot = 0; slot < end - begin; ++slot) {
      if (classify(begin + slot, classes[slot])) tiles[slot] = load(begin + slot, tile_buffers_[slot]);
    }
    for (std::int64_t n = 0; n < task_.blocks; ++n) {
      for (std::int64_t slot = 0; slot < end - begin; ++slot) {
        if (classes[slot][n] == TileClass::skip) continue;
        engine_.add(blocks_[n], tiles[slot], begin + slot, slot, classes[slot][n]);
      }
      engine_.finish(blocks_[n]);
    }
  }

  // True if any block wants the column.
  bool classify(std::int64_t column, TileClass* classes) const {
    bool wanted = false;
    for (std::int64_t n = 0; n < task_.blocks; ++n) {
      const KeyRange& columns = blocks_[n].columns;
      const bool outside = column < columns.begin || column >= columns.end;
      classes[n] = outside ? TileClass::skip : class_of(segment_, blocks_[n].lanes, column);
      wanted = wanted || classes[n] != TileClass::skip;
    }
    return wanted;
  }

  [[nodiscard]] typename Products::Tile load(std::int64_t column, float* buffer) const {
    const std::int64_t j = column * kTile;
    const std::int64_t keys = segment_.shape.Tk - j < kTile ? segment_.shape.Tk - j : kTile;
    const KvRows k = segment_.k.head(task_.key_head);
    const KvRows v = segment_.v.head(task_.key_head);
    auto tile = Products::load(k, v, j, keys, call_.D, call_.Dv, buffer);
    if constexpr (requires { Products::look_ahead(tile, k, v, j, keys); }) {
      const std::int64_t left = segment_.shape.Tk - j - keys;
      const bool more = column + 1 < task_.columns.end;
      Products::look_ahead(tile, k, v, j + keys, !more ? 0 : left < kTile ? left : kTile);
    }
    return tile;
  }

  void finish() {
    for (std::int64_t n = 0; n < task_.blocks; ++n) {
      for (std::int64_t lane = 0; lane < blocks_[n].lanes.count(); lane += S::kLanes) finish_lanes(blocks_[n], lane);
    }
  }

  void finish_lanes(Block& block, std::int64_t first) {
    fetch_out(block.lanes, first);
    const std::int64_t lanes = unpack(block, first);
    for (std::int64_t n = 0; n < lanes; ++n) {
      const std::int64_t lane = first + n;
      finish_lane(block.lanes, lane, block.running.maximum[lane], block.running.sum[lane],
                  stage_ + n * round_up(call_.Dv, S::kLanes));
    }
  }

  // The rows of a vector of lanes.
  void fetch_out(const Lanes& lanes, std::int64_t first) const {
    const std::int64_t end = first + S::kLanes < lanes.count() ? first + S::kLanes : lanes.count();
    for (std::int64_t lane = first; lane < end; ++lane) {
      fetch<Fetch::to_write>(out_row(lanes.head_of(lane), lanes.query_of(lane)),
                             call_.Dv * bytes_of(segment_.out_dtype));
    }
  }

  [[nodiscard]] std::byte* out_row(std::int64_t h, std::int64_t i) const {
    return segment_.out + (h * segment_.out_head_stride + i * segment_.out_row_stride) * bytes_of(segment_.out_dtype);
  }

  void finish_lane(const Lanes& lanes, std::int64_t lane, float maximum, float sum, float* values) {
    const std::int64_t h = lanes.head_of(lane);
    const std::int64_t i = lanes.query_of(lane);
    const Finished row = finished(maximum, sum, h);
    store_row<S>(values, row.factor, call_.Dv, segment_.out_dtype, out_row(h, i));
    store_lse(h, i, row.lse);
  }

  void store_lse(std::int64_t h, std::int64_t i, double lse) const {
    const std::int64_t place = h * segment_.lse_head_stride + i * segment_.lse_row_stride;
    if (segment_.lse_dtype == DType::f64) {
      reinterpret_cast<double*>(segment_.lse)[place] = lse;
    } else {
      reinterpret_cast<float*>(segment_.lse)[place] = stored_lse(lse);
    }
  }

  void keep(const Block& block, float* state) {
    float* rows = state + 2 * kTile;
    for (std::int64_t lane = 0; lane < kTile; lane += S::kLanes) {
      S::store(state + lane, S::load(block.running.maximum + lane));
      S::store(state + kTile + lane, S::load(block.running.sum + lane));
    }
    for (std::int64_t lane = 0; lane < block.lanes.count(); ++lane, rows += partial_stride(call_.Dv)) {
      if (lane % S::kLanes == 0) unpack(block, lane);
      const float* values = stage_ + lane % S::kLanes * round_up(call_.Dv, S::kLanes);
      for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) S::store(rows + d, S::load(values + d));
    }
  }

  // A lane's part of the state of a block.
  struct LaneState {
    float maximum;
    float sum;
    const float* values;

    [[nodiscard]] bool is_empty() const { return maximum == -INFINITY && sum == 0; }
  };

  template <class Body>
  void for_each_state(const Lanes& lanes, std::int64_t lane, std::span<const KeptStates> kept, const Body& body) const {
    const std::int64_t head = lanes.head_of(lane) - task_.key_head * call_.group();
    for (const KeptStates& states : kept) {
      const auto place = LaneBlocks(states.Tq, call_.group()).place_of(head, states.first_query + lanes.query_of(lane));
      for (std::int64_t n = 0; n < states.pieces; ++n) {
        const float* state = states.first + n * states.piece_stride + place.block * states.block_stride;
        body(LaneState{.maximum = state[place.lane],
                       .sum = state[kTile + place.lane],
                       .values = state + 2 * kTile + place.lane * partial_stride(call_.Dv)});
      }
    }
  }

  void merge_lane(const Lanes& lanes, std::int64_t lane, std::span<const KeptStates> kept) {
    float maximum = -INFINITY;
    for_each_state(lanes, lane, kept,
                   [&](const LaneState& state) { maximum = state.maximum > maximum ? state.maximum : maximum; });
    float sum = 0;
    for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) S::store(stage_ + d, S::zero());
    for_each_state(lanes, lane, kept, [&](const LaneState& state) {
      if (state.is_empty()) return;
      const float share = state.maximum == maximum ? 1.0F : std::exp2((state.maximum - maximum) * settings_.to_log2);
      const typename S::F factor = S::splat(share);
      sum += state.sum * share;
      for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) {
        S::store(stage_ + d, S::fma(S::load(state.values + d), factor, S::load(stage_ + d)));
      }
    });
    finish_lane(lanes, lane, maximum, sum, stage_);
  }

  struct Finished {
    float factor;
    double lse;
  };

  // A sink is one more score, which has no value.
  [[nodiscard]] Finished finished(float maximum, float sum, std::int64_t h) const {
    const double top = maximum * settings_.to_nats;
    const double sink = call_.problem->sinks.empty() ? -INFINITY : call_.problem->sinks[static_cast<std::size_t>(h)];
    if (sink == -INFINITY) {
      return {.factor = sum == 0 ? 0.0F : 1 / sum, .lse = sum == 0 ? -INFINITY : top + std::log(sum)};
    }
    const double highest = top > sink ? top : sink;
    const double share = std::exp(top - highest);
    const double total = sum * share + std::exp(sink - highest);
    return {.factor = static_cast<float>(share / total), .lse = highest + std::log(total)};
  }

  const Forward& call_;
  const Settings& settings_;
  const Segment& segment_;
  const Task& task_;
  Floats scratch_;
  TileSteps<Products> steps_;
  Engine engine_;
  float* stage_;
  float* tile_buffers_[Engine::kColumns];
  Block blocks_[kMostBlocks];
};

}  // namespace qkv::kernels::cpu
