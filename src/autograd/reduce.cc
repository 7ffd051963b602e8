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

template <class T>
QKV_INLINED inline double sum_of_run(const T* x, std::int64_t count) {
  std::array<Computed<T>, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += load(x[i + lane]);
  }
  for (int lane = 0; i < count; ++i, ++lane) lanes[lane] += load(x[i]);
  double total = 0;
  for (const Computed<T> lane : lanes) total += static_cast<double>(lane);
  return total;
}

template <class T, class Out>
void sum_rows(const T* x, Out* out, std::int64_t outer, std::int64_t width, double factor) {
  const std::int64_t pieces = std::max<std::int64_t>(1, (width + kPiece - 1) / kPiece);
  std::vector<double> partial(core::checked_count<double>("sum", {outer, pieces}));
  for_rows(outer * pieces, std::min(width, kPiece), [&](std::int64_t begin, std::int64_t end) {
    vectorised<T>([&]() QKV_INLINED {
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t start = n % pieces * kPiece;
        partial[static_cast<std::size_t>(n)] =
            sum_of_run(x + n / pieces * width + start, std::min(kPiece, width - start));
      }
    });
  });
  for (std::int64_t row = 0; row < outer; ++row) {
    double total = 0;
    for (std::int64_t n = 0; n < pieces; ++n) total += partial[static_cast<std::size_t>(row * pieces + n)];
    store(out[row], static_cast<Computed<Out>>(total * factor));
  }
}

template <class T, class Out>
void sum_columns(const T* x, Out* out, const std::array<std::int64_t, 3>& extents, double factor) {
  const std::int64_t outer = extents[0];
  const std::int64_t middle = extents[1];
  const std::int64_t inner = extents[2];
  const std::int64_t rows = std::max<std::int64_t>(8, kPiece / inner);
  const std::int64_t chunks = std::max<std::int64_t>(1, (middle + rows - 1) / rows);
  Value partial = zero_value(dtype_of_v<Computed<T>>, {outer, chunks, inner});
  auto* sums = partial.data<Computed<T>>();
  for_pieces(outer * chunks, 1, [&](std::int64_t task, std::int64_t /*end*/) {
    const std::int64_t first = task % chunks * rows;
    const std::int64_t last = std::min(middle, first + rows);
    Computed<T>* to = sums + task * inner;
    vectorised<T>([&]() QKV_INLINED {
      for (std::int64_t row = first; row < last; ++row) {
        const T* from = x + (task / chunks * middle + row) * inner;
        QKV_SAME_INDEX
        for (std::int64_t i = 0; i < inner; ++i) to[i] += load(from[i]);
      }
    });
  });
  for_rows(outer, chunks * inner, [&](std::int64_t begin, std::int64_t end) {
    vectorised<T>([&]() QKV_INLINED {
      for (std::int64_t n = begin; n < end; ++n) {
        Computed<T>* total = sums + n * chunks * inner;
        for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
          const Computed<T>* from = total + chunk * inner;
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < inner; ++i) total[i] += from[i];
        }
        for (std::int64_t i = 0; i < inner; ++i) {
          store(out[n * inner + i], static_cast<Computed<Out>>(total[i] * static_cast<Computed<T>>(factor)));
        }
      }
    });
  });
}

}  // namespace

Value sum_middle(const Value& x, const std::array<std::int64_t, 3>& extents, const SumOptions& options) {
  Value out = new_value(options.dtype.value_or(x.dtype()), {extents[0], extents[2]});
  if (out.size() == 0) return out;
  with_real(x.dtype(), [&]<class T>(T) {
    with_real(out.dtype(), [&]<class Out>(Out) {
      if (extents[2] == 1) {
        sum_rows(x.data<T>(), out.data<Out>(), extents[0], extents[1], options.factor);
      } else {
        sum_columns(x.data<T>(), out.data<Out>(), extents, options.factor);
      }
    });
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
