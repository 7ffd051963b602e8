#include "qkv/autograd/checkpoint.h"

#include <string>
#include <utility>

#include "autograd/node.h"
#include "autograd/scope.h"

namespace qkv {
namespace {

using autograd::Gradients;
using autograd::Kept;
using autograd::Value;

// Sets a flag of the thread while it lives.
class Scope {
 public:
  Scope(bool& flag, bool value) : flag_(flag), before_(std::exchange(flag, value)) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { flag_ = before_; }

 private:
  bool& flag_;
  bool before_;
};

struct Block {
  std::function<Variable(const std::vector<Variable>&)> call;
  std::vector<Variable> inputs;
  std::string scope;
  std::vector<Kept> kept;
};

void run_again(const Block& block, Value d_out, Gradients& gradients) {
  for (const Kept& input : block.kept) static_cast<void>(input.value());
  const Scope record(autograd::recording(), true);
  const autograd::RestoredScope scope(block.scope);
  const Variable again = block.call(block.inputs);
  if (!again.requires_gradient() || !(again.shape() == d_out.shape()) || again.dtype() != d_out.dtype()) {
    throw InvalidArgument("checkpoint", "block",
                          "the same result in its second run, " + d_out.shape().to_string() + " of " +
                              std::string(name_of(d_out.dtype())),
                          again.requires_gradient()
                              ? again.shape().to_string() + " of " + std::string(name_of(again.dtype()))
                              : "one that requires no gradient");
  }
  gradients.go_on(again, std::move(d_out));
}

}  // namespace

Variable checkpoint(std::function<Variable(const std::vector<Variable>& inputs)> block,
                    const std::vector<Variable>& inputs) {
  bool wanted = false;
  Variable out;
  {
    const NoGradient none;
    const Scope seen(autograd::would_record(), false);
    out = block(inputs);
    wanted = autograd::would_record();
  }
  autograd::would_record() = autograd::would_record() || wanted;
  if (!wanted || !autograd::recording()) return out;
  Block again{.call = std::move(block), .inputs = inputs, .scope = autograd::operation_scope(), .kept = {}};
  for (const Variable& input : inputs) {
    again.kept.emplace_back("checkpoint", "an input", autograd::value_of("checkpoint", "inputs", input));
  }
  return autograd::recorded_always(
      "checkpoint", out.body()->value,
      [again = std::move(again)](Value d_out, Gradients& gradients) { run_again(again, std::move(d_out), gradients); });
}

}  // namespace qkv
