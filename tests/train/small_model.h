// A model small enough to be trained in a test: two maps with dropout between them, and batches from a number.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/dropout.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/softmax.h"
#include "qkv/random.h"
#include "qkv/train/checkpoint.h"
#include "qkv/train/training.h"

namespace qkv::tests {

struct SmallModel {
  Parameters parameters;

  explicit SmallModel(std::int64_t width = 40) {
    Generator generator(11);
    const auto add = [&](const std::string& name, const Shape& shape) {
      Tensor drawn = generator.randn(shape);
      parameters.push_back({name, Variable::parameter(std::move(drawn))});
    };
    add("up.weight", {width, 6});
    add("up.bias", {width});
    add("down.weight", {3, width});
  }

  [[nodiscard]] BatchLoss loss(std::int64_t n) const {
    Generator generator(static_cast<std::uint64_t>(n) + 100);
    const Variable x{generator.randn({64, 6})};
    const Tensor classes = generator.randint(0, 3, {64});
    const Variable hidden = tanh(linear(x, parameters[0].value, parameters[1].value));
    const Variable kept = dropout(hidden, {.p = 0.2, .seed = static_cast<std::uint64_t>(n)});
    return {.loss = cross_entropy(linear(kept, parameters[2].value), classes), .tokens = 64};
  }

  [[nodiscard]] LossOfBatch loss_of_batch() const {
    return [this](std::int64_t n) { return loss(n); };
  }

  /// All numbers, one parameter after the other.
  [[nodiscard]] std::vector<double> numbers() const {
    std::vector<double> all;
    for (const Parameter& parameter : parameters) {
      const std::vector<double> some = parameter.value.value().to_vector();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
};

inline TrainingOptions small_training(std::int64_t steps) {
  return {.schedule = {.kind = ScheduleKind::cosine, .peak = 1e-2, .last = 1e-3, .warm_up = 3, .steps = steps},
          .accumulation = 2,
          .clip_norm = 0.5};
}

inline std::map<std::string, std::string> small_metadata() {
  return {{"model.kind", "small"}, {"model.width", "40"}, {"run.seed", "7"}};
}

}  // namespace qkv::tests
