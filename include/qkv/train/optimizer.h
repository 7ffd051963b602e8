// What turns gradients into a step: AdamW, and gradient descent with momentum.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/nn/parameters.h"
#include "qkv/tensor.h"

namespace qkv {

/// Which parameters weight decay pulls towards 0.
enum class Decay : std::uint8_t {
  matrices,  // those of rank 2 and more: no biases, no weights of norms
  all,
};

/// One of the tensors that an optimiser remembers of a parameter. The elements are the optimiser's.
struct OptimizerMoment {
  std::string name;  // "<name of the parameter>/first"
  MutableTensorView values;
};

/// Changes parameters in place, by the gradients that they hold. A parameter without a gradient is left as it is.
/// Parameters and all that is remembered of them are f32 or f64: a model that computes in bf16 casts them.
class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer();

  /// "adamw" or "sgd".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// One step; the gradients stay. The same bits for any number of threads. Throws InvalidArgument unless
  /// learning_rate is a number >= 0.
  void step(double learning_rate);

  [[nodiscard]] std::span<const Parameter> parameters() const noexcept { return parameters_; }
  /// Steps taken.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
  /// All that the next step depends on besides parameters, gradients and steps(), in the order of the parameters; zero
  /// before the first step. A checkpoint keeps them.
  [[nodiscard]] const std::vector<OptimizerMoment>& moments() const noexcept { return moments_; }
  /// Throws InvalidArgument for less than 0.
  void set_steps(std::int64_t steps);

 protected:
  /// `moments` are the names after the slash.
  Optimizer(std::string_view function, Parameters parameters, std::span<const std::string_view> moments);

 private:
  virtual void update(const Parameter& parameter, std::span<const OptimizerMoment> moments, double learning_rate) = 0;

  Parameters parameters_;
  std::vector<Tensor> storage_;
  std::vector<OptimizerMoment> moments_;
  std::size_t moments_of_one_;
  std::int64_t steps_ = 0;
};

struct AdamWOptions {
  double beta1 = 0.9;          // in [0, 1)
  double beta2 = 0.999;        // in [0, 1)
  double epsilon = 1e-8;       // > 0
  double weight_decay = 0.01;  // >= 0; each step takes this times the learning rate of a parameter away from it
  Decay decay = Decay::matrices;
};

/// Adam with weight decay of its own (Loshchilov and Hutter 2019, algorithm 2), as torch.optim.AdamW has it. Remembers
/// two tensors per parameter. Throws InvalidArgument naming an option, or parameters if two have one name or are one
/// variable, or one is not f32 or f64 or requires no gradient.
[[nodiscard]] std::unique_ptr<Optimizer> make_adamw(Parameters parameters, const AdamWOptions& options = {});

struct SgdOptions {
  double momentum = 0.0;      // in [0, 1): velocity = momentum * velocity + gradient
  double weight_decay = 0.0;  // >= 0; added to the gradient, times the parameter
  Decay decay = Decay::matrices;
};

/// Gradient descent with momentum, as torch.optim.SGD has it. Remembers one tensor per parameter, none without
/// momentum. Throws as make_adamw().
[[nodiscard]] std::unique_ptr<Optimizer> make_sgd(Parameters parameters, const SgdOptions& options = {});

/// The square root of the sum of squares of all gradients, summed in f64 in a fixed order.
[[nodiscard]] double gradient_norm(std::span<const Parameter> parameters);

/// Multiplies all gradients with most / (norm + 1e-6) where that is less than 1 (Pascanu et al. 2013, as
/// torch.nn.utils.clip_grad_norm_ has it). Returns the norm before; where it is not finite the gradients are left
/// alone. Throws InvalidArgument unless most > 0.
double clip_gradients(std::span<const Parameter> parameters, double most);

/// Multiplies all gradients with a factor, in place.
void scale_gradients(std::span<const Parameter> parameters, double factor);

}  // namespace qkv
