#include "qkv/autograd/shape.h"

#include <array>
#include <string>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "core/listed.h"
#include "kernels/elements.h"

namespace qkv {
namespace {

using autograd::Gradients;
using autograd::Value;
using autograd::value_of;

int axis_of(std::string_view operation, const Shape& shape, int axis) {
  const int place = axis < 0 ? axis + shape.rank() : axis;
  if (place >= 0 && place < shape.rank()) return place;
  throw InvalidArgument(operation, "axis", "an axis of " + shape.to_string(), std::to_string(axis));
}

TensorView permuted(const TensorView& x, const std::vector<int>& axes) {
  Shape shape;
  Strides strides;
  for (const int axis : axes) {
    shape.push_back(x.shape()[axis]);
    strides.push_back(x.strides()[axis]);
  }
  return {x.data(), x.dtype(), shape, strides};
}

std::string list_of(const std::vector<int>& axes) {
  return "[" + core::joined(axes, [](int axis) { return std::to_string(axis); }) + "]";
}

Variable permuted_by(std::string_view operation, const Variable& x, const std::vector<int>& axes) {
  Value value = value_of(operation, "x", x);
  value.view = permuted(value.view, axes);
  std::vector<int> back(axes.size());
  for (std::size_t n = 0; n < axes.size(); ++n) back[static_cast<std::size_t>(axes[n])] = static_cast<int>(n);
  return autograd::recorded(operation, std::move(value), {&x}, [back](Value d_out, Gradients& gradients) {
    d_out.view = permuted(d_out.view, back);
    gradients.give(0, std::move(d_out));
  });
}

// [B, H, T, D] as [B, T, H * D]; shares if the memory allows it.
Value heads_merged(const Value& value, const Shape& shape) {
  Value merged = value;
  merged.view = value.view.transpose(1, 2);
  merged = autograd::dense(merged);
  merged.view = merged.view.reshape(shape);
  return merged;
}

void require_parts(const std::vector<Variable>& parts) {
  if (parts.empty()) throw InvalidArgument("concat", "parts", "one or more", "none");
  for (const Variable& part : parts) static_cast<void>(value_of("concat", "parts", part));
}

void require_beside(const Value& first, const Value& part, int axis) {
  autograd::require_dtype("concat", "parts", first.dtype(), "the first", part.dtype());
  Shape wanted = first.shape();
  if (part.view.rank() == first.view.rank()) wanted[axis] = part.shape()[axis];
  if (wanted == part.shape()) return;
  throw InvalidArgument(
      "concat", "parts",
      "shapes that differ from " + first.shape().to_string() + " in axis " + std::to_string(axis) + " alone",
      part.shape().to_string());
}

}  // namespace

Variable reshape(const Variable& x, const Shape& shape) {
  const Value& value = value_of("reshape", "x", x);
  if (shape.product() != value.size()) {
    throw InvalidArgument("reshape", "shape",
                          std::to_string(value.size()) + " elements as in " + value.shape().to_string(),
                          shape.to_string());
  }
  Value out = autograd::dense(value);
  out.view = out.view.reshape(shape);
  return autograd::recorded("reshape", std::move(out), {&x},
                            [before = value.shape()](const Value& d_out, Gradients& gradients) {
                              Value d_x = autograd::dense(d_out);
                              d_x.view = d_x.view.reshape(before);
                              gradients.give(0, std::move(d_x));
                            });
}

Variable permute(const Variable& x, const std::vector<int>& axes) {
  const Shape& shape = value_of("permute", "x", x).shape();
  std::vector<int> places;
  std::array<bool, kMaxRank> seen{};
  for (const int axis : axes) {
    const int place = axis < 0 ? axis + shape.rank() : axis;
    if (place < 0 || place >= shape.rank() || std::exchange(seen[place], true)) break;
    places.push_back(place);
  }
  if (places.size() != axes.size() || static_cast<int>(places.size()) != shape.rank()) {
    throw InvalidArgument("permute", "axes", "each axis of " + shape.to_string() + " once", list_of(axes));
  }
  return permuted_by("permute", x, places);
}

Variable transpose(const Variable& x, int axis_a, int axis_b) {
  const Shape& shape = value_of("transpose", "x", x).shape();
  std::vector<int> axes(static_cast<std::size_t>(shape.rank()));
  for (std::size_t n = 0; n < axes.size(); ++n) axes[n] = static_cast<int>(n);
  const int a = axis_of("transpose", shape, axis_a);
  const int b = axis_of("transpose", shape, axis_b);
  std::swap(axes[static_cast<std::size_t>(a)], axes[static_cast<std::size_t>(b)]);
  return permuted_by("transpose", x, axes);
}

Variable slice(const Variable& x, int axis, std::int64_t begin, std::int64_t end) {
  Value value = value_of("slice", "x", x);
  const int place = axis_of("slice", value.shape(), axis);
  if (begin < 0 || begin > end || end > value.shape()[place]) {
    throw InvalidArgument("slice", "range", "0 <= begin <= end <= " + std::to_string(value.shape()[place]),
                          std::to_string(begin) + " to " + std::to_string(end));
  }
  value.view = value.view.slice(place, begin, end);
  return autograd::recorded("slice", std::move(value), {&x}, [place, begin](Value d_out, Gradients& gradients) {
    gradients.give_part(0, std::move(d_out), place, begin);
  });
}

Variable concat(const std::vector<Variable>& parts, int axis) {
  require_parts(parts);
  const Value& first = autograd::plain(parts.front().body()->value);
  const int place = axis_of("concat", first.shape(), axis);
  Shape shape = first.shape();
  shape[place] = 0;
  std::vector<std::int64_t> begins;
  for (const Variable& part : parts) {
    require_beside(first, autograd::plain(part.body()->value), place);
    begins.push_back(shape[place]);
    shape[place] += part.shape()[place];
  }
  begins.push_back(shape[place]);
  Value out = autograd::new_value(first.dtype(), shape);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const MutableTensorView to = out.writable().slice(place, begins[n], begins[n + 1]);
    kernels::copy_elements(parts[n].value(), to);
  }
  return autograd::recorded("concat", std::move(out), parts, [place, begins](const Value& d_out, Gradients& gradients) {
    for (std::size_t n = 0; n + 1 < begins.size(); ++n) {
      Value d_part = d_out;
      d_part.view = d_out.view.slice(place, begins[n], begins[n + 1]);
      gradients.give(n, std::move(d_part));
    }
  });
}

