// quantised_model FILE.gguf THREADS ROUNDS PROMPT TOKENS [f32]: reads a prompt and goes on from it with the decoder of
// a GGUF file, by its quantised weights as they lie in the file; prints, as JSON, the medians of the rounds by the
// clock and in processor time, in milliseconds. With f32 each round does the same by the weights' numbers as well, and
// the medians of the ratios within a round are printed, too.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "qkv/model/model.h"
#include "qkv/threads.h"

namespace {

struct Time {
  double clock = 0;
  double processor = 0;
};

struct Times {
  std::vector<Time> prompt, token;
};

Time time_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  work();
  return {.clock = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          .processor = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC};
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all.at(all.size() / 2);
}

void measure(const qkv::Decoder& decoder, std::int64_t prompt, std::int64_t tokens, Times& times) {
  using namespace qkv;
  Generator generator(1);
  const std::int64_t vocabulary = decoder.options().vocabulary;
  const ModelCall call{.dtype = DType::f32, .scores = Scores::last};
  DecoderCache cache = decoder.make_cache(1, prompt + tokens, DType::f32);
  const Tensor text = generator.randint(0, vocabulary, {1, prompt});
  times.prompt.push_back(time_of([&] { static_cast<void>(decoder.forward_cached(text, cache, call)); }));
  Time all = time_of([&] {
    for (std::int64_t n = 0; n < tokens; ++n) {
      static_cast<void>(decoder.forward_cached(generator.randint(0, vocabulary, {1, 1}), cache, call));
    }
  });
  all.clock /= static_cast<double>(tokens);
  all.processor /= static_cast<double>(tokens);
  times.token.push_back(all);
}

using Part = std::vector<Time> Times::*;

double median_of(const std::vector<Time>& times, double Time::* which) {
  std::vector<double> each;
  for (const Time& time : times) each.push_back(1000 * (time.*which));
  return median(each);
}

double median_ratio(const std::vector<Time>& over, const std::vector<Time>& under, double Time::* which) {
  std::vector<double> each;
  for (std::size_t n = 0; n < over.size(); ++n) each.push_back(over[n].*which / (under[n].*which));
  return median(each);
}

void print(const char* what, Part part, const Times& blocks, const Times& numbers) {
  std::printf(R"({"work": "%s", "ms": %.2f, "processor_ms": %.2f)", what, median_of(blocks.*part, &Time::clock),
              median_of(blocks.*part, &Time::processor));
  if (!(numbers.*part).empty()) {
    std::printf(R"(, "f32_ms": %.2f, "f32_processor_ms": %.2f, "times": %.2f, "processor_times": %.2f)",
                median_of(numbers.*part, &Time::clock), median_of(numbers.*part, &Time::processor),
                median_ratio(numbers.*part, blocks.*part, &Time::clock),
                median_ratio(numbers.*part, blocks.*part, &Time::processor));
  }
  std::printf("}\n");
}

void answer(int argc, char** argv) {
  using namespace qkv;
  const bool has_f32 = argc == 7 && std::string(argv[6]) == "f32";
  if (argc != 6 && !has_f32) {
    throw std::runtime_error("usage: quantised_model FILE.gguf THREADS ROUNDS PROMPT TOKENS [f32]");
  }
  set_threads(std::stoi(argv[2]));
  const NoGradient constant;
  const Model blocks = Model::open(argv[1], QuantisedWeights::as_stored);
  const Model numbers = has_f32 ? Model::open(argv[1]) : blocks;
  Times of_blocks;
  Times of_numbers;
  const std::int64_t rounds = std::stoll(argv[3]);
  for (std::int64_t n = 0; n <= rounds; ++n) {
    if (has_f32) measure(*numbers.parts().decoder, std::stoll(argv[4]), std::stoll(argv[5]), of_numbers);
    measure(*blocks.parts().decoder, std::stoll(argv[4]), std::stoll(argv[5]), of_blocks);
    if (n == 0) of_numbers = of_blocks = {};  // in the first calls weights in f32 are laid out, and files read
  }
  print("prompt", &Times::prompt, of_blocks, of_numbers);
  print("token", &Times::token, of_blocks, of_numbers);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    answer(argc, argv);
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "quantised_model: %s\n", fault.what());
    return 1;
  }
}
