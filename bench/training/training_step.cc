// A training step of a GPT: 6 layers, d 384, 6 heads, T 256, batch 16, with its cross-entropy and AdamW.
//   training_step parameters FILE     writes what the model starts from, as safetensors
//   training_step THREADS f32|bf16    one step for each line of standard input; answers {"seconds": …, "processor": …,
//   "loss": …}
// torch_step.py beside it does the same in PyTorch.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>

#include "qkv/autograd/softmax.h"
#include "qkv/model/model.h"
#include "qkv/threads.h"
#include "qkv/train/optimizer.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kVocabulary = 256;
constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kLength = 256;
constexpr double kLearningRate = 1e-3;

qkv::Decoder model() {
  qkv::Generator generator(1);
  return qkv::Decoder({.vocabulary = kVocabulary,
                       .length = kLength,
                       .layers = 6,
                       .d_model = 384,
                       .heads = 6,
                       .positions = qkv::Positions::learned},
                      generator);
}

void train(qkv::DType dtype) {
  using namespace qkv;
  const Decoder decoder = model();
  const std::unique_ptr<Optimizer> optimizer = make_adamw(decoder.parameters(), {.decay = Decay::all});
  Generator generator(2);
  const Tensor text = generator.randint(0, kVocabulary, {kBatch, kLength});
  const Tensor next = generator.randint(0, kVocabulary, {kBatch, kLength});
  for (std::string line; std::getline(std::cin, line);) {
    const Clock::time_point start = Clock::now();
    const std::clock_t before = std::clock();
    clear_gradients(optimizer->parameters());
    const Variable loss = cross_entropy(decoder.forward(text, {.dtype = dtype}), next);
    backward(loss);
    optimizer->step(kLearningRate);
    const std::chrono::duration<double> taken = Clock::now() - start;
    const double processor = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    std::cout << R"({"seconds": )" << taken.count() << R"(, "processor": )" << processor << R"(, "loss": )"
              << loss.value().at({}) << "}\n"
              << std::flush;
  }
}

void answer(std::span<char*> words) {
  const std::string first = words.size() == 3 ? words[1] : "";
  const std::string second = words.size() == 3 ? words[2] : "";
  if (first == "parameters") return qkv::Model(model()).save(second);
  if (second != "f32" && second != "bf16") {
    throw std::runtime_error("usage: training_step parameters FILE | training_step THREADS f32|bf16");
  }
  qkv::set_threads(std::stoi(first));
  std::cout.precision(9);
  train(second == "f32" ? qkv::DType::f32 : qkv::DType::bf16);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    answer({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
