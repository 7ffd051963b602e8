// generation THREADS f32|bf16 [LAYERS D_MODEL VOCABULARY PROMPT TOKENS]: reads a prompt and goes on from it with a GPT
// that was not trained; prints, as JSON, the time of the prompt, that of each token, and how fast the parameters were
// read. Parameters have the dtype. Without sizes: those of GPT-2 small.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "qkv/model/decoder.h"
#include "qkv/threads.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Sizes {
  std::int64_t layers = 12, d_model = 768, vocabulary = 50257, prompt = 64, tokens = 64;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void generate(qkv::DType dtype, const Sizes& sizes) {
  using namespace qkv;
  Generator generator(1);
  const Decoder decoder({.vocabulary = sizes.vocabulary,
                         .layers = sizes.layers,
                         .d_model = sizes.d_model,
                         .heads = sizes.d_model / 64,
                         .positions = Positions::rotary},
                        generator, dtype);
  const ModelCall call{.dtype = dtype, .scores = Scores::last};
  const Tensor prompt = generator.randint(0, sizes.vocabulary, {1, sizes.prompt});
  DecoderCache cache;
  std::vector<double> reads;
  Clock::time_point start;
  for (int n = 0; n < 3; ++n) {
    cache = decoder.make_cache(1, sizes.prompt + sizes.tokens, dtype);
    start = Clock::now();
    static_cast<void>(decoder.forward_cached(prompt, cache, call));
    reads.push_back(seconds_since(start));
  }
  std::vector<double> steps;
  for (std::int64_t n = 0; n < sizes.tokens; ++n) {
    const Tensor token = generator.randint(0, sizes.vocabulary, {1, 1});
    start = Clock::now();
    static_cast<void>(decoder.forward_cached(token, cache, call));
    steps.push_back(seconds_since(start));
  }
  std::ranges::sort(steps);
  const double step = steps[steps.size() / 2];
  std::int64_t count = 0;
  for (const Parameter& parameter : decoder.parameters()) count += parameter.value.value().size();
  const double bytes = static_cast<double>(count) * static_cast<double>(size_of(dtype));
  std::printf(
      "{\"first_prompt_seconds\": %.6f, \"prompt_seconds\": %.6f, \"token_seconds\": %.6f, \"parameters\": %lld, "
      "\"gigabytes_per_second\": %.2f}\n",
      reads.front(), std::ranges::min(reads), step, static_cast<long long>(count), bytes / step / 1e9);
}

void answer(int argc, char** argv) {
  const std::string dtype = argc >= 3 ? argv[2] : "";
  if ((argc != 3 && argc != 8) || (dtype != "f32" && dtype != "bf16")) {
    throw std::runtime_error("usage: generation THREADS f32|bf16 [LAYERS D_MODEL VOCABULARY PROMPT TOKENS]");
  }
  qkv::set_threads(std::stoi(argv[1]));
  Sizes sizes;
  if (argc == 8) {
    sizes = {std::stoll(argv[3]), std::stoll(argv[4]), std::stoll(argv[5]), std::stoll(argv[6]), std::stoll(argv[7])};
  }
  generate(dtype == "f32" ? qkv::DType::f32 : qkv::DType::bf16, sizes);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    answer(argc, argv);
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "generation: %s\n", fault.what());
    return 1;
  }
}
