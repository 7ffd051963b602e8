// Runs one task of the backward pass: a range of keys, with every block of queries that sees them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "kernels/cpu/backward_task.h"
#include "kernels/cpu/tile_gradient.h"
#include "kernels/cpu/tile_steps.h"
#include "kernels/lse_rounding.h"

namespace qkv::kernels::cpu {

/// `Products` does the matrix products of a tile: FmaGradients.
template <class Products>
class BackwardWorker {
  using S = typename Products::Simd;
  using Gradient = TileGradient<S>;
  using Steps = TileSteps<Products>;

 public:
  static constexpr std::int64_t kMostColumns = 16;

  static std::int64_t columns_a_task(const Forward& call) {
    // The keys of a task, and their gradients, stay in the second-level cache.
    constexpr std::int64_t kFloats = 1300 * 1024 / 4;
    const std::int64_t columns = kFloats / Products::key_floats(call.D, call.Dv);
    return columns < 1 ? 1 : columns > kMostColumns ? kMostColumns : columns;
  }

  /// Floats of d_q of one lane block, of all tasks.
  static std::int64_t d_q_floats(const Forward& call) { return Products::d_q_floats(call.D); }

  static std::size_t worker_bytes(const Forward& call) {
    const std::int64_t floats = columns_a_task(call) * Products::key_floats(call.D, call.Dv) +
                                Products::query_floats(call.D, call.Dv) + Steps::floats(call) +
                                kPairTiles * kTile * kTile + block_d_q_floats(call) + row_floats(call);
    return static_cast<std::size_t>(floats) * sizeof(float);
  }

  static void run(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
    BackwardWorker worker(settings, task, reinterpret_cast<float*>(scratch));
    const LaneBlocks blocks(worker.segment_.shape.Tq, worker.call_.group());
    if (task.turn == 0) worker.clear_d_q(blocks.count());
    worker.load_keys();
    for (std::int64_t n = 0; n < blocks.count(); ++n) {
      worker.run_block(blocks.block(n, task.key_head), n);
      end_turn(task, n);
    }
    worker.store_keys();
  }

  static void largest_key(const Settings& settings, const BackwardTask& task, float* largest) {
    const Segment& segment = task.segment->forward;
    const KvRows rows = segment.k.head(task.key_head);
    largest_of(
        settings.call->D, settings.call->dtype, segment.shape.Tk, [&](std::int64_t j) { return rows.row(j); }, largest);
  }

  static void sum_rows(const Settings& settings, const BackwardTask& task, std::int64_t block, const float* largest_key,
                       RowSums& sums, std::byte* scratch) {
    BackwardWorker worker(settings, task, reinterpret_cast<float*>(scratch));
    const LaneBlocks blocks(worker.segment_.shape.Tq, worker.call_.group());
    worker.point_at(blocks.block(block, task.key_head));
    worker.sum_rows(sums);
    worker.scale_rows(largest_key, sums);
  }

  /// Writes d_q of the task's key head, of which every share has been added.
  static void finish(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
    const Forward& call = *settings.call;
    const LaneBlocks blocks(task.segment->forward.shape.Tq, call.group());
    for (std::int64_t n = 0; n < blocks.count(); ++n) {
      store_d_q(call, blocks.block(n, task.key_head), task.d_q + n * d_q_floats(call), task.segment->d_q,
                reinterpret_cast<float*>(scratch));
    }
  }

 private:
  static constexpr std::int64_t kWide = 4;       // vectors that largest_of() takes at a time
  static constexpr std::int64_t kPairTiles = 4;  // weights, d_scores, dropped weights, slopes

  // Floats of a lane block's d_q within one task.
  static std::int64_t block_d_q_floats(const Forward& call) {
    if constexpr (requires { Products::block_d_q_floats(call.D); }) return Products::block_d_q_floats(call.D);
    return d_q_floats(call);
  }

  static std::int64_t row_floats(const Forward& call) {
    return 2 * round_up(call.D > call.Dv ? call.D : call.Dv, S::kLanes);
  }

