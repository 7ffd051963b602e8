#include "autograd/node.h"

#include <atomic>

#include "autograd/scope.h"
#include "autograd/watch.h"

namespace qkv::autograd {
namespace {

std::shared_ptr<Node> node_of(const Variable& variable) {
  return variable.requires_gradient() ? variable.body()->node : nullptr;
}

std::shared_ptr<Node> node_for(std::string_view operation, const Value& out, Backward backward) {
  auto node = std::make_shared<Node>();
  node->operation = operation;
  node->scope = operation_scope();
  node->dtype = out.dtype();
  node->shape = out.shape();
  node->number = next_number();
  node->backward = std::move(backward);
  return node;
}

template <class Each>
Variable make(std::string_view operation, Value out, std::size_t count, const Each& input, Backward backward) {
  auto body = std::make_shared<Body>();
  body->value = std::move(out);
  if (is_watched()) watch_result(operation, body->value);
  bool wanted = false;
  for (std::size_t n = 0; n < count; ++n) wanted = wanted || node_of(input(n)) != nullptr;
  would_record() = would_record() || wanted;
  if (wanted && recording()) {
    body->node = node_for(operation, body->value, std::move(backward));
    for (std::size_t n = 0; n < count; ++n) body->node->inputs.push_back(node_of(input(n)));
  }
  return Variable(std::move(body));
}

}  // namespace

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Node::~Node() {
  std::vector<std::shared_ptr<Node>> last = std::move(inputs);
  while (!last.empty()) {
    const std::shared_ptr<Node> node = std::move(last.back());
    last.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    for (std::shared_ptr<Node>& input : node->inputs) last.push_back(std::move(input));
    node->inputs.clear();
  }
}

Gradients::Gradients(const Node& node) : node_(node) {}

std::size_t Gradients::inputs() const { return node_.inputs.size(); }

bool Gradients::wanted(std::size_t input) const { return node_.inputs.at(input) != nullptr; }

void Gradients::give(std::size_t input, Value gradient) {
  if (wanted(input)) given_.push_back({node_.inputs[input], std::move(gradient)});
}

void Gradients::give_part(std::size_t input, Value gradient, int axis, std::int64_t begin) {
  if (wanted(input)) given_.push_back({node_.inputs[input], std::move(gradient), Part{axis, begin}});
}

void Gradients::go_on(const Variable& result, Value d_result) {
  given_.push_back({result.body()->node, std::move(d_result)});
}

const Value& value_of(std::string_view operation, std::string_view argument, const Variable& variable) {
  return plain(stored_value_of(operation, argument, variable));
}

const Value& stored_value_of(std::string_view operation, std::string_view argument, const Variable& variable) {
  if (variable.empty()) throw InvalidArgument(operation, argument, "a variable", "an empty variable");
  return variable.body()->value;
}

Variable constant(Value value) {
  auto body = std::make_shared<Body>();
  body->value = std::move(value);
  return Variable(std::move(body));
}

Variable recorded(std::string_view operation, Value out, std::initializer_list<const Variable*> inputs,
                  Backward backward) {
  return make(
      operation, std::move(out), inputs.size(), [&](std::size_t n) -> const Variable& { return *inputs.begin()[n]; },
      std::move(backward));
}

Variable recorded(std::string_view operation, Value out, const std::vector<Variable>& inputs, Backward backward) {
  return make(
      operation, std::move(out), inputs.size(), [&](std::size_t n) -> const Variable& { return inputs[n]; },
      std::move(backward));
}

Variable recorded_always(std::string_view operation, Value out, Backward backward) {
  auto body = std::make_shared<Body>();
  body->value = std::move(out);
  body->node = node_for(operation, body->value, std::move(backward));
  return Variable(std::move(body));
}

const Value& Kept::value() const {
  if (value_.storage->version() != version_) {
    throw InvalidArgument("backward", std::string(argument_) + " of " + std::string(operation_),
                          "the value that the forward pass used", "one that was changed since");
  }
  return value_;
}

bool& recording() {
  static thread_local bool on = true;
  return on;
}

bool& would_record() {
  static thread_local bool seen = false;
  return seen;
}

void require_dtype(std::string_view operation, std::string_view argument, DType wanted, std::string_view as,
                   DType got) {
  if (got == wanted) return;
  throw InvalidArgument(operation, argument, std::string(name_of(wanted)) + ", the dtype of " + std::string(as),
                        name_of(got));
}

}  // namespace qkv::autograd
