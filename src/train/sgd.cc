#include <array>

#include "train/update.h"

namespace qkv {
namespace {

constexpr const char* kMakeSgd = "make_sgd";
constexpr std::array<std::string_view, 1> kVelocity = {"velocity"};

std::span<const std::string_view> moments_with(double momentum) {
  return momentum > 0 ? std::span<const std::string_view>(kVelocity) : std::span<const std::string_view>();
}

class Sgd final : public Optimizer {
 public:
  Sgd(Parameters parameters, const SgdOptions& options)
      : Optimizer(kMakeSgd, std::move(parameters), moments_with(options.momentum)), options_(options) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "sgd"; }

 private:
  void update(const Parameter& parameter, std::span<const OptimizerMoment> moments, double learning_rate) override {
    const double weight_decay = training::decays(parameter, options_.decay) ? options_.weight_decay : 0;
    const MutableTensorView target = parameter.value.mutable_value();
    const TensorView gradient = parameter.value.gradient();
    training::for_numbers(parameter, [&]<class Real>(Real, std::int64_t begin, std::int64_t end) QKV_INLINED {
      auto* value = static_cast<Real*>(target.data());
      const auto* g = static_cast<const Real*>(gradient.data());
      Real* velocity = moments.empty() ? nullptr : static_cast<Real*>(moments[0].values.data());
      const auto rate = static_cast<Real>(learning_rate);
      const auto decay = static_cast<Real>(weight_decay);
      const auto momentum = static_cast<Real>(options_.momentum);
      if (velocity == nullptr) {
        QKV_SAME_INDEX
        for (std::int64_t i = begin; i < end; ++i) value[i] -= rate * (g[i] + decay * value[i]);
        return;
      }
      QKV_SAME_INDEX
      for (std::int64_t i = begin; i < end; ++i) {
        velocity[i] = momentum * velocity[i] + (g[i] + decay * value[i]);
        value[i] -= rate * velocity[i];
      }
    });
  }

  SgdOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(Parameters parameters, const SgdOptions& options) {
  training::require_share(kMakeSgd, "momentum", options.momentum);
  training::require_decay(kMakeSgd, options.weight_decay);
  return std::make_unique<Sgd>(std::move(parameters), options);
}

}  // namespace qkv
