// A tensor that records what made it, and the walk back that gives gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "qkv/tensor.h"

namespace qkv {

namespace autograd {
struct Body;
}

/// A handle on a value and on the operation that made it; copying copies the handle. Values are f64, f32, bf16 or f16,
/// and the variable keeps them alive: views of them stay valid while one of its handles lives. A variable made of a
/// tensor shares its elements, those of a mapped file among them, and never writes to what others hold.
///
/// An operation on variables of which one requires a gradient is recorded, unless a NoGradient scope is open; its
/// result then requires one, too. Operations never change their arguments. All throw InvalidArgument that names the
/// operation, the argument and the shapes. A variable may be read from several threads; recording and walking is for
/// one at a time.
class Variable {
 public:
  /// Nothing: only empty() may be asked of it, and operations refuse it.
  Variable() = default;
  /// A constant that reads the tensor's elements in place. Throws InvalidArgument for a dtype other than f64, f32, bf16
  /// and f16.
  explicit Variable(Tensor value);
  explicit Variable(std::shared_ptr<const autograd::Body> body);

  /// A leaf: its gradient is kept. Shares the elements as the constructor does, or copies them where they do not lie
  /// densely. Throws as it does.
  [[nodiscard]] static Variable parameter(Tensor value);

  [[nodiscard]] bool empty() const noexcept { return body_ == nullptr; }
  /// The value; results of reshape, permute, slice and the like share elements with their argument and have strides.
  [[nodiscard]] const TensorView& value() const;
  [[nodiscard]] const Shape& shape() const { return value().shape(); }
  [[nodiscard]] DType dtype() const { return value().dtype(); }
  [[nodiscard]] int rank() const { return value().rank(); }
  /// Extent of an axis; a negative axis counts from the end.
  [[nodiscard]] std::int64_t dim(int axis) const { return value().dim(axis); }
  [[nodiscard]] std::int64_t size() const { return value().size(); }
  /// The only element. Throws InvalidArgument where there are more or none.
  [[nodiscard]] double item() const;

  [[nodiscard]] bool requires_gradient() const;
  /// True for constants and parameters: no operation made it.
  [[nodiscard]] bool is_leaf() const;

  /// A leaf's value to be written in place, as an optimiser does. A walk back over an operation that had kept the old
  /// value then throws and names it. Where the elements are another tensor's too or read only (a mapped file's), they
  /// are first copied; views and variables (by detach(), reshape, slice) taken before that keep the old ones. Throws
  /// InvalidArgument for the result of an operation.
  [[nodiscard]] MutableTensorView mutable_value() const;

  /// Another value for this parameter in place of the one it has, of the same shape and of any dtype that a variable
  /// may have; its gradient is cleared, and views of the former value end. Shares the tensor's memory. For models whose parameters come from a file. Throws
  /// InvalidArgument naming value, or unless this is a parameter.
  void replace_value(Tensor value) const;

  /// The sum of the gradients that backward() has brought to this parameter, of the value's shape and dtype; without
  /// elements (shape [0], null data) where none came yet. Throws InvalidArgument unless this is a parameter.
  [[nodiscard]] TensorView gradient() const;
  [[nodiscard]] bool has_gradient() const;
  /// The same to be written in place. Throws InvalidArgument where there is none.
  [[nodiscard]] MutableTensorView mutable_gradient() const;
  void clear_gradient() const;

  /// The same value as a constant: shares the elements, forgets how it was made.
  [[nodiscard]] Variable detach() const;

  /// `hook` sees the gradient of this variable each time that a walk back has it whole, before it goes on, and may
  /// return another of the same shape and dtype in its place, or an empty variable to leave it. Hooks run in the order
  /// in which they were added. Throws InvalidArgument where no gradient is required.
  void on_gradient(std::function<Variable(const Variable& gradient)> hook) const;

  /// For operations: what the handle stands for.
  [[nodiscard]] const std::shared_ptr<const autograd::Body>& body() const noexcept { return body_; }

 private:
  std::shared_ptr<const autograd::Body> body_;
};

/// What becomes of the record of the operations that a walk back went over.
enum class Record : std::uint8_t {
  release,  // freed on the way, with the values that it kept; a second walk over it throws
  keep,
};

/// Walks back from `result` and adds to the gradient of each parameter that it was made from. A value used twice has
/// the sum of its gradients, in a fixed order, so the bits do not depend on the number of threads; a second call adds
/// to what the first brought. `d_result` has the shape and dtype of `result`; without it, 1, and `result` has one
/// element. Throws InvalidArgument where `result` requires no gradient, where its record was released, and where a
/// value that an operation kept was changed. Method: reverse accumulation (Linnainmaa 1970).
void backward(const Variable& result, Record record = Record::release);
void backward(const Variable& result, const TensorView& d_result, Record record = Record::release);

/// While one lives, operations of its thread are not recorded.
class NoGradient {
 public:
  NoGradient();
  NoGradient(const NoGradient&) = delete;
  NoGradient& operator=(const NoGradient&) = delete;
  ~NoGradient();

 private:
  bool before_;
};

/// Bytes that freed values have left for the next ones of their size: at most twice as many as were in use at once.
/// They are given back to the system by release_value_pool(); values in use are not touched. Safe from any thread.
[[nodiscard]] std::size_t value_pool_bytes();
void release_value_pool();

}  // namespace qkv