  // largest[d] = the largest |row(n)[d]|, NaN left out, and zeros up to a multiple of the lanes.
  template <class Row>
  static void largest_of(std::int64_t D, DType dtype, std::int64_t rows, const Row& row, float* largest) {
    std::int64_t d = 0;
    for (; d + kWide * S::kLanes <= D; d += kWide * S::kLanes) largest_in<kWide>(d, D, dtype, rows, row, largest);
    for (; d < D; d += S::kLanes) largest_in<1>(d, D, dtype, rows, row, largest);
  }

  // Of kVectors vectors from column d on; only a single one may end beyond D.
  template <std::int64_t kVectors, class Row>
  static void largest_in(std::int64_t d, std::int64_t D, DType dtype, std::int64_t rows, const Row& row,
                         float* largest) {
    alignas(64) float tail[S::kLanes];
    typename S::F most[kVectors];
    for (auto& vector : most) vector = S::zero();
    const bool whole = d + kVectors * S::kLanes <= D;
    for (std::int64_t n = 0; n < rows; ++n) {
      const std::byte* from = row(n);
      if (!whole) load_row<S>(from + d * bytes_of(dtype), dtype, D - d, 1, tail);
      for (std::int64_t x = 0; x < kVectors; ++x) {
        const typename S::F next = whole ? load_as_f32<S>(from, dtype, d + x * S::kLanes) : S::load(tail);
        most[x] = S::max(S::abs(next), most[x]);
      }
    }
    for (std::int64_t x = 0; x < kVectors; ++x) S::store(largest + d + x * S::kLanes, most[x]);
  }

  static void store_d_q(const Forward& call, const Lanes& lanes, const float* d_q, const GradientRows& to,
                        float* rows) {
    const std::int64_t stride = round_up(call.D, S::kLanes);
    for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
      if (lane % S::kLanes == 0) Products::unpack_d_q(d_q, call.D, lane, rows);
      std::byte* row =
          to.base + (lanes.head_of(lane) * to.head_stride + lanes.query_of(lane) * to.row_stride) * bytes_of(to.dtype);
      store_row<S>(rows + lane % S::kLanes * stride, stored_scale(call.problem->scale), call.D, to.dtype, row);
    }
  }

  BackwardWorker(const Settings& settings, const BackwardTask& task, float* scratch)
      : call_(*settings.call),
        settings_(settings),
        task_(task),
        segment_(task.segment->forward),
        steps_task_{.segment = &segment_, .key_head = task.key_head, .columns = {}},
        next_(scratch),
        steps_(settings, steps_task_, take(Steps::floats(call_))),
        queries_buffer_(take(Products::query_floats(call_.D, call_.Dv))),
        weights_(take(kTile * kTile)),
        d_scores_(take(kTile * kTile)),
        dropped_(take(kTile * kTile)),
        slopes_(take(kTile * kTile)),
        d_q_(take(block_d_q_floats(call_))),
        rows_(take(row_floats(call_))) {}

  float* take(std::int64_t count) {
    float* block = next_;
    next_ += count;
    return block;
  }

  void clear_d_q(std::int64_t blocks) {
    const std::int64_t count = blocks * d_q_floats(call_);
    for (std::int64_t n = 0; n < count; n += S::kLanes) S::store(task_.d_q + n, S::zero());
  }

  void load_keys() {
    for (std::int64_t n = 0; n < task_.columns; ++n) {
      const std::int64_t j = (task_.first_column + n) * kTile;
      const std::int64_t keys = segment_.shape.Tk - j < kTile ? segment_.shape.Tk - j : kTile;
      finite_keys_[n] = Products::load_keys(segment_.k.head(task_.key_head), segment_.v.head(task_.key_head), j, keys,
                                            call_.D, call_.Dv, take(Products::key_floats(call_.D, call_.Dv)), keys_[n]);
    }
  }

