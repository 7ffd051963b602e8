#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "qkv/autograd/variable.h"

namespace qkv {
namespace {

using autograd::Gradients;
using autograd::Node;
using autograd::Value;

// One walk. Operations are taken from the youngest to the oldest, so that each is reached when all that used it are
// done; the order, and with it the order of every sum, is that of recording.
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
      for (std::size_t n = 0; n < node->hooks.size(); ++n) gradient = shown_to(node->hooks[n], std::move(gradient));
      if (node->is_parameter()) {
        reached_.push_back({node, std::move(gradient)});
      } else {
        step(*node, std::move(gradient));
      }
    }
    for (Gradients::Given& leaf : reached_) keep(*leaf.node, std::move(leaf.gradient));
  }

 private:
  void step(Node& node, Value gradient) {
    if (node.released) {
      throw InvalidArgument("backward", "result", "a record that is still there",
                            "one of " + std::string(node.operation) + " that another walk has released");
    }
    Gradients gradients(node);
    node.backward(std::move(gradient), gradients);
    if (record_ == Record::release) {
      node.released = true;
      node.backward = nullptr;
      node.inputs.clear();
    }
    for (Gradients::Given& given : gradients.given()) add(std::move(given));
  }

  void add(Gradients::Given given) {
    const std::uint64_t number = given.node->number;
    const auto [place, is_first] = pending_.try_emplace(number, std::move(given));
    if (is_first) return;
    Value& sum = place->second.gradient;
    if (sum.is_exclusive()) {
      add_to(sum, dense(given.gradient));  // try_emplace moves only where it inserts
      return;
    }
    const Value before = dense(sum);
    sum = autograd::new_value(before.dtype(), before.shape());
    map(sum, before, dense(given.gradient), [](auto a, auto b) QKV_INLINED { return a + b; });
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
      add_to(leaf.gradient, dense(gradient));
    } else if (gradient.is_exclusive()) {
      leaf.gradient = std::move(gradient);
    } else {
      leaf.gradient = autograd::copied(gradient.view, gradient.dtype());
    }
  }

  Record record_;
  std::map<std::uint64_t, Gradients::Given, std::greater<>> pending_;
  std::vector<Gradients::Given> reached_;
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
