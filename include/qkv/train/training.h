// The loop: batches, gradients, steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "qkv/autograd/variable.h"
#include "qkv/error.h"
#include "qkv/train/optimizer.h"
#include "qkv/train/schedule.h"

namespace qkv {

struct BatchLoss {
  Variable loss;             // of rank 0: the mean over what the batch asks
  std::int64_t tokens = 0;   // read
  std::int64_t targets = 1;  // what `loss` is the mean of: batches of a step weigh as many targets as they have
};

/// The loss of batch n of a run. A pure function of n and the parameters: batch n is then the same in a run that was
/// resumed. Dropout's seed must follow from n, too.
using LossOfBatch = std::function<BatchLoss(std::int64_t n)>;

struct TrainingOptions {
  Schedule schedule = {};                 // and how many steps
  std::int64_t accumulation = 1;          // batches of a step, >= 1; its gradient is that of the mean over all targets
  std::optional<double> clip_norm = 1.0;  // > 0
};

/// What is known when a step is done.
struct TrainingStep {
  std::int64_t step = 0;     // the first is 0
  double loss = 0;           // the mean over all targets of its batches, before the step
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  std::int64_t tokens = 0;
};

enum class Next : std::uint8_t { go_on, stop };

/// Training that cannot go on: what() names the step, counted from 1 as logs and checkpoints count the steps that are
/// done, and the first tensor that went bad. Parameters and optimiser are
/// those before the step.
class Diverged : public Error {
 public:
  Diverged(std::int64_t step, const std::string& what, std::string tensor);
  [[nodiscard]] std::int64_t step() const noexcept { return step_; }
  /// "the parameter embedding.weight", "the result of exp, [2, 3]"
  [[nodiscard]] const std::string& tensor() const noexcept { return tensor_; }

 private:
  std::int64_t step_;
  std::string tensor_;
};

/// Steps optimizer.steps() to options.schedule.steps - 1, or until `after_step` says stop; step s takes the batches
/// from s * accumulation on. Loss and gradient are sums over the targets of these batches, divided by how many targets
/// there are: 8 batches of 1 example give what 1 batch of the 8 gives, to rounding. A batch without targets adds
/// nothing. The same bits for any number of threads, and for a run that was stopped, saved, restored and resumed.
/// Gradients are cleared before and after. Throws Diverged if a loss or the norm of the gradients is
/// not finite; Error if the batches of a step have no target; InvalidArgument naming an option; and what the loss
/// throws. A watch of the thread (watched.h) ends a step with Cancelled before it changes anything.
void train(Optimizer& optimizer, const LossOfBatch& loss_of_batch, const TrainingOptions& options,
           const std::function<Next(const TrainingStep&)>& after_step);

}  // namespace qkv
