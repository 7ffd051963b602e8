#include "qkv/train/training.h"

#include <cmath>
#include <utility>

#include "autograd/watch.h"
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
    throw InvalidArgument(kTrain, "clip_norm", "more than 0", std::to_string(*options.clip_norm));
  }
  static_cast<void>(learning_rate(options.schedule, 0));
}

class Loop {
 public:
  Loop(Optimizer& optimizer, const LossOfBatch& loss_of_batch, const TrainingOptions& options)
      : optimizer_(optimizer), loss_of_batch_(loss_of_batch), options_(options) {}

  TrainingStep step() {
    TrainingStep done{.step = optimizer_.steps()};
    clear_gradients(optimizer_.parameters());
    for (std::int64_t n = 0; n < options_.accumulation; ++n) add_batch(done, n);
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

 private:
  // The gradient of loss / accumulation, so that the sum of the batches' is their mean.
  void add_batch(TrainingStep& done, std::int64_t n) {
    const BatchLoss batch = loss_of_batch_(done.step * options_.accumulation + n);
    const double loss = batch.loss.item();
    if (!std::isfinite(loss)) diverged(done.step, std::isnan(loss) ? "the loss is NaN" : "the loss is infinite");
    const auto batches = static_cast<double>(options_.accumulation);
    done.loss += loss / batches;
    done.tokens += batch.tokens;
    backward(options_.accumulation == 1 ? batch.loss : scale(batch.loss, 1 / batches));
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
    if (after_step(loop.step()) == Next::stop) return;
  }
}

}  // namespace qkv
