#include "qkv/autograd/reduce.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "autograd/reduce.h"
#include "core/bytes.h"

namespace qkv {
namespace autograd {
namespace {

constexpr int kLanes = 16;

template <class E>
using Lanes = std::array<Computed<E>, kLanes>;

template <class E>
QKV_INLINED inline void add_run(const E* x, std::int64_t count, Lanes<E>& lanes) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += load(x[i + lane]);
  }
  for (int lane = 0; i < count; ++i, ++lane) lanes[lane] += load(x[i]);
}

template <class E>
QKV_INLINED inline double sum_of_run(const StagedIn<E>& x, std::int64_t first, std::int64_t count, Room<E>& room) {
  static_assert(kStaged % kLanes == 0);
  Lanes<E> lanes{};
  if (x.direct() != nullptr) {
    add_run(x.direct() + first, count, lanes);
  } else {
    for (std::int64_t n = 0; n < count; n += kStaged) {
      const std::int64_t length = std::min(kStaged, count - n);
      add_run(x.at(first + n, length, room.elements), length, lanes);
    }
  }
  double total = 0;
  for (const Computed<E> lane : lanes) total += static_cast<double>(lane);
  return total;
}

template <class E>
void sum_rows(const Value& x, Value& out, std::int64_t outer, std::int64_t width, double factor) {
  const std::int64_t pieces = std::max<std::int64_t>(1, (width + kPiece - 1) / kPiece);
  std::vector<double> partial(core::checked_count<double>("sum", {outer, pieces}));
  const StagedIn<E> read(x.view);
  for_rows(outer * pieces, std::min(width, kPiece), [&](std::int64_t begin, std::int64_t end) {
    Room<E> room;
    vectorised<E>([&]() QKV_INLINED {
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t start = n % pieces * kPiece;
        partial[static_cast<std::size_t>(n)] =
            sum_of_run(read, n / pieces * width + start, std::min(kPiece, width - start), room);
      }
    });
  });
  with_real(out.dtype(), [&]<class Out>(Out) {
    for (std::int64_t row = 0; row < outer; ++row) {
      double total = 0;
      for (std::int64_t n = 0; n < pieces; ++n) total += partial[static_cast<std::size_t>(row * pieces + n)];
      store(out.data<Out>()[row], static_cast<Computed<Out>>(total * factor));
    }
  });
}

// out = the sums of `chunks` rows of each of `outer` blocks, times the factor.
template <class Real>
void add_chunks(Value& partial, Value& out, double factor) {
  const std::int64_t chunks = partial.shape()[1];
  const std::int64_t inner = partial.shape()[2];
  auto* sums = partial.data<Real>();
  const StagedOut<Real> write(out);
  for_rows(partial.shape()[0], chunks * inner, [&](std::int64_t begin, std::int64_t end) {
    vectorised<Real>([&]() QKV_INLINED {
      for (std::int64_t n = begin; n < end; ++n) {
        Real* total = sums + n * chunks * inner;
        for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
          const Real* from = total + chunk * inner;
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < inner; ++i) total[i] += from[i];
        }
        Real* to = write.at(n * inner, total);
        QKV_SAME_INDEX
        for (std::int64_t i = 0; i < inner; ++i) to[i] = total[i] * static_cast<Real>(factor);
        write.finish(n * inner, inner, total);
      }
    });
  });
}

// to[i] += x[i]
template <class E>
QKV_INLINED inline void add_row(const E* x, std::int64_t width, Computed<E>* to) {
  QKV_SAME_INDEX
  for (std::int64_t i = 0; i < width; ++i) to[i] += load(x[i]);
}

template <class E>
void sum_columns(const Value& x, Value& out, const std::array<std::int64_t, 3>& extents, double factor) {
  const std::int64_t outer = extents[0];
  const std::int64_t middle = extents[1];
  const std::int64_t inner = extents[2];
  const std::int64_t rows = std::max<std::int64_t>(8, kPiece / inner);
  const std::int64_t chunks = std::max<std::int64_t>(1, (middle + rows - 1) / rows);
  Value partial = zero_value(dtype_of_v<Computed<E>>, {outer, chunks, inner});
  auto* sums = partial.data<Computed<E>>();
  const StagedIn<E> read(x.view);
  for_pieces(outer * chunks, 1, [&](std::int64_t task, std::int64_t /*end*/) {
    const std::int64_t first = task / chunks * middle + task % chunks * rows;
    const std::int64_t last = task / chunks * middle + std::min(middle, task % chunks * rows + rows);
    Computed<E>* to = sums + task * inner;
    Room<E> room;
    vectorised<E>([&]() QKV_INLINED {
      if (const E* from = read.direct(); from != nullptr) {
        for (std::int64_t row = first; row < last; ++row) add_row(from + row * inner, inner, to);
        return;
      }
      for (std::int64_t row = first; row < last; ++row) {
        for (std::int64_t n = 0; n < inner; n += kStaged) {
          const std::int64_t count = std::min(kStaged, inner - n);
          add_row(read.at(row * inner + n, count, room.elements), count, to + n);
        }
      }
    });
  });
  add_chunks<Computed<E>>(partial, out, factor);
}

}  // namespace

