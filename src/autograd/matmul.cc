#include "qkv/autograd/matmul.h"

#include <memory>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/kept_weight.h"
#include "autograd/node.h"
#include "autograd/reduce.h"
#include "kernels/product/few_rows.h"
#include "kernels/product/product.h"
#include "kernels/product/quantised_back.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

using autograd::Gradients;
using autograd::Kept;
using autograd::stored_value_of;
using autograd::Value;
using autograd::value_of;

Shape batch_of(const Shape& shape) {
  Shape batch;
  for (int axis = 0; axis + 2 < shape.rank(); ++axis) batch.push_back(shape[axis]);
  return batch;
}

Shape matrix_shape(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

void require_matrices(const Value& a, const Value& b) {
  if (a.view.rank() < 2) throw InvalidArgument("matmul", "a", "[..., M, K]", a.shape().to_string());
  if (b.view.rank() < 2 || b.view.dim(-2) != a.view.dim(-1)) {
    throw InvalidArgument("matmul", "b",
                          "[..., " + std::to_string(a.view.dim(-1)) + ", N] for a " + a.shape().to_string(),
                          b.shape().to_string());
  }
  autograd::require_dtype("matmul", "b", a.dtype(), "a", b.dtype());
}

// [..., N] -> [rows, N]
TensorView as_rows(const Value& value) {
  const std::int64_t width = value.view.dim(-1);
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < value.view.rank(); ++axis) rows *= value.shape()[axis];
  return value.view.reshape({rows, width});
}

Shape with_last(const Shape& shape, std::int64_t extent) {
  Shape result = shape;
  result[shape.rank() - 1] = extent;
  return result;
}

void require_linear(const Value& x, const Value& weight, const Value* bias) {
  if (weight.view.rank() != 2) {
    throw InvalidArgument("linear", "weight", "[Dout, Din]", weight.shape().to_string());
  }
  if (x.view.rank() < 1 || x.view.dim(-1) != weight.shape()[1]) {
    throw InvalidArgument("linear", "x",
                          "[..., " + std::to_string(weight.shape()[1]) + "] for weight " + weight.shape().to_string(),
                          x.shape().to_string());
  }
  if (!autograd::may_serve(weight.dtype(), x.dtype())) {
    throw InvalidArgument("linear", "weight", std::string(name_of(x.dtype())) + ", the dtype of x",
                          name_of(weight.dtype()));
  }
  if (bias == nullptr) return;
  if (!(bias->shape() == Shape{weight.shape()[0]})) {
    throw InvalidArgument("linear", "bias", Shape{weight.shape()[0]}.to_string(), bias->shape().to_string());
  }
  // Files of 16 bits may have biases of 32.
  const bool is_narrow = size_of(weight.dtype()) < size_of(DType::f32);
  const bool is_of_weight = bias->dtype() == weight.dtype() || (is_narrow && bias->dtype() == DType::f32);
  const bool is_quantised = weight.storage->quantised() != nullptr;
  if (is_quantised ? !autograd::may_serve(bias->dtype(), x.dtype()) : !is_of_weight) {
    autograd::require_dtype("linear", "bias", weight.dtype(), "weight", bias->dtype());
  }
}

// Converts to the dtype that the product needs: that of x, or f32.
Value bias_for(DType x, const Value& bias) {
  return autograd::dense(bias.dtype() == DType::f32 ? bias : autograd::in_dtype(bias, x));
}

// The weight as its layer keeps it packed, where nothing is recorded, as in inference; null where that gains nothing.
std::shared_ptr<const kernels::PackedWeight> packed_for(const Value& x, const Value& weight) {
  const std::int64_t rows = as_rows(x).dim(0);
  const DType dtype = kernels::product_dtype(x.dtype());
  const bool has_layout = dtype == DType::f32 || dtype == DType::bf16;
  if (autograd::recording() || !has_layout || !weight.view.is_contiguous() || weight.size() == 0) return nullptr;
  return rows > 0 ? autograd::KeptWeight::of(weight, dtype) : nullptr;
}

// The last of three inputs.
void give_bias(const Value& d, DType dtype, Gradients& gradients) {
  if (gradients.inputs() != 3 || !gradients.wanted(2)) return;
  const TensorView all = as_rows(d);
  Value d_bias = autograd::sum_middle(d, {1, all.dim(0), all.dim(1)}, {.dtype = dtype});
  d_bias.view = d_bias.view.reshape({all.dim(1)});
  gradients.give(2, std::move(d_bias));
}

Variable recorded_linear(Value out, const Variable& x, const Variable& weight, const Variable* bias,
                         autograd::Backward walk) {
  if (bias == nullptr) return autograd::recorded("linear", std::move(out), {&x, &weight}, std::move(walk));
  return autograd::recorded("linear", std::move(out), {&x, &weight, bias}, std::move(walk));
}

// By the blocks of the weight, which is a constant. `rows`, `matrix` and `shift`: the values of the variables, dense,
// and the bias in the dtype that is added.
Variable quantised_linear(const Variable& x, const Variable& weight, const Variable* bias, const Value& rows,
                          const Value& matrix, const Value& shift) {
  Value out = autograd::new_value(rows.dtype(), with_last(rows.shape(), matrix.shape()[0]));
  const Shape shape = out.shape();
  out.view = as_rows(out);
  kernels::multiply_quantised("linear", out.writable(), as_rows(rows),
                              kernels::quantised_weight(*matrix.storage->quantised()),
                              bias == nullptr ? nullptr : &shift.view);
  out.view = out.view.reshape(shape);
  auto walk = [matrix, dtype = bias == nullptr ? DType::f32 : bias->dtype()](const Value& d_out, Gradients& gradients) {
    const Value d = autograd::dense(d_out);
    give_bias(d, dtype, gradients);
    if (!gradients.wanted(0)) return;
    Value d_x = autograd::new_value(d.dtype(), with_last(d.shape(), matrix.shape()[1]));
    const Shape whole = d_x.shape();
    d_x.view = as_rows(d_x);
    kernels::multiply_back(d_x.writable(), as_rows(d), kernels::quantised_weight(*matrix.storage->quantised()));
    d_x.view = d_x.view.reshape(whole);
    gradients.give(0, std::move(d_x));
  };
  return recorded_linear(std::move(out), x, weight, bias, std::move(walk));
}