  void run_block(const Lanes& lanes, std::int64_t n) {
    TileClass classes[kMostColumns] = {};
    bool wanted = false;
    for (std::int64_t c = 0; c < task_.columns; ++c) {
      classes[c] = class_of(segment_, lanes, task_.first_column + c);
      wanted = wanted || classes[c] != TileClass::skip;
    }
    if (!wanted) return;
    point_at(lanes);
    finite_queries_ = Products::load_queries(q_, d_out_, lanes.count(), call_.dtype, call_.D, call_.Dv,
                                             settings_.query_sign, queries_buffer_, queries_);
    for (std::int64_t x = 0; x < block_d_q_floats(call_); x += S::kLanes) S::store(d_q_ + x, S::zero());
    for (std::int64_t c = 0; c < task_.columns; ++c) {
      if (classes[c] != TileClass::skip) add_tile(c, classes[c], task_.sums[n]);
    }
    wait_for_turn(task_, n);
    add_d_q(task_.d_q + n * d_q_floats(call_));
  }

  void add_d_q(float* sums) {
    if constexpr (requires { Products::add_block_d_q(d_q_, call_.D, kTile, sums); }) {
      return Products::add_block_d_q(d_q_, call_.D, block_.lanes.count(), sums);
    }
    for (std::int64_t x = 0; x < d_q_floats(call_); x += S::kLanes) {
      S::store(sums + x, S::add(S::load(sums + x), S::load(d_q_ + x)));
    }
  }