Variable split_heads(const Variable& x, std::int64_t heads) {
  const Shape& shape = value_of("split_heads", "x", x).shape();
  if (shape.rank() != 3) throw InvalidArgument("split_heads", "x", "[B, T, H * D]", shape.to_string());
  if (heads < 1 || shape[2] % heads != 0) {
    throw InvalidArgument("split_heads", "heads", "a divisor of " + std::to_string(shape[2]), std::to_string(heads));
  }
  Value value = value_of("split_heads", "x", x);
  const Strides& strides = value.view.strides();
  const std::int64_t D = shape[2] / heads;
  const Strides split = {strides[0], D * strides[2], strides[1], strides[2]};
  value.view = TensorView(value.view.data(), value.dtype(), {shape[0], heads, shape[1], D}, split);
  return autograd::recorded("split_heads", std::move(value), {&x}, [shape](const Value& d_out, Gradients& gradients) {
    gradients.give(0, heads_merged(d_out, shape));
  });
}

Variable merge_heads(const Variable& x) {
  const Value& value = value_of("merge_heads", "x", x);
  if (value.view.rank() != 4) throw InvalidArgument("merge_heads", "x", "[B, H, T, D]", value.shape().to_string());
  const Shape apart = value.shape();
  Value out = heads_merged(value, {apart[0], apart[2], apart[1] * apart[3]});
  return autograd::recorded("merge_heads", std::move(out), {&x}, [apart](const Value& d_out, Gradients& gradients) {
    const Value d = autograd::dense(d_out);
    Value d_x = d;
    d_x.view = d.view.reshape({apart[0], apart[2], apart[1], apart[3]}).transpose(1, 2);
    gradients.give(0, std::move(d_x));
  });
}

}  // namespace qkv
