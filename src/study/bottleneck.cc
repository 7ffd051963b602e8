#include "qkv/study/bottleneck.h"

#include <cmath>

#include "qkv/autograd/softmax.h"
#include "qkv/train/training.h"

namespace qkv {
namespace {

// Streams of random numbers: those of training have an even seed.
std::uint64_t training_seed(std::uint64_t seed, std::int64_t step) {
  return 2 * (seed * 1'000'003U + static_cast<std::uint64_t>(step));
}
std::uint64_t measuring_seed(std::uint64_t seed, std::int64_t length) {
  return 2 * (seed * 1'000'003U + static_cast<std::uint64_t>(length)) + 1;
}

Tensor texts_of_step(const BottleneckSetup& setup, std::int64_t step) {
  Generator generator(training_seed(setup.seed, step));
  const Tensor drawn = generator.randint(1, setup.longest + 1, {1});
  return generator.randint(0, kLetters, {setup.batch, static_cast<std::int64_t>(drawn.at({0}))});
}

SequenceToSequence model_of(const BottleneckSetup& setup, Recall recall) {
  Generator generator(setup.seed);
  const bool attends = recall == Recall::all_states;
  return {{.tokens = kLetters,
           .embedding = setup.embedding,
           .width = attends ? setup.width : setup.vector,
           .recall = recall,
           .d_k = attends ? setup.d_k : 0},
          generator};
}

double teach(const SequenceToSequence& model, const BottleneckSetup& setup, const BottleneckWatch& watch) {
  constexpr std::int64_t kWarmUp = 100;
  const auto optimizer = make_adamw(model.parameters(), {.weight_decay = 0});
  const auto loss = [&](std::int64_t n) -> BatchLoss {
    const Tensor ids = texts_of_step(setup, n);
    return {.loss = cross_entropy(model.forward(ids, ids), ids), .tokens = ids.size(), .targets = ids.size()};
  };
  const TrainingOptions options = {
      .schedule = {.peak = setup.learning_rate, .warm_up = std::min(kWarmUp, setup.steps), .steps = setup.steps}};
  double last = 0;
  train(*optimizer, loss, options, [&](const TrainingStep& step) {
    last = step.loss;
    if (watch.step) watch.step(std::string(name_of(model.options().recall)), step.step, step.loss);
    return watch.stopped && watch.stopped() ? Next::stop : Next::go_on;
  });
  return last;
}

}  // namespace

BottleneckModels make_bottleneck_models(const BottleneckSetup& setup) {
  return {.vector = model_of(setup, Recall::last_state), .attention = model_of(setup, Recall::all_states)};
}

std::pair<double, double> train_bottleneck(const BottleneckModels& models, const BottleneckSetup& setup,
                                           const BottleneckWatch& watch) {
  const double vector = teach(models.vector, setup, watch);
  return {vector, teach(models.attention, setup, watch)};
}

BottleneckScore measure_bottleneck(const SequenceToSequence& model, std::int64_t length, std::int64_t texts,
                                   std::uint64_t seed) {
  Generator generator(measuring_seed(seed, length));
  const Tensor ids = generator.randint(0, kLetters, {texts, length});
  const Tensor written = model.write(ids).tokens;
  const auto expected = ids.values<std::int64_t>();
  const auto got = written.values<std::int64_t>();
  std::int64_t right = 0;
  std::int64_t whole = 0;
  for (std::int64_t b = 0; b < texts; ++b) {
    std::int64_t here = 0;
    for (std::int64_t t = 0; t < length; ++t) {
      const auto n = static_cast<std::size_t>(b * length + t);
      here += expected[n] == got[n] ? 1 : 0;
    }
    right += here;
    whole += here == length ? 1 : 0;
  }
  return {.length = length,
          .letters = static_cast<double>(right) / static_cast<double>(texts * length),
          .texts = static_cast<double>(whole) / static_cast<double>(texts)};
}

Tensor bottleneck_ids(std::string_view text) {
  std::vector<std::int64_t> ids;
  for (const char letter : text) {
    if (letter < 'a' || letter > 'z') {
      throw InvalidArgument("bottleneck", "text", "letters a to z", "\"" + std::string(text) + "\"");
    }
    ids.push_back(letter - 'a');
  }
  if (ids.empty()) throw InvalidArgument("bottleneck", "text", "a letter or more", "none");
  return {ids, {1, std::ssize(ids)}};
}

Tensor state_dependence(const SequenceToSequence& model, const TensorView& ids) {
  const NoGradient constant;
  const std::int64_t length = ids.dim(1);
  const std::int64_t letters = model.options().tokens;
  // Text t * letters + c has the letter c in place t; the one that stood there is among them, and moves nothing.
  Tensor changed(DType::i64, {length * letters, length});
  for (std::int64_t row = 0; row < length * letters; ++row) {
    for (std::int64_t t = 0; t < length; ++t) {
      const bool here = row / letters == t;
      changed.values<std::int64_t>()[static_cast<std::size_t>(row * length + t)] =
          here ? row % letters : static_cast<std::int64_t>(ids.at({0, t}));
    }
  }
  const std::vector<Variable> moved = model.encode(changed);
  const std::vector<Variable> own = model.encode(ids);
  Tensor dependence(DType::f64, {length, length});
  const std::int64_t width = model.options().width;
  for (std::int64_t s = 0; s < length; ++s) {
    const std::vector<double> from = own[static_cast<std::size_t>(s)].value().to_vector();
    const std::vector<double> to = moved[static_cast<std::size_t>(s)].value().to_vector();
    for (std::int64_t t = 0; t <= s; ++t) {
      double squares = 0;
      for (std::int64_t n = 0; n < letters * width; ++n) {
        const double difference =
            to[static_cast<std::size_t>(t * letters * width + n)] - from[static_cast<std::size_t>(n % width)];
        squares += difference * difference;
      }
      dependence.values<double>()[static_cast<std::size_t>(s * length + t)] =
          std::sqrt(squares / static_cast<double>(letters - 1));
    }
  }
  return dependence;
}

}  // namespace qkv
