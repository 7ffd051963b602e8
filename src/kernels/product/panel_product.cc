#include "kernels/product/panel_product.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/parallel.h"
#include "kernels/vector_loops.h"

namespace qkv::kernels {
namespace {

constexpr std::int64_t kMostWords = std::int64_t{1} << 21;  // of panels that are made at a time: 8 MB
constexpr std::int64_t kNearBytes = 64 << 10;               // of a panel of B that a tile reads at a time
constexpr std::int64_t kMostRowsOfTask = 96;                // whose panels stay in the second-level cache
constexpr std::int64_t kMostColumnsOfTask = 1536;
constexpr std::int64_t kLeastTask = std::int64_t{1} << 19;  // multiply-adds of a task

std::int64_t count_of(std::int64_t extent, std::int64_t piece) { return (extent + piece - 1) / piece; }
std::int64_t up_to_whole(std::int64_t extent, std::int64_t step) { return count_of(extent, step) * step; }

// Lanes whose panels are made at a time.
std::int64_t lanes_at_once(std::int64_t depth, std::int64_t width) {
  return std::max<std::int64_t>(1, kMostWords / std::max<std::int64_t>(1, depth) / width) * width;
}

// Sums are the same in tasks of any size. As many rows in each, and of many tasks as many for each thread.
std::int64_t rows_of_task(const PanelLoops& loops, std::int64_t M, int threads) {
  const std::int64_t fewest = std::max<std::int64_t>(1, count_of(M, kMostRowsOfTask));
  const std::int64_t tasks = fewest < threads ? fewest : up_to_whole(fewest, threads);
  return std::max(up_to_whole(count_of(M, tasks), loops.rows), loops.rows);
}

// A few tasks for each thread, none too small to be worth one.
std::int64_t columns_of_task(const PanelLoops& loops, std::int64_t M, std::int64_t rows, std::int64_t N,
                             std::int64_t depth, int threads) {
  constexpr std::int64_t kTasksOfThread = 4;
  const std::int64_t row_tasks = count_of(M, rows);
  const std::int64_t wanted =
      threads == 1 ? 1 : std::max<std::int64_t>(1, kTasksOfThread * threads / std::max<std::int64_t>(1, row_tasks));
  const std::int64_t least = kLeastTask / std::max<std::int64_t>(1, std::min(M, rows) * depth * loops.elements);
  const std::int64_t columns = std::min(std::max(count_of(N, wanted), least), kMostColumnsOfTask);
  return up_to_whole(std::max<std::int64_t>(columns, 1), loops.columns);
}

// Rows of A: in panels, or as they lie.
struct LeftRows {
  const std::byte* first;
  std::int64_t row;    // bytes from one row of a panel to the next
  std::int64_t step;   // bytes from one word of a row to the next
  std::int64_t panel;  // bytes from one panel to the next
};

struct Call {
  MutableTensorView out;
  LeftRows left;
  const Panels* right;
  const float* bias;
  Into into;
};

// Rows [row, row + rows) and columns [column, column + columns) of `out`; sums at `sums`, in f32.
void add_blocks(const Call& call, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                float* sums, std::int64_t sums_row) {
  const PanelLoops& loops = call.right->loops();
  const std::int64_t depth = call.right->depth();
  const std::int64_t step = kNearBytes / (loops.columns * static_cast<std::int64_t>(sizeof(std::uint32_t)));
  std::int64_t first = 0;
  do {
    const std::int64_t words = std::min(step, depth - first);
    const bool is_last = first + words == depth;
    loops.multiply({.left = call.left.first + row / loops.rows * call.left.panel + first * call.left.step,
                    .left_row = call.left.row,
                    .left_step = call.left.step,
                    .left_panel = call.left.panel,
                    .right = call.right->at(column) + first * loops.columns,
                    .right_panel = call.right->stride(),
                    .depth = words,
                    .out = sums,
                    .out_row = sums_row,
                    .rows = rows,
                    .columns = columns,
                    .bias = is_last && call.bias != nullptr ? call.bias + column : nullptr,
                    .sum = first == 0 && call.into == Into::written ? PanelSum::first : PanelSum::onto});
    first += words;
  } while (first < depth);
}

void run_task(const Call& call, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  const std::int64_t out_row = call.out.strides()[0];
  const std::int64_t offset = row * out_row + column;
  if (call.out.dtype() == DType::f32) {
    return add_blocks(call, row, rows, column, columns, static_cast<float*>(call.out.data()) + offset, out_row);
  }
  const core::PooledBlock block(static_cast<std::size_t>(rows * columns) * sizeof(float));
  auto* const sums = static_cast<float*>(block.data());
  add_blocks(call, row, rows, column, columns, sums, columns);
  auto* const to = static_cast<std::uint16_t*>(call.out.data()) + offset;
  for (std::int64_t n = 0; n < rows; ++n) {
    chosen_loops().narrow(call.out.dtype(), sums + n * columns, columns, to + n * out_row);
  }
}

void run(const Call& call, int threads) {
  const std::int64_t M = call.out.dim(0);
  const std::int64_t N = call.right->lanes();
  const std::int64_t rows = rows_of_task(call.right->loops(), M, threads);
  const std::int64_t width = columns_of_task(call.right->loops(), M, rows, N, call.right->depth(), threads);
  const std::int64_t row_tasks = count_of(M, rows);
  core::parallel_for(threads, row_tasks * count_of(N, width), [&](int /*worker*/, std::int64_t task) {
    const std::int64_t row = task % row_tasks * rows;
    const std::int64_t column = task / row_tasks * width;
    run_task(call, row, std::min(rows, M - row), column, std::min(width, N - column));
  });
}

std::int64_t depth_of(const PanelLoops& loops, std::int64_t K) { return count_of(K, loops.elements); }

constexpr auto kWord = static_cast<std::int64_t>(sizeof(std::uint32_t));

LeftRows in_panels(const Panels& panels) {
  const std::int64_t rows = panels.loops().rows;
  return {.first = reinterpret_cast<const std::byte*>(panels.at(0)),
          .row = kWord,
          .step = rows * kWord,
          .panel = panels.stride() * kWord};
}

// Whether rows of `a` are dense, and words as they lie.
bool is_of_words(const PanelLoops& loops, const TensorView& a) {
  const auto size = static_cast<std::int64_t>(size_of(a.dtype()));
  return a.strides()[1] == 1 && size * loops.elements == kWord && a.dim(1) % loops.elements == 0;
}

LeftRows as_they_lie(const PanelLoops& loops, const TensorView& a) {
  const std::int64_t row = a.strides()[0] * static_cast<std::int64_t>(size_of(a.dtype()));
  return {.first = static_cast<const std::byte*>(a.data()), .row = row, .step = kWord, .panel = loops.rows * row};
}

}  // namespace

const PanelLoops& panel_loops(DType a, DType b) {
  const PanelLoops* const pairs = a == DType::bf16 && b == DType::bf16 ? chosen_pairs() : nullptr;
  return pairs == nullptr ? chosen_loops().panels : *pairs;
}

Panels::Panels(const PanelLoops& loops, std::int64_t width, const TensorView& lanes, int threads)
    : loops_(&loops),
      width_(width),
      lanes_(lanes.dim(0)),
      depth_(depth_of(loops, lanes.dim(1))),
      words_(core::checked_bytes("product", {up_to_whole(lanes_, width), depth_}, sizeof(std::uint32_t))) {
  constexpr std::int64_t kWordsOfTask = 16384;
  const std::int64_t panels = count_of(lanes_, width);
  const std::int64_t piece = std::max<std::int64_t>(1, kWordsOfTask / std::max<std::int64_t>(1, stride()));
  auto* const words = static_cast<std::uint32_t*>(words_.data());
  core::parallel_for(threads, count_of(panels, piece), [&](int /*worker*/, std::int64_t task) {
    for (std::int64_t n = task * piece; n < std::min(panels, (task + 1) * piece); ++n) {
      const TensorView some = lanes.slice(0, n * width, std::min(lanes_, (n + 1) * width));
      loops.lay({.first = some.data(),
                 .dtype = lanes.dtype(),
                 .lane_stride = lanes.strides()[0],
                 .depth_stride = lanes.strides()[1],
                 .lanes = some.dim(0),
                 .depth = lanes.dim(1)},
                width, words + n * stride());
    }
  });
}

void multiply_panels(const MutableTensorView& out, const TensorView& a, const Panels& b, const float* bias, Into into,
                     int threads) {
  const PanelLoops& loops = b.loops();
  if (is_of_words(loops, a)) {
    return run({.out = out, .left = as_they_lie(loops, a), .right = &b, .bias = bias, .into = into}, threads);
  }
  const std::int64_t M = a.dim(0);
  const std::int64_t rows = std::max(up_to_whole(kMostRowsOfTask, loops.rows), lanes_at_once(b.depth(), loops.rows));
  for (std::int64_t first = 0; first < M; first += rows) {
    const std::int64_t end = std::min(M, first + rows);
    const Panels left(loops, loops.rows, a.slice(0, first, end), threads);
    run({.out = out.slice(0, first, end), .left = in_panels(left), .right = &b, .bias = bias, .into = into}, threads);
  }
}

void multiply_in_panels(const MutableTensorView& out, const TensorView& a, const TensorView& b, const float* bias,
                        int threads) {
  const PanelLoops& loops = panel_loops(a.dtype(), b.dtype());
  const std::int64_t N = b.dim(0);
  const std::int64_t columns = lanes_at_once(depth_of(loops, a.dim(1)), loops.columns);
  for (std::int64_t first = 0; first < N; first += columns) {
    const std::int64_t end = std::min(N, first + columns);
    const Panels right(loops, loops.columns, b.slice(0, first, end), threads);
    multiply_panels(out.slice(1, first, end), a, right, bias == nullptr ? nullptr : bias + first, Into::written,
                    threads);
  }
}

}  // namespace qkv::kernels