  void point_at(const Lanes& lanes) {
    block_.lanes = lanes;
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      const bool used = lane < lanes.count();
      q_[lane] = used ? row_of(segment_.q, lane) : nullptr;
      d_out_[lane] = used ? row_of(task_.segment->d_out, lane) : nullptr;
    }
  }

  void sum_rows(RowSums& sums) {
    constexpr auto kLog2e = std::numbers::log2e_v<float>;
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      const bool used = lane < block_.lanes.count();
      sums.log2_sum[lane] = used ? row_number(task_.segment->lse, lane) * kLog2e : 0;
      sums.delta[lane] = used && task_.segment->d_lse.rank() == 2 ? -row_number(task_.segment->d_lse, lane) : 0;
    }
    for (std::int64_t lane = 0; lane < block_.lanes.count(); lane += S::kLanes) add_d_out_times_out(lane, sums.delta);
  }

  // Sums again the rows whose lse is too coarse.
  void scale_rows(const float* largest_key, RowSums& sums) {
    const Lanes& lanes = block_.lanes;
    SummedRow rows[kTile];
    double largest_lse = 0;
    for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
      rows[lane].given = row_number(task_.segment->lse, lane);
      // Neither NaN nor a row that sees nothing has a sum.
      const double size = rows[lane].given == -INFINITY ? 0 : std::abs(rows[lane].given);
      largest_lse = size > largest_lse ? size : largest_lse;
    }
    // First of all lanes together, which is mostly enough.
    largest_of(call_.D, call_.dtype, lanes.count(), [&](std::int64_t lane) { return q_[lane]; }, rows_);
    sums.scaled = needs_sum(call_, {.given = largest_lse, .terms = terms_of(rows_, largest_key)});
    if (!sums.scaled) return;
    sums.scaled = false;
    for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
      load_row<S>(q_[lane], call_.dtype, call_.D, 1, rows_);
      rows[lane].terms = terms_of(rows_, largest_key);
      sums.scaled = sums.scaled || needs_sum(call_, rows[lane]);
    }
    if (!sums.scaled) return;
    for (std::int64_t lane = 0; lane < kTile; ++lane) sums.shift[lane] = sums.factor[lane] = 0;
    // Without values and d_out.
    static_cast<void>(Products::load_queries(q_, q_, lanes.count(), call_.dtype, call_.D, 0, settings_.query_sign,
                                             queries_buffer_, queries_));
    alignas(64) float maxima[kTile];
    alignas(64) float totals[kTile];
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      maxima[lane] = -INFINITY;
      totals[lane] = 0;
    }
    add_scores(maxima, totals);
    for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
      rows[lane].maximum = maxima[lane];
      rows[lane].sum = totals[lane];
      set_scale(settings_, rows[lane], segment_, lanes.head_of(lane), lane, sums);
    }
  }

  // The sum of |scale q_d k_d| with the largest k_d that there are.
  double terms_of(const float* q, const float* largest_key) const {
    typename S::F sum = S::zero();
    for (std::int64_t d = 0; d < call_.D; d += S::kLanes) {
      sum = S::fma(S::abs(S::load(q + d)), S::load(largest_key + d), sum);
    }
    alignas(64) float parts[S::kLanes];
    S::store(parts, sum);
    double total = 0;
    for (const float part : parts) total += part;
    return std::abs(call_.problem->scale) * total;
  }

  // Over all keys, column by column, with the same bits as in add_tile().
  void add_scores(float* maxima, float* sums) {
    float* const buffer = take(Products::key_floats(call_.D, call_.Dv));
    const KvRows rows = segment_.k.head(task_.key_head);
    for (std::int64_t column = 0; column * kTile < segment_.shape.Tk; ++column) {
      const TileClass tile_class = class_of(segment_, block_.lanes, column);
      if (tile_class == TileClass::skip) continue;
      const std::int64_t j = column * kTile;
      const std::int64_t count = segment_.shape.Tk - j < kTile ? segment_.shape.Tk - j : kTile;
      static_cast<void>(Products::load_keys(rows, rows, j, count, call_.D, 0, buffer, keys_[0]));
      Products::scores(keys_[0], queries_, call_.D, weights_);
      steps_.shape(block_, count, column, tile_class, weights_);
      Gradient::add_to_sums(weights_, settings_.to_log2, count, block_.lanes.count(), maxima, sums);
    }
  }

  [[nodiscard]] const std::byte* row_of(const TensorView& rows, std::int64_t lane) const {
    return cpu::row_of(rows, block_.lanes, lane, bytes_of(call_.dtype));
  }

  [[nodiscard]] float row_number(const TensorView& numbers, std::int64_t lane) const {
    const std::int64_t h = block_.lanes.head_of(lane);
    const std::int64_t i = block_.lanes.query_of(lane);
    return static_cast<const float*>(numbers.data())[h * numbers.strides()[0] + i * numbers.strides()[1]];
  }

  // A vector of partial sums for each lane, then all lanes at once. Where out is 0, d_out is left out.
  void add_d_out_times_out(std::int64_t first, float* delta) {
    alignas(64) float parts[S::kLanes * S::kLanes] = {};
    for (std::int64_t n = 0; n < S::kLanes && first + n < block_.lanes.count(); ++n) {
      const std::int64_t lane = first + n;
      const std::byte* out = row_of(task_.segment->out, lane);
      float* other = rows_ + round_up(call_.Dv, S::kLanes);
      load_row<S>(d_out_[lane], call_.dtype, call_.Dv, 1, rows_);
      load_row<S>(out, call_.dtype, call_.Dv, 1, other);
      typename S::F sum = S::zero();
      for (std::int64_t d = 0; d < call_.Dv; d += S::kLanes) {
        const typename S::F result = S::load(other + d);
        const auto zero = S::equal(result, S::zero());  // whose d_out may be anything
        sum = S::fma(S::select(zero, S::zero(), S::load(rows_ + d)), result, sum);
      }
      S::store(parts + n * S::kLanes, sum);
    }
    transpose_block<S>(parts, S::kLanes, parts, S::kLanes);
    typename S::F total = S::zero();
    for (std::int64_t n = 0; n < S::kLanes; ++n) total = S::add(total, S::load(parts + n * S::kLanes));
    S::store(delta + first, S::add(total, S::load(delta + first)));
  }

  void add_tile(std::int64_t c, TileClass tile_class, const RowSums& sums) {
    const typename Products::Keys& keys = keys_[c];
    const std::int64_t lanes = block_.lanes.count();
    const std::int64_t column = task_.first_column + c;
    Products::scores(keys, queries_, call_.D, weights_);
    if (settings_.softcap > 0) {
      Gradient::slopes_of(weights_, settings_.scale / settings_.softcap, keys.count, lanes, slopes_);
    }
    steps_.shape(block_, keys.count, column, tile_class, weights_);
    Products::d_weights(keys, queries_, call_.Dv, d_scores_);
    const bool finite = finite_queries_ && finite_keys_[c];
    std::uint64_t visible[kTile];
    if (!finite) Steps::Softmax::find_visible(weights_, keys.count, lanes, visible);
    const float* weights = weigh(keys.count, column, sums);
    if (settings_.softcap > 0) Gradient::multiply(slopes_, keys.count, lanes, d_scores_);
    Products::add_d_v(keys, queries_, call_.Dv, weights);
    Products::add_d_k(keys, queries_, call_.D, d_scores_);
    Products::add_d_q(keys, queries_, call_.D, d_scores_, d_q_);
    if constexpr (!requires { Products::kTakesFiniteOnly; }) {
      if (!finite) add_unbounded(c, visible, weights);
    }
  }

  // Returns the weights that the values were multiplied by.
  const float* weigh(std::int64_t keys, std::int64_t column, const RowSums& sums) {
    const std::int64_t lanes = block_.lanes.count();
    if (!call_.problem->dropout) {
      Gradient::weigh(sums, settings_.to_log2, keys, lanes, weights_, d_scores_);
      return weights_;
    }
    Gradient::weigh_only(sums, settings_.to_log2, keys, lanes, weights_);
    for (std::int64_t n = 0; n < keys * kTile; n += S::kLanes) S::store(dropped_ + n, S::splat(1.0F));
    drop<S, kTile>(settings_.dropout, segment_, block_.lanes, column * kTile, keys, dropped_);
    Gradient::to_d_scores(sums, keys, lanes, weights_, dropped_, d_scores_);
    return dropped_;
  }

  // Elements that are NaN or infinite were left out of the products, where a 0 would have spread them to rows that do
  // not see them.
  void add_unbounded(std::int64_t c, const std::uint64_t* visible, const float* weights) {
    const typename Products::Keys& keys = keys_[c];
    for (std::int64_t lane = 0; lane < block_.lanes.count(); ++lane) {
      for (std::int64_t n = 0; n < keys.count; ++n) {
        if ((visible[n] >> lane & 1U) == 0) continue;
        Products::add_unbounded(keys, queries_, n, lane, weights[n * kTile + lane], d_scores_[n * kTile + lane],
                                call_.D, call_.Dv, d_q_);
      }
    }
  }

  void store_keys() {
    for (std::int64_t c = 0; c < task_.columns; ++c) {
      const std::int64_t j = (task_.first_column + c) * kTile;
      const auto factor = stored_scale(std::abs(call_.problem->scale));
      store_rows(keys_[c].d_k, keys_[c].count, j, call_.D, factor, task_.segment->d_k);
      store_rows(keys_[c].d_v, keys_[c].count, j, call_.Dv, 1, task_.segment->d_v);
    }
  }

  void store_rows(const float* from, std::int64_t count, std::int64_t j, std::int64_t width, float factor,
                  const GradientRows& to) const {
    if (to.base == nullptr) return;
    for (std::int64_t n = 0; n < count; ++n) {
      std::byte* row = to.base + (task_.key_head * to.head_stride + (j + n) * to.row_stride) * bytes_of(to.dtype);
      Products::store_row(from, n, width, factor, to.dtype, row);
    }
  }

  const Forward& call_;
  const Settings& settings_;
  const BackwardTask& task_;
  const Segment& segment_;
  Task steps_task_;
  float* next_;
  Steps steps_;
  float* queries_buffer_;
  float* weights_;
  float* d_scores_;
  float* dropped_;
  float* slopes_;
  float* d_q_;
  float* rows_;
  typename Products::Keys keys_[kMostColumns];
  bool finite_keys_[kMostColumns];
  typename Products::Queries queries_;
  bool finite_queries_ = true;
  const std::byte* q_[kTile];
  const std::byte* d_out_[kTile];
  Block block_;
};

template <class Products>
constexpr BackwardTarget backward_target() {
  using Worker = BackwardWorker<Products>;
  return {.columns_a_task = Worker::columns_a_task,
          .d_q_floats = Worker::d_q_floats,
          .worker_bytes = Worker::worker_bytes,
          .largest_key = Worker::largest_key,
          .sum_rows = Worker::sum_rows,
          .run = Worker::run,
          .finish = Worker::finish};
}

}  // namespace qkv::kernels::cpu
