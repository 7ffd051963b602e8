// Work in pieces whose size depends on the shape alone, so that results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/parallel.h"
#include "qkv/tensor.h"
#include "qkv/threads.h"

namespace qkv::kernels {

inline constexpr std::int64_t kPiece =
    16384;  // elements: small enough for a core's cache, large enough to be worth a task

/// body(begin, end) for pieces of [0, size).
template <class Body>
void for_pieces(std::int64_t size, std::int64_t piece, const Body& body) {
  const std::int64_t tasks = (size + piece - 1) / piece;
  core::parallel_for(threads(), tasks, [&](int /*worker*/, std::int64_t task) {
    body(task * piece, std::min(size, (task + 1) * piece));
  });
}

/// How much of `size` a task takes, in steps of `step`, where each of it takes `work` multiply-adds and comes from
/// memory once: as much for every thread, and none too little to be worth it. For results that no split changes.
inline std::int64_t even_piece(std::int64_t size, std::int64_t work, std::int64_t step) {
  constexpr std::int64_t kLeastWork = std::int64_t{1} << 15;  // of a task: a few microseconds
  constexpr std::int64_t kMostWork = std::int64_t{1} << 18;
  constexpr std::int64_t kTasksOfThread = 4;
  const std::int64_t workers = std::max(threads(), 1);
  const std::int64_t all = size * work;
  std::int64_t tasks = std::max(all / kMostWork, std::min(all / kLeastWork, kTasksOfThread * workers));
  if (tasks > workers) tasks = tasks / workers * workers;
  const std::int64_t piece = (size + std::max<std::int64_t>(tasks, 1) - 1) / std::max<std::int64_t>(tasks, 1);
  return std::max<std::int64_t>(1, (piece + step - 1) / step * step);
}

/// body(begin, end) for groups of rows of `width` elements, about kPiece elements a group.
template <class Body>
void for_rows(std::int64_t rows, std::int64_t width, const Body& body) {
  for_pieces(rows, std::max<std::int64_t>(1, kPiece / std::max<std::int64_t>(1, width)), body);
}

/// The axes of N operands of one shape, those merged that all operands walk through in one stride.
template <int N>
struct Walk {
  int rank = 1;
  std::array<std::int64_t, kMaxRank> extents = {1};
  std::array<std::array<std::int64_t, kMaxRank>, N> strides = {};
};

template <int N>
Walk<N> merged(const Shape& shape, const std::array<Strides, N>& strides) {
  Walk<N> walk;
  int last = -1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    bool joins = last >= 0;
    for (int n = 0; joins && n < N; ++n) joins = walk.strides[n][last] == strides[n][axis] * shape[axis];
    if (!joins) walk.extents[++last] = 1;
    walk.extents[last] *= shape[axis];
    for (int n = 0; n < N; ++n) walk.strides[n][last] = strides[n][axis];
  }
  walk.rank = std::max(last + 1, 1);
  return walk;
}

/// body(offsets, count): runs along the last merged axis, `count` elements from each operand's offset on, at the
/// operands' strides of that axis.
template <int N, class Body>
void for_runs(const Walk<N>& walk, const Body& body) {
  const int inner = walk.rank - 1;
  const std::int64_t width = walk.extents[inner];
  std::int64_t rows = 1;
  for (int axis = 0; axis < inner; ++axis) rows *= walk.extents[axis];
  if (rows == 0 || width == 0) return;
  const std::int64_t pieces = (width + kPiece - 1) / kPiece;
  const std::int64_t rows_a_task = std::max<std::int64_t>(1, kPiece / width);
  const std::int64_t groups = (rows + rows_a_task - 1) / rows_a_task;
  core::parallel_for(threads(), groups * pieces, [&](int /*worker*/, std::int64_t task) {
    const std::int64_t begin = task % pieces * kPiece;
    const std::int64_t count = std::min(width - begin, kPiece);
    const std::int64_t end_row = std::min(rows, (task / pieces + 1) * rows_a_task);
    for (std::int64_t row = task / pieces * rows_a_task; row < end_row; ++row) {
      std::array<std::int64_t, N> offsets{};
      std::int64_t rest = row;
      for (int axis = inner - 1; axis >= 0; --axis) {
        const std::int64_t place = rest % walk.extents[axis];
        rest /= walk.extents[axis];
        for (int n = 0; n < N; ++n) offsets[n] += place * walk.strides[n][axis];
      }
      for (int n = 0; n < N; ++n) offsets[n] += begin * walk.strides[n][inner];
      body(offsets, count);
    }
  });
}

}  // namespace qkv::kernels
