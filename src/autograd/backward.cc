#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "autograd/watch.h"
#include "kernels/elements.h"
#include "qkv/autograd/variable.h"

namespace qkv {
namespace {

using autograd::Gradients;
using autograd::Node;
using autograd::Value;

// One backward pass. It visits operations from the last recorded to the first, so that every user of a value comes
// before the operation that made it. The order of recording also fixes the order of every sum.
class Walk {
 public:
  explicit Walk(Record record) : record_(record) {}

  void go(const std::shared_ptr<Node>& root, Value d_root) {
    add({root, std::move(d_root)});
    while (!pending_.empty()) {
      const auto youngest = pending_.begin();
      const std::shared_ptr<Node> node = std::move(youngest->second.node);
      Value gradient = std::move(youngest->second.gradient);
      pending_.erase(youngest);
      const auto hooks = node->hooks;  // one of them may add another
      for (const auto& hook : hooks) gradient = shown_to(hook, std::move(gradient));
      if (node->is_parameter()) {
        reached_.push_back({node, std::move(gradient)});
      } else {
        step(*node, std::move(gradient));
      }
    }
    for (Sum& leaf : reached_) keep(*leaf.node, std::move(leaf.gradient));
  }

 private:
  struct Sum {
    std::shared_ptr<Node> node;
    Value gradient;
  };

  void step(Node& node, Value gradient) {
    if (node.released) {
      throw InvalidArgument("backward", "result", "a record that backward() has not released",
                            "that of " + std::string(node.operation) + "; Record::keep in the earlier call keeps it");
    }
    Gradients gradients(node);
    node.backward(std::move(gradient), gradients);
    if (autograd::is_watched()) {
      for (const Gradients::Given& given : gradients.given()) {
        autograd::watch_gradient(node.operation, node.scope, given.gradient);
      }
    }
    if (record_ == Record::release) {
      node.released = true;
      node.backward = nullptr;
      node.inputs.clear();
    }
    for (Gradients::Given& given : gradients.given()) add(std::move(given));
  }

  void add(Gradients::Given given) {
    const auto [place, is_first] = pending_.try_emplace(given.node->number, Sum{given.node, {}});
    Value& sum = place->second.gradient;
    if (is_first && !given.part) {
      sum = std::move(given.gradient);
      return;
    }
    if (is_first) sum = autograd::zero_value(given.node->dtype, given.node->shape);
    if (!sum.is_exclusive()) sum = autograd::copied(sum.view, sum.dtype());
    MutableTensorView to = sum.writable();
    if (given.part) {
      const auto [axis, begin] = *given.part;
      to = to.slice(axis, begin, begin + given.gradient.shape()[axis]);
    }
    kernels::add_elements(given.gradient.view, to);
  }

  static Value shown_to(const std::function<Variable(const Variable&)>& hook, Value gradient) {
    const Variable other = hook(autograd::constant(gradient));
    if (other.empty()) return gradient;
    if (other.shape() == gradient.shape() && other.dtype() == gradient.dtype()) return other.body()->value;
    throw InvalidArgument("backward", "gradient of a hook",
                          gradient.shape().to_string() + " of " + std::string(name_of(gradient.dtype())),
                          other.shape().to_string() + " of " + std::string(name_of(other.dtype())));
  }

  static void keep(Node& leaf, Value gradient) {
    if (!leaf.gradient.empty()) {
      kernels::add_elements(gradient.view, leaf.gradient.writable());
    } else if (gradient.is_exclusive()) {
      leaf.gradient = std::move(gradient);
    } else {
      leaf.gradient = autograd::copied(gradient.view, gradient.dtype());
    }
  }

  Record record_;
  std::map<std::uint64_t, Sum, std::greater<>> pending_;
  std::vector<Sum> reached_;
};

const std::shared_ptr<Node>& root_of(const Variable& result) {
  static_cast<void>(autograd::value_of("backward", "result", result));
  const std::shared_ptr<Node>& node = result.body()->node;
  if (node == nullptr) {
    throw InvalidArgument("backward", "result", "a variable that requires a gradient", "a constant");
  }
  return node;
}

}  // namespace

void backward(const Variable& result, Record record) {
  const std::shared_ptr<Node>& root = root_of(result);
  if (result.size() != 1) {
    throw InvalidArgument("backward", "result", "one element, or d_result", result.shape().to_string());
  }
  Value one = autograd::new_value(result.dtype(), result.shape());
  autograd::with_real(one.dtype(), [&]<class T>(T) { autograd::store(*one.data<T>(), 1); });
  Walk(record).go(root, std::move(one));
}

void backward(const Variable& result, const TensorView& d_result, Record record) {
  const std::shared_ptr<Node>& root = root_of(result);
  autograd::require_dtype("backward", "d_result", result.dtype(), "result", d_result.dtype());
  if (!(d_result.shape() == result.shape())) {
    throw InvalidArgument("backward", "d_result", result.shape().to_string() + ", the shape of result",
                          d_result.shape().to_string());
  }
  Walk(record).go(root, autograd::copied(d_result, d_result.dtype()));
}

}  // namespace qkv
