// Tensors that record the operations that made them, and the backward pass that computes gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "qkv/quantised_tensor.h"
#include "qkv/tensor.h"

namespace qkv {

namespace autograd {
struct Body;
}

/// A handle to a value and to the operation that made it; copying copies the handle. Values are f64, f32, bf16 or f16.
/// Views of the value stay valid while a handle lives. A variable made from a tensor shares its elements, also those of
/// a mapped file, and never writes to elements that others share.
///
/// An operation is recorded if one of its arguments requires a gradient, unless a NoGradient scope is open; its result
/// then requires a gradient too. Operations never change their arguments. They throw InvalidArgument naming the
/// operation, the argument and the shapes. Several threads may read a variable, but only one at a time may record and
/// run backward().
class Variable {
 public:
  /// An empty handle: only empty() may be called, and operations throw.
  Variable() = default;
  /// A constant that reads the tensor's elements in place. Throws InvalidArgument for a dtype other than f64, f32, bf16
  /// and f16.
  explicit Variable(Tensor value);
  explicit Variable(std::shared_ptr<const autograd::Body> body);

  /// A leaf whose gradient is kept. Shares the elements if they are dense, else copies them. Throws as the
  /// constructor does.
  [[nodiscard]] static Variable parameter(Tensor value);

  [[nodiscard]] bool empty() const noexcept { return body_ == nullptr; }
  /// The value; results of reshape, permute, slice and the like share elements with their argument and have strides.
  /// The numbers of a quantised parameter are made f32 at the first call, and kept.
  [[nodiscard]] const TensorView& value() const;
  [[nodiscard]] const Shape& shape() const { return form().shape(); }
  [[nodiscard]] DType dtype() const { return form().dtype(); }
  [[nodiscard]] int rank() const { return form().rank(); }
  /// Extent of an axis; a negative axis counts from the end.
  [[nodiscard]] std::int64_t dim(int axis) const { return form().dim(axis); }
  [[nodiscard]] std::int64_t size() const { return form().size(); }
  /// The only element. Throws InvalidArgument unless the size is 1.
  [[nodiscard]] double item() const;

  [[nodiscard]] bool requires_gradient() const;
  /// True for constants and parameters: no operation made it.
  [[nodiscard]] bool is_leaf() const;

  /// The value of a leaf, to be written in place, as an optimiser does. A later backward pass over an operation that
  /// kept the old value throws and names it. Elements that are shared with another tensor or read only (a mapped
  /// file's) are copied first; views and variables (from detach(), reshape, slice) taken before keep the old elements.
  /// Throws InvalidArgument for the result of an operation.
  [[nodiscard]] MutableTensorView mutable_value() const;

  /// Replaces the value of this parameter by one of the same shape and any dtype of a variable, sharing the tensor's
  /// memory; for models whose parameters come from a file. Clears the gradient; views of the old value become invalid.
  /// Throws InvalidArgument naming value, or if this is not a parameter.
  void replace_value(Tensor value) const;
  /// The same with a quantised weight, read in place; dtype() is then f32. linear() and embedding() read its blocks;
  /// all other operations its numbers, as value(). It is not trained: operations take it as a constant, and
  /// mutable_value() throws.
  void replace_value(QuantisedTensor value) const;
  /// The blocks of a quantised parameter; null for all other variables.
  [[nodiscard]] const QuantisedTensor* quantised() const noexcept;

  /// The sum of the gradients that backward() computed for this parameter, of the value's shape and dtype; no elements
  /// (shape [0], null data) if there are none yet. Throws InvalidArgument if this is not a parameter.
  [[nodiscard]] TensorView gradient() const;
  [[nodiscard]] bool has_gradient() const;
  /// The gradient, to be written in place. Throws InvalidArgument if there is none.
  [[nodiscard]] MutableTensorView mutable_gradient() const;
  void clear_gradient() const;

  /// The same value as a constant: shares the elements, without the record.
  [[nodiscard]] Variable detach() const;

  /// In each backward pass, calls `hook` with the complete gradient of this variable before using it. The hook may
  /// return a gradient of the same shape and dtype to replace it, or an empty variable to keep it. Hooks run in the
  /// order in which they were added. Throws InvalidArgument if no gradient is required.
  void on_gradient(std::function<Variable(const Variable& gradient)> hook) const;

  /// For operations: the shared state.
  [[nodiscard]] const std::shared_ptr<const autograd::Body>& body() const noexcept { return body_; }

 private:
  // Shape and dtype of the value, of which a quantised parameter has no elements.
  [[nodiscard]] const TensorView& form() const;

  std::shared_ptr<const autograd::Body> body_;
};

/// Whether backward() keeps the record of the operations that it differentiates.
enum class Record : std::uint8_t {
  release,  // frees it with the values that it kept; a second backward() over it throws
  keep,
};

/// The backward pass: adds the gradient of `result` to the gradient of each parameter that it depends on. The gradients
/// of a value used several times are summed in a fixed order, so the bits do not depend on the number of threads. A
/// second call adds to the gradients of the first. `d_result` has the shape and dtype of `result`; without it, it is 1
/// and `result` must have one element. Throws InvalidArgument if `result` requires no gradient, if its record was
/// released, and if a value that an operation kept was changed. Method: reverse accumulation (Linnainmaa 1970).
void backward(const Variable& result, Record record = Record::release);
void backward(const Variable& result, const TensorView& d_result, Record record = Record::release);

/// While an object of this class lives, operations of its thread are not recorded.
class NoGradient {
 public:
  NoGradient();
  NoGradient(const NoGradient&) = delete;
  NoGradient& operator=(const NoGradient&) = delete;
  ~NoGradient();

 private:
  bool before_;
};

/// Bytes of freed values that are kept for reuse: at most twice as many as were in use at once. release_value_pool()
/// returns them to the system; it does not affect values in use. Both are safe from any thread.
[[nodiscard]] std::size_t value_pool_bytes();
void release_value_pool();

}  // namespace qkv
