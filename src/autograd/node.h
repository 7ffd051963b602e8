// The record of an operation: the nodes of its inputs, and its backward function.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/storage.h"
#include "qkv/autograd/variable.h"

namespace qkv::autograd {

struct Node;

/// The gradients that the backward function of an operation gives to its inputs.
class Gradients {
 public:
  explicit Gradients(const Node& node);

  [[nodiscard]] std::size_t inputs() const;
  /// False for an input that requires no gradient; it need not be computed.
  [[nodiscard]] bool wanted(std::size_t input) const;
  /// At most once per input. `gradient` has its shape and dtype. Ignored if it is not wanted.
  void give(std::size_t input, Value gradient);
  /// The gradient of indices begin to end - 1 along an axis of the input; the others get 0.
  void give_part(std::size_t input, Value gradient, int axis, std::int64_t begin);
  /// Continues at an operation that was computed again, recorded later than all that are still to come.
  void go_on(const Variable& result, Value d_result);

  /// The start of a slice along an axis.
  struct Part {
    int axis;
    std::int64_t begin;
  };
  struct Given {
    std::shared_ptr<Node> node;
    Value gradient;
    std::optional<Part> part = std::nullopt;
  };
  [[nodiscard]] std::vector<Given>& given() noexcept { return given_; }

 private:
  const Node& node_;
  std::vector<Given> given_;
};

/// Takes the gradient of the result by value, so that an operation may overwrite it if nobody else holds it.
using Backward = std::function<void(Value d_out, Gradients& gradients)>;

[[nodiscard]] std::uint64_t next_number();

struct Node {
  std::string_view operation;  // of static duration
  std::string scope = {};      // where it was recorded
  DType dtype = DType::f32;
  Shape shape = {};
  std::uint64_t number = 0;                        // later operations have higher ones
  std::vector<std::shared_ptr<Node>> inputs = {};  // null where no gradient is required
  Backward backward = nullptr;
  bool released = false;
  std::vector<std::function<Variable(const Variable&)>> hooks = {};
  Value gradient = {};  // of a parameter

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  // destroys long chains without recursion

  [[nodiscard]] bool is_parameter() const noexcept { return operation.empty(); }
};

struct Body {
  mutable Value value;         // mutable_value() copies the shared elements of a leaf
  std::shared_ptr<Node> node;  // null for a constant
};

/// The value of an argument. Throws InvalidArgument naming operation and argument where it is empty.
[[nodiscard]] const Value& value_of(std::string_view operation, std::string_view argument, const Variable& variable);
/// The same, for operations that read a quantised weight in its blocks.
[[nodiscard]] const Value& stored_value_of(std::string_view operation, std::string_view argument,
                                           const Variable& variable);

[[nodiscard]] Variable constant(Value value);
/// A leaf whose gradient is kept.
[[nodiscard]] Variable parameter(Value value);

/// The result of an operation, with its record if an input requires a gradient and recording is on.
[[nodiscard]] Variable recorded(std::string_view operation, Value out, std::initializer_list<const Variable*> inputs,
                                Backward backward);
[[nodiscard]] Variable recorded(std::string_view operation, Value out, const std::vector<Variable>& inputs,
                                Backward backward);
/// Recorded whatever its inputs: the backward pass continues only by Gradients::go_on.
[[nodiscard]] Variable recorded_always(std::string_view operation, Value out, Backward backward);

/// A value kept for the backward pass, which throws if it was changed since.
class Kept {
 public:
  Kept(std::string_view operation, std::string_view argument, Value value)
      : operation_(operation), argument_(argument), value_(std::move(value)), version_(value_.storage->version()) {}
  /// Throws InvalidArgument naming the operation.
  [[nodiscard]] const Value& value() const;

 private:
  std::string_view operation_;  // both of static duration
  std::string_view argument_;
  Value value_;
  std::uint64_t version_;
};

/// True while operations of this thread are recorded.
[[nodiscard]] bool& recording();
/// A flag of this thread, set to true by an operation that would have been recorded.
[[nodiscard]] bool& would_record();

/// Throws InvalidArgument(operation, argument, …) unless the dtype is `wanted`, that of the argument `as`.
void require_dtype(std::string_view operation, std::string_view argument, DType wanted, std::string_view as, DType got);

}  // namespace qkv::autograd