Variable linear_of(const Variable& x, const Variable& weight, const Variable* bias) {
  const Value rows = autograd::dense(value_of("linear", "x", x));
  const Value& matrix = stored_value_of("linear", "weight", weight);
  const Value* shift = bias == nullptr ? nullptr : &value_of("linear", "bias", *bias);
  require_linear(rows, matrix, shift);
  const Value dense_shift = shift == nullptr ? Value{} : bias_for(rows.dtype(), *shift);
  if (matrix.storage->quantised() != nullptr) return quantised_linear(x, weight, bias, rows, matrix, dense_shift);
  Value out = autograd::new_value(rows.dtype(), with_last(rows.shape(), matrix.shape()[0]));
  const Shape shape = out.shape();
  out.view = as_rows(out);
  const TensorView* const added = shift == nullptr ? nullptr : &dense_shift.view;
  const bool few = kernels::takes_few_rows(as_rows(rows), matrix.view);
  const auto packed = few ? nullptr : packed_for(rows, matrix);
  const Value used = few || packed != nullptr ? matrix : autograd::in_dtype(matrix, rows.dtype());
  if (packed != nullptr) {
    packed->multiply(out.writable(), as_rows(rows), added);
  } else {
    kernels::multiply(out.writable(), as_rows(rows), used.view.transpose(0, 1), added);
  }
  out.view = out.view.reshape(shape);
  const DType dtype = matrix.dtype();
  const DType of_bias = shift == nullptr ? dtype : shift->dtype();
  auto walk = [kept_x = Kept("linear", "x", rows), kept = Kept("linear", "weight", matrix), used, dtype, of_bias](
                  const Value& d_out, Gradients& gradients) {
    const Value d = autograd::dense(d_out);
    if (gradients.wanted(1)) {
      const DType summed = d.dtype() == dtype ? dtype : DType::f32;
      Value d_weight = autograd::new_value(summed, used.shape());
      kernels::multiply(d_weight.writable(), as_rows(d).transpose(0, 1), as_rows(kept_x.value()));
      gradients.give(1, autograd::in_dtype(d_weight, dtype));
    }
    give_bias(d, of_bias, gradients);
    if (!gradients.wanted(0)) return;
    static_cast<void>(kept.value());  // throws if the weight was changed since; `used` may be a copy of it
    Value d_x = autograd::new_value(d.dtype(), with_last(d.shape(), used.shape()[1]));
    const Shape whole = d_x.shape();
    d_x.view = as_rows(d_x);
    kernels::multiply(d_x.writable(), as_rows(d), autograd::in_dtype(used, d.dtype()).view);
    d_x.view = d_x.view.reshape(whole);
    gradients.give(0, std::move(d_x));
  };
  return recorded_linear(std::move(out), x, weight, bias, std::move(walk));
}

}  // namespace

Variable matmul(const Variable& a, const Variable& b) {
  const Value& left = value_of("matmul", "a", a);
  const Value& right = value_of("matmul", "b", b);
  require_matrices(left, right);
  const std::int64_t rows = left.view.dim(-2);
  if (right.view.rank() == 2 && left.view.rank() > 2) {  // all rows in one product
    const Variable all = reshape(a, {batch_of(left.shape()).product() * rows, left.view.dim(-1)});
    return reshape(matmul(all, b), matrix_shape(batch_of(left.shape()), rows, right.view.dim(-1)));
  }
  const Shape batch = autograd::broadcast_shape("matmul", batch_of(left.shape()), batch_of(right.shape()));
  Value out = autograd::new_value(left.dtype(), matrix_shape(batch, rows, right.view.dim(-1)));
  kernels::multiply(out.writable(), left.view, right.view);
  return autograd::recorded("matmul", std::move(out), {&a, &b},
                            [kept_a = Kept("matmul", "a", left), kept_b = Kept("matmul", "b", right), batch](
                                const Value& d_out, Gradients& gradients) {
                              const TensorView& x = kept_a.value().view;
                              const TensorView& y = kept_b.value().view;
                              if (gradients.wanted(0)) {
                                Value d_a = autograd::new_value(x.dtype(), matrix_shape(batch, x.dim(-2), x.dim(-1)));
                                kernels::multiply(d_a.writable(), d_out.view, y.transpose(-1, -2));
                                gradients.give(0, autograd::summed_to(d_a, x.shape()));
                              }
                              if (gradients.wanted(1)) {
                                Value d_b = autograd::new_value(y.dtype(), matrix_shape(batch, y.dim(-2), y.dim(-1)));
                                kernels::multiply(d_b.writable(), x.transpose(-1, -2), d_out.view);
                                gradients.give(1, autograd::summed_to(d_b, y.shape()));
                              }
                            });
}

Variable linear(const Variable& x, const Variable& weight) { return linear_of(x, weight, nullptr); }

Variable linear(const Variable& x, const Variable& weight, const Variable& bias) { return linear_of(x, weight, &bias); }

}  // namespace qkv
