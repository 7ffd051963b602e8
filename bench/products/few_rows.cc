// few_rows N K [ROWS …]: the least processor time of one `linear` of so many rows (1, 2, 4, 8 and 16 otherwise) with a
// weight [N, K], on one thread, for each type of the weight; x is of the weight's type where the row says so, else f32.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <limits>
#include <stdexcept>
#include <vector>

#include "qkv/autograd/matmul.h"
#include "qkv/autograd/variable.h"
#include "qkv/random.h"
#include "qkv/threads.h"

namespace {

constexpr const char* kUsage = "usage: few_rows N K [ROWS …]";

double processor_seconds() {
  std::timespec now{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) throw std::runtime_error("no clock of this thread");
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Of 20 calls; the first lays weights out that are called again.
double least_milliseconds(const qkv::Variable& x, const qkv::Variable& weight) {
  constexpr int kCalls = 20;
  double least = std::numeric_limits<double>::infinity();
  for (int n = 0; n < kCalls; ++n) {
    const double begin = processor_seconds();
    static_cast<void>(qkv::linear(x, weight));
    least = std::min(least, processor_seconds() - begin);
  }
  return 1e3 * least;
}

void measure(std::int64_t N, std::int64_t K, const std::vector<std::int64_t>& all) {
  using namespace qkv;
  set_threads(1);
  const NoGradient off;
  Generator generator(1);
  std::printf("rows  x      f32 ms    bf16 ms   f16 ms\n");
  for (const std::int64_t rows : all) {
    for (const bool own : {false, true}) {
      std::printf("%-4ld  %-5s", static_cast<long>(rows), own ? "own" : "f32");
      for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
        const Variable weight(generator.randn({N, K}, DType::f32).to(dtype));
        const Variable x(generator.randn({rows, K}, DType::f32).to(own ? dtype : DType::f32));
        std::printf("  %8.4f", least_milliseconds(x, weight));
      }
      std::printf("\n");
    }
  }
}

std::int64_t number(const char* text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0' || value < 1) throw std::runtime_error(kUsage);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error(kUsage);
    std::vector<std::int64_t> rows;
    for (int n = 3; n < argc; ++n) rows.push_back(number(argv[n]));
    measure(number(argv[1]), number(argv[2]), rows.empty() ? std::vector<std::int64_t>{1, 2, 4, 8, 16} : rows);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "few_rows: %s\n", fault.what());
    return 1;
  }
  return 0;
}
