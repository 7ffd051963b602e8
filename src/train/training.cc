#include "qkv/train/training.h"

#include <cmath>
#include <utility>

#include "autograd/watch.h"
#include "core/plain_number.h"
#include "core/watched.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/watch.h"

namespace qkv {
namespace {

constexpr const char* kTrain = "train";

void require_options(const TrainingOptions& options) {
  if (options.accumulation < 1) {
    throw InvalidArgument(kTrain, "accumulation", "1 or more", std::to_string(options.accumulation));
  }
  if (options.clip_norm && !(*options.clip_norm > 0)) {
    throw InvalidArgument(kTrain, "clip_norm", "more than 0", core::plain_number(*options.clip_norm));
  }
  static_cast<void>(learning_rate(options.schedule, 0));
}

class Loop {
 public:
  Loop(Optimizer& optimizer, const LossOfBatch& loss_of_batch, const TrainingOptions& options)
      : optimizer_(optimizer), loss_of_batch_(loss_of_batch), options_(options) {}

  // Where a watch ends it, the gradients of a half step are cleared, too.
  TrainingStep step_or_clear() {
    try {
      return step();
    } catch (const Cancelled&) {
      clear_gradients(optimizer_.parameters());
      throw;
    }
  }

 private:
  TrainingStep step() {
    TrainingStep done{.step = optimizer_.steps()};
    clear_gradients(optimizer_.parameters());
    Sums sums;
    for (std::int64_t n = 0; n < options_.accumulation; ++n) add_batch(sums, n);
    if (sums.targets == 0) throw Error("step " + std::to_string(done.step + 1) + ": its batches have no target");
    if (options_.accumulation > 1) scale_gradients(optimizer_.parameters(), 1 / static_cast<double>(sums.targets));
    done.loss = options_.accumulation > 1 ? sums.loss / static_cast<double>(sums.targets) : sums.loss;
    done.tokens = sums.tokens;
    done.gradient_norm = options_.clip_norm ? clip_gradients(optimizer_.parameters(), *options_.clip_norm)
                                            : gradient_norm(optimizer_.parameters());
    if (!std::isfinite(done.gradient_norm)) diverged(done.step, "the gradients are not finite");
    done.learning_rate = learning_rate(options_.schedule, done.step);
    {
      // A step is done whole or not at all, whoever stops the loop.
      const CallWatch whole = [] { return Proceed::go_on; };
      const core::Watched watched(whole);
      optimizer_.step(done.learning_rate);
    }
    clear_gradients(optimizer_.parameters());
    return done;
  }

  // Of the batches of a step. A sum of losses and a number of targets, since a mean of means would weigh the targets of
  // a short batch more than those of a long one; the gradients that lie in the parameters are sums as well.
  struct Sums {
    double loss = 0;
    std::int64_t targets = 0;
    std::int64_t tokens = 0;
  };

  void add_batch(Sums& sums, std::int64_t n) {
    const BatchLoss batch = loss_of_batch_(optimizer_.steps() * options_.accumulation + n);
    sums.tokens += batch.tokens;
    if (batch.targets == 0) return;
    const double loss = batch.loss.item();
    if (!std::isfinite(loss)) {
      diverged(optimizer_.steps(), std::isnan(loss) ? "the loss is NaN" : "the loss is infinite");
    }
    // One batch is a mean already, whose bits stay as they are.
    const double weight = options_.accumulation == 1 ? 1 : static_cast<double>(batch.targets);
    sums.loss += weight * loss;
    sums.targets += batch.targets;
    backward(options_.accumulation == 1 ? batch.loss : scale(batch.loss, weight));
  }

  [[noreturn]] void diverged(std::int64_t step, const std::string& what) {
    std::string tensor = first_bad(step);
    clear_gradients(optimizer_.parameters());
    throw Diverged(step + 1, what, std::move(tensor));
  }

  // The step once more, with every tensor looked at.
  std::string first_bad(std::int64_t step) {
    for (const Parameter& parameter : optimizer_.parameters()) {
      if (!autograd::is_finite(parameter.value.value())) return "the parameter " + parameter.name;
    }
    clear_gradients(optimizer_.parameters());
    const NonFiniteWatch watch;
    for (std::int64_t n = 0; n < options_.accumulation; ++n) {
      const BatchLoss batch = loss_of_batch_(step * options_.accumulation + n);
      if (!watch.first()) backward(batch.loss);
      if (watch.first()) return *watch.first();
    }
    for (const Parameter& parameter : optimizer_.parameters()) {
      const Variable& variable = parameter.value;
      if (variable.has_gradient() && !autograd::is_finite(variable.gradient())) {
        return "the gradient of " + parameter.name;
      }
    }
    return "the sum of the squares of all gradients";
  }

  Optimizer& optimizer_;
  const LossOfBatch& loss_of_batch_;
  const TrainingOptions& options_;
};

}  // namespace

Diverged::Diverged(std::int64_t step, const std::string& what, std::string tensor)
    : Error("step " + std::to_string(step) + ": " + what + "; the first tensor that went bad: " + tensor),
      step_(step),
      tensor_(std::move(tensor)) {}

void train(Optimizer& optimizer, const LossOfBatch& loss_of_batch, const TrainingOptions& options,
           const std::function<Next(const TrainingStep&)>& after_step) {
  require_options(options);
  Loop loop(optimizer, loss_of_batch, options);
  while (optimizer.steps() < options.schedule.steps) {
    if (after_step(loop.step_or_clear()) == Next::stop) return;
  }
}

}  // namespace qkv
