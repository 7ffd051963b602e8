#include <array>
#include <cmath>

#include "core/plain_number.h"
#include "train/update.h"

namespace qkv {
namespace {

constexpr const char* kMakeAdamw = "make_adamw";
constexpr std::array<std::string_view, 2> kMoments = {"first", "second"};

// The factors of one step, in the order of PyTorch's roundings.
template <class Real>
struct Factors {
  Real kept;  // of the parameter, after decay
  Real beta1_rest;
  Real beta2;
  Real beta2_rest;
  Real root;  // of the second moment's correction
  Real epsilon;
  Real size;
};

template <class Real>
QKV_INLINED inline void adamw_piece(const Factors<Real>& by, Real* value, const Real* gradient, Real* first,
                                    Real* second, std::int64_t count) {
  QKV_SAME_INDEX
  for (std::int64_t i = 0; i < count; ++i) {
    const Real g = gradient[i];
    const Real m = first[i] + by.beta1_rest * (g - first[i]);
    const Real v = by.beta2 * second[i] + by.beta2_rest * g * g;
    first[i] = m;
    second[i] = v;
    value[i] = by.kept * value[i] - by.size * (m / (std::sqrt(v) / by.root + by.epsilon));
  }
}

class AdamW final : public Optimizer {
 public:
  AdamW(Parameters parameters, const AdamWOptions& options)
      : Optimizer(kMakeAdamw, std::move(parameters), kMoments), options_(options) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "adamw"; }

 private:
  void update(const Parameter& parameter, std::span<const OptimizerMoment> moments, double learning_rate) override {
    const auto count = static_cast<double>(steps());
    const double decay = training::decays(parameter, options_.decay) ? options_.weight_decay : 0;
    const MutableTensorView target = parameter.value.mutable_value();
    const TensorView gradient = parameter.value.gradient();
    training::for_numbers(parameter, [&]<class Real>(Real, std::int64_t begin, std::int64_t end) QKV_INLINED {
      const Factors<Real> by = {.kept = static_cast<Real>(1 - learning_rate * decay),
                                .beta1_rest = static_cast<Real>(1 - options_.beta1),
                                .beta2 = static_cast<Real>(options_.beta2),
                                .beta2_rest = static_cast<Real>(1 - options_.beta2),
                                .root = static_cast<Real>(std::sqrt(1 - std::pow(options_.beta2, count))),
                                .epsilon = static_cast<Real>(options_.epsilon),
                                .size = static_cast<Real>(learning_rate / (1 - std::pow(options_.beta1, count)))};
      adamw_piece(by, static_cast<Real*>(target.data()) + begin, static_cast<const Real*>(gradient.data()) + begin,
                  static_cast<Real*>(moments[0].values.data()) + begin,
                  static_cast<Real*>(moments[1].values.data()) + begin, end - begin);
    });
  }

  AdamWOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(Parameters parameters, const AdamWOptions& options) {
  training::require_share(kMakeAdamw, "beta1", options.beta1);
  training::require_share(kMakeAdamw, "beta2", options.beta2);
  if (!(options.epsilon > 0) || std::isinf(options.epsilon)) {
    throw InvalidArgument(kMakeAdamw, "epsilon", "a number > 0", core::plain_number(options.epsilon));
  }
  training::require_decay(kMakeAdamw, options.weight_decay);
  return std::make_unique<AdamW>(std::move(parameters), options);
}

}  // namespace qkv