Value sum_middle(const Value& x, const std::array<std::int64_t, 3>& extents, const SumOptions& options) {
  Value out = new_value(options.dtype.value_or(x.dtype()), {extents[0], extents[2]});
  if (out.size() == 0) return out;
  with_stored(x.dtype(), [&]<class E>(E) {
    if (extents[2] == 1) {
      sum_rows<E>(x, out, extents[0], extents[1], options.factor);
    } else {
      sum_columns<E>(x, out, extents, options.factor);
    }
  });
  return out;
}

namespace {

// Sums over each run of adjacent axes in `summed`, the last run first. Summed axes stay with extent 1.
Value sum_over(Value x, const std::array<bool, kMaxRank>& summed, double factor) {
  x = dense(x);
  for (int last = x.view.rank() - 1; last >= 0; --last) {
    if (!summed[last]) continue;
    int first = last;
    while (first > 0 && summed[first - 1]) --first;
    std::array<std::int64_t, 3> extents = {1, 1, 1};
    Shape shape = x.shape();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const int part = axis < first ? 0 : (axis <= last ? 1 : 2);
      extents[part] *= shape[axis];
      if (part == 1) shape[axis] = 1;
    }
    x = sum_middle(x, extents, {.factor = std::exchange(factor, 1.0)});
    x.view = x.view.reshape(shape);
    last = first;
  }
  return x;
}

}  // namespace

Value summed_to(const Value& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  std::array<bool, kMaxRank> repeated{};
  const int missing = x.view.rank() - shape.rank();
  for (int axis = 0; axis < x.view.rank(); ++axis) {
    repeated[axis] = axis < missing || (shape[axis - missing] == 1 && x.shape()[axis] != 1);
  }
  Value sum = sum_over(x, repeated, 1);
  sum.view = sum.view.reshape(shape);
  return sum;
}

Shape broadcast_shape(std::string_view operation, const Shape& a, const Shape& b) {
  Shape shape = a.rank() >= b.rank() ? a : b;
  const Shape& other = a.rank() >= b.rank() ? b : a;
  const int missing = shape.rank() - other.rank();
  for (int axis = 0; axis < other.rank(); ++axis) {
    std::int64_t& extent = shape[axis + missing];
    if (extent == other[axis] || other[axis] == 1) continue;
    if (extent != 1) {
      throw InvalidArgument(operation, "b", "a shape that broadcasts with " + a.to_string() + ", that of a",
                            b.to_string());
    }
    extent = other[axis];
  }
  return shape;
}

namespace {

std::array<bool, kMaxRank> flags_of(std::string_view operation, const Shape& shape, const std::vector<int>& axes) {
  std::array<bool, kMaxRank> flags{};
  for (const int axis : axes) {
    const int place = axis < 0 ? axis + shape.rank() : axis;
    if (place < 0 || place >= shape.rank()) {
      throw InvalidArgument(operation, "axes", "axes of " + shape.to_string(), std::to_string(axis));
    }
    if (std::exchange(flags[place], true)) {
      throw InvalidArgument(operation, "axes", "each axis once", std::to_string(axis) + " again");
    }
  }
  return flags;
}

Variable reduce(std::string_view operation, const Variable& x, const std::vector<int>& axes, ReducedAxes reduced) {
  const Value& value = value_of(operation, "x", x);
  const Shape& whole = value.shape();
  const std::array<bool, kMaxRank> summed = flags_of(operation, whole, axes);
  Shape kept = whole;
  Shape rest;
  double count = 1;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    if (!summed[axis]) {
      rest.push_back(whole[axis]);
      continue;
    }
    count *= static_cast<double>(whole[axis]);
    kept[axis] = 1;
  }
  const double factor = operation == "mean" ? 1 / count : 1;
  Value out = sum_over(value, summed, factor);
  if (out.storage == value.storage) out = copied(out.view, out.dtype());
  out.view = out.view.reshape(reduced == ReducedAxes::keep ? kept : rest);
  return recorded(operation, std::move(out), {&x}, [whole, kept, factor](const Value& d_out, Gradients& gradients) {
    Value d_x = new_value(d_out.dtype(), whole);
    const Value d_dense = dense(d_out);
    const TensorView repeated = d_dense.view.reshape(kept);
    map_broadcast(d_x, repeated, repeated,
                  [factor](auto d, auto) QKV_INLINED { return d * static_cast<decltype(d)>(factor); });
    gradients.give(0, std::move(d_x));
  });
}

std::vector<int> all_axes(std::string_view operation, const Variable& x) {
  std::vector<int> axes(static_cast<std::size_t>(value_of(operation, "x", x).view.rank()));
  for (std::size_t n = 0; n < axes.size(); ++n) axes[n] = static_cast<int>(n);
  return axes;
}

}  // namespace
}  // namespace autograd

Variable sum(const Variable& x) { return sum(x, autograd::all_axes("sum", x)); }
Variable sum(const Variable& x, const std::vector<int>& axes, ReducedAxes reduced) {
  return autograd::reduce("sum", x, axes, reduced);
}
Variable mean(const Variable& x) { return mean(x, autograd::all_axes("mean", x)); }
Variable mean(const Variable& x, const std::vector<int>& axes, ReducedAxes reduced) {
  return autograd::reduce("mean", x, axes, reduced);
}

}  // namespace qkv
