#include "qkv/autograd/variable.h"

#include <utility>

#include "autograd/node.h"

namespace qkv {
namespace {

using autograd::Body;
using autograd::Node;

const Body& body_of(const char* function, const Variable& variable) {
  if (variable.empty()) throw InvalidArgument(function, "this", "a variable", "an empty variable");
  return *variable.body();
}

autograd::Value checked_value(Tensor tensor) {
  if (tensor.empty() || !is_floating(tensor.dtype())) {
    throw InvalidArgument("Variable", "value", "a tensor of f64, f32, bf16 or f16",
                          tensor.empty() ? "an empty one" : name_of(tensor.dtype()));
  }
  return autograd::value_of(std::move(tensor));
}

Node& parameter_of(const char* function, const Variable& variable) {
  const Body& body = body_of(function, variable);
  if (body.node == nullptr) throw InvalidArgument(function, "this", "a parameter", "a constant");
  if (!body.node->is_parameter()) {
    throw InvalidArgument(function, "this", "a parameter", "the result of " + std::string(body.node->operation));
  }
  return *body.node;
}

Node& parameter_to_replace(const Variable& variable, const Shape& shape) {
  Node& node = parameter_of("Variable::replace_value", variable);
  if (shape == node.shape) return node;
  throw InvalidArgument("Variable::replace_value", "value", node.shape.to_string(), shape.to_string());
}

}  // namespace

Variable::Variable(Tensor value) : Variable(autograd::constant(checked_value(std::move(value)))) {}

Variable::Variable(std::shared_ptr<const autograd::Body> body) : body_(std::move(body)) {}

Variable autograd::parameter(Value value) {
  auto body = std::make_shared<Body>();
  body->value = std::move(value);
  body->node = std::make_shared<Node>();
  body->node->dtype = body->value.dtype();
  body->node->shape = body->value.shape();
  body->node->number = next_number();
  return Variable(std::move(body));
}

Variable Variable::parameter(Tensor value) {
  return autograd::parameter(autograd::dense(checked_value(std::move(value))));
}

const TensorView& Variable::value() const { return autograd::plain(body_of("Variable::value", *this).value).view; }

const TensorView& Variable::form() const { return body_of("Variable::value", *this).value.view; }

const QuantisedTensor* Variable::quantised() const noexcept {
  return empty() || body_->value.storage == nullptr ? nullptr : body_->value.storage->quantised();
}

double Variable::item() const {
  const TensorView& all = value();
  if (all.size() != 1) {
    throw InvalidArgument("Variable::item", "this", "one element", all.shape().to_string());
  }
  return all.to_vector().front();
}

bool Variable::requires_gradient() const { return !empty() && body_->node != nullptr && quantised() == nullptr; }

bool Variable::is_leaf() const { return !requires_gradient() || body_->node->is_parameter(); }

MutableTensorView Variable::mutable_value() const {
  const Body& body = body_of("Variable::mutable_value", *this);
  if (!is_leaf()) {
    throw InvalidArgument("Variable::mutable_value", "this", "a parameter or a constant",
                          "the result of " + std::string(body.node->operation));
  }
  if (const QuantisedTensor* blocks = quantised()) {
    throw InvalidArgument("Variable::mutable_value", "this", "numbers that can be written",
                          "a quantised weight, " + std::string(blocks->type_name()) + ", which is not trained");
  }
  body.value.storage->raise_version();
  body.value = autograd::to_be_written(body.value);
  return body.value.writable();
}

void Variable::replace_value(Tensor value) const {
  Node& node = parameter_to_replace(*this, value.shape());
  autograd::Value checked = autograd::dense(checked_value(std::move(value)));
  node.dtype = checked.dtype();
  node.gradient = {};
  body_->value = std::move(checked);
}

void Variable::replace_value(QuantisedTensor value) const {
  Node& node = parameter_to_replace(*this, value.shape());
  node.dtype = DType::f32;
  node.gradient = {};
  body_->value = autograd::value_of(std::move(value));
}

TensorView Variable::gradient() const { return parameter_of("Variable::gradient", *this).gradient.view; }

bool Variable::has_gradient() const { return !parameter_of("Variable::has_gradient", *this).gradient.empty(); }

MutableTensorView Variable::mutable_gradient() const {
  const Node& node = parameter_of("Variable::mutable_gradient", *this);
  if (node.gradient.empty()) {
    throw InvalidArgument("Variable::mutable_gradient", "this", "a parameter with a gradient", "one without");
  }
  return node.gradient.writable();
}

void Variable::clear_gradient() const { parameter_of("Variable::clear_gradient", *this).gradient = {}; }

Variable Variable::detach() const { return autograd::constant(body_of("Variable::detach", *this).value); }

void Variable::on_gradient(std::function<Variable(const Variable& gradient)> hook) const {
  const Body& body = body_of("Variable::on_gradient", *this);
  if (!requires_gradient()) {
    throw InvalidArgument("Variable::on_gradient", "this", "a variable that requires a gradient", "a constant");
  }
  body.node->hooks.push_back(std::move(hook));
}

NoGradient::NoGradient() : before_(std::exchange(autograd::recording(), false)) {}
NoGradient::~NoGradient() { autograd::recording() = before_; }

}  // namespace qkv
