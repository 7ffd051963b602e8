// training_step THREADS f32|bf16: seconds of loss and gradients of a GPT (6 layers, d 384, 6 heads, T 256, batch 16),
// medians of 5 steps. torch_step.py beside it does the same in PyTorch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/softmax.h"
#include "qkv/layers/transformer.h"
#include "qkv/threads.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kVocabulary = 256;
constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kLength = 256;
constexpr std::int64_t kWidth = 384;
constexpr int kSteps = 5;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void run(qkv::DType dtype) {
  using namespace qkv;
  Generator generator(1);
  const learn::TransformerStack stack(
      {.kind = StackKind::decoder, .layers = 6, .block = {.attention = {.d_model = kWidth, .heads = 6}}}, generator);
  const learn::Embedding tokens(kVocabulary, kWidth, generator);
  const learn::Embedding places(kLength, kWidth, generator);
  learn::Parameters parameters = stack.parameters();
  append(parameters, "tokens", tokens.parameters());
  append(parameters, "places", places.parameters());
  const Tensor text = generator.randint(0, kVocabulary, {kBatch, kLength});
  const Tensor next = generator.randint(0, kVocabulary, {kBatch, kLength});
  Tensor order(DType::i64, {kLength});
  std::iota(order.values<std::int64_t>().begin(), order.values<std::int64_t>().end(), std::int64_t{0});
  std::vector<double> forward;
  std::vector<double> back;
  for (int step = 0; step < kSteps; ++step) {
    for (const auto& parameter : parameters) parameter.value.clear_gradient();
    const Clock::time_point start = Clock::now();
    const Variable x = tokens.forward(text, dtype) + places.forward(order, dtype);
    const Variable loss = cross_entropy(tokens.logits(stack.forward(x)), next);
    forward.push_back(seconds_since(start));
    const Clock::time_point turn = Clock::now();
    backward(loss);
    back.push_back(seconds_since(turn));
  }
  std::printf("qkv, %lld parameters: forward %.3f s, backward %.3f s\n",
              static_cast<long long>(learn::parameter_count(parameters)), median(forward), median(back));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    const std::string dtype = words.size() == 3 ? words[2] : "";
    if (dtype != "f32" && dtype != "bf16") throw std::runtime_error("usage: training_step THREADS f32|bf16");
    qkv::set_threads(std::stoi(words[1]));
    run(dtype == "f32" ? qkv::DType::f32 : qkv::DType::bf16);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
