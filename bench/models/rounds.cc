#include "rounds.h"

#include <chrono>
#include <ctime>
#include <iostream>
#include <string>

#include "qkv/files.h"

namespace model_rounds {

std::vector<std::int64_t> prompt_ids(std::int64_t tokens, std::int64_t vocabulary) {
  std::vector<std::int64_t> ids;
  for (std::int64_t n = 0; n < tokens; ++n) ids.push_back((7919 * n + 1) % vocabulary);
  return ids;
}

std::vector<std::int64_t> unequal_lengths(std::int64_t longest) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 8; ++n) lengths.push_back(longest * n / 8);
  return lengths;
}

void serve(const Round& round) {
  using Clock = std::chrono::steady_clock;
  std::cout.precision(9);
  for (std::string line; std::getline(std::cin, line);) {
    const Clock::time_point start = Clock::now();
    const std::clock_t before = std::clock();
    const qkv::Tensor result = round();
    const std::chrono::duration<double> taken = Clock::now() - start;
    const double processor = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (!line.empty()) qkv::write_tensor(line, result);
    std::cout << R"({"seconds": )" << taken.count() << R"(, "processor": )" << processor << "}\n" << std::flush;
  }
}

}  // namespace model_rounds
