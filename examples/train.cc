// Training: a small decoder learns to repeat a sequence. In f64, whose digits are the same on every machine.
#include <qkv/qkv.h>

#include <algorithm>
#include <cstdio>

namespace {

using namespace qkv;

constexpr std::int64_t kTokens = 11;     // five letters, a separator, the same five letters
constexpr std::int64_t kSeparator = 6;   // letters are 0 to 5
constexpr std::int64_t kIgnored = -100;  // a target that adds nothing to the loss

struct Drawn {
  Tensor ids;      // [B, T]: what the decoder reads
  Tensor targets;  // [B, T]: the token after each, where it can be known
};

Drawn draw(Generator& random, std::int64_t B) {
  const Tensor letters = random.randint(0, 6, {B, 5});
  Tensor ids(DType::i64, {B, kTokens - 1});
  Tensor targets(DType::i64, {B, kTokens - 1});
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t t = 0; t < kTokens - 1; ++t) {
      const double letter = letters.at({b, t < 5 ? t : (t + 4) % 5});
      ids.set({b, t}, t == 5 ? kSeparator : letter);
      targets.set({b, t}, t < 5 ? kIgnored : letters.at({b, t - 5}));
    }
  }
  return {ids, targets};
}

double accuracy(const Decoder& model, const Drawn& examples) {
  const NoGradient nothing_is_recorded;
  const Tensor scores(model.forward(examples.ids, {.dtype = DType::f64}).value());
  int right = 0;
  int all = 0;
  for (std::int64_t b = 0; b < scores.dim(0); ++b) {
    for (std::int64_t t = 5; t < kTokens - 1; ++t) {
      const std::vector<double> row = scores.select(0, b).select(0, t).to_vector();
      const auto best = std::max_element(row.begin(), row.end()) - row.begin();
      right += static_cast<double>(best) == examples.targets.at({b, t}) ? 1 : 0;
      ++all;
    }
  }
  return static_cast<double>(right) / all;
}

}  // namespace

int main() {
  Generator random(1);
  const Decoder model({.vocabulary = 7, .length = kTokens, .layers = 2, .d_model = 16, .heads = 2}, random, DType::f64);
  std::printf("%lld parameters\n", static_cast<long long>(parameter_count(model.parameters())));

  const auto optimizer = make_adamw(model.parameters());
  const TrainingOptions options = {.schedule = {.peak = 1e-2, .steps = 200}};
  const auto loss_of_batch = [&](std::int64_t n) {
    Generator batch(static_cast<std::uint64_t>(1000 + n));  // batch n is a function of n
    const Drawn examples = draw(batch, 32);
    return BatchLoss{cross_entropy(model.forward(examples.ids, {.dtype = DType::f64}), examples.targets), 320};
  };
  train(*optimizer, loss_of_batch, options, [](const TrainingStep& step) {
    if (step.step % 40 == 0) std::printf("step %3lld  loss %.4f\n", static_cast<long long>(step.step), step.loss);
    return Next::go_on;
  });

  Generator unseen(7);
  const double share = accuracy(model, draw(unseen, 100));
  std::printf("repeats unseen sequences: %.1f %% of the letters\n", 100 * share);
  return share > 0.9 ? 0 : 1;
}
