// tokenizer_speed TOKENIZER FILE [RUNS]: cuts a text into tokens, a line at a time and as a whole; prints, as JSON, the
// medians of MB/s of processor time, the time of reading the tokenizer, and the tokens of the whole.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/files.h"
#include "qkv/text/read_tokenizer.h"

namespace {

template <class Work>
double seconds_of(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void encode_lines(const qkv::Tokenizer& tokenizer, std::string_view rest) {
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    static_cast<void>(tokenizer.encode(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void measure(const char* path, const char* file, int runs) {
  const std::vector<std::byte> bytes = qkv::read_file(file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::shared_ptr<const qkv::Tokenizer> tokenizer;
  const double read = seconds_of([&] { tokenizer = qkv::read_tokenizer(path); });
  std::vector<double> lines;
  std::vector<double> whole;
  std::size_t count = 0;
  for (int n = 0; n < runs; ++n) {
    lines.push_back(seconds_of([&] { encode_lines(*tokenizer, text); }));
    whole.push_back(seconds_of([&] { count = tokenizer->encode(text).ids.size(); }));
  }
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("{\"lines\": %.2f, \"whole\": %.2f, \"read_seconds\": %.3f, \"tokens\": %zu}\n",
              megabytes / median(lines), megabytes / median(whole), read, count);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 || argc == 4) {
      measure(argv[1], argv[2], argc == 4 ? std::stoi(argv[3]) : 3);
      return 0;
    }
    std::fputs("usage: tokenizer_speed TOKENIZER FILE [RUNS]\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
