// decode_bench: one step of decoding over caches of every type, from the last level of cache and from memory,
// contiguous and in pages, for one sequence and for batches of unequal lengths, each beside a loop that only reads the
// same memory.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "ceilings/measure.h"
#include "ceilings/rate.h"
#include "decode/cache.h"
#include "qkv/decode.h"
#include "qkv/files.h"
#include "qkv/info.h"
#include "qkv/random.h"

namespace {

using qkv::DType;
using qkv::bench::Cache;
using qkv::bench::CacheShape;

constexpr std::int64_t kMebi = 1 << 20;

struct Settings {
  std::vector<int> threads = qkv::bench::usable_processors() > 1 ? std::vector{1, 2} : std::vector{1};
  std::vector<std::string> dtypes = {"f32", "bf16", "f16", "i8"};
  std::string only;
  std::string clock = "wall";
  std::string json;
  std::int64_t near_mebibytes = 8;
  std::int64_t far_mebibytes = 1024;
  int rounds = 7;
  bool small_pages = false;
};

struct Row {
  std::string name;
  DType dtype;
  int threads;
  std::int64_t bytes;
  double seconds;  // of a step
  double rate;     // bytes a second
  double of_read;  // the reading loop's time over the step's, the median of the rounds
};

// With the processor's clock: the time of all threads together over their number.
double now(const Settings& settings, int threads) {
  timespec time{};
  clock_gettime(settings.clock == "wall" ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
  const double seconds = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  return settings.clock == "wall" ? seconds : seconds / threads;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void read_share(const qkv::bench::VectorLoops& loops, const qkv::bench::Memory& memory, int thread, int threads) {
  constexpr std::int64_t kStep = 1024;
  const std::int64_t share = memory.bytes() / threads / kStep * kStep;
  const volatile std::uint64_t kept = loops.read(memory.data() + share * thread, share);
  static_cast<void>(kept);
}

void read_all(const qkv::bench::VectorLoops& loops, const Cache& cache, int threads) {
  const auto run = [&](int thread) {
    read_share(loops, cache.keys(), thread, threads);
    read_share(loops, cache.values(), thread, threads);
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
}

// Lengths from a quarter to seven quarters of the mean, in no order.
std::vector<std::int64_t> unequal(std::int64_t sequences, std::int64_t tokens) {
  std::vector<std::int64_t> lengths;
  const std::int64_t mean = tokens / sequences;
  for (std::int64_t n = 0; n < sequences; ++n) {
    constexpr std::int64_t kStride = 29;  // prime to 8 and 64
    const std::int64_t place = sequences == 1 ? 0 : n * kStride % sequences;
    lengths.push_back(sequences == 1 ? mean : mean / 4 + mean * 3 / 2 * place / (sequences - 1));
  }
  return lengths;
}

std::vector<CacheShape> shapes_of(const Settings& settings, DType dtype) {
  const std::int64_t token_bytes = std::int64_t{2} * 8 * 128 * static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t near = settings.near_mebibytes * kMebi / token_bytes;
  const std::int64_t far = settings.far_mebibytes * kMebi / token_bytes;
  std::vector<CacheShape> shapes = {{.name = "one, in cache", .lengths = {near}},
                                    {.name = "one, memory", .lengths = {far}},
                                    {.name = "one, memory, Hq = Hk", .Hq = 8, .lengths = {far}},
                                    {.name = "one, memory, 8 queries a key head", .Hq = 64, .lengths = {far}}};
  for (const std::int64_t page : {16, 64}) {
    for (const std::int64_t sequences : {1, 8, 64}) {
      shapes.push_back({.name = fmt::format("{} in pages of {}", sequences, page),
                        .lengths = unequal(sequences, far),
                        .page_tokens = page});
    }
  }
  // 4,096 tokens that 32 sequences share, and 256 of their own on average.
  constexpr std::int64_t kSequences = 32;
  std::vector<std::int64_t> lengths = unequal(kSequences, kSequences * 256);
  for (std::int64_t& length : lengths) length += 4096;
  shapes.push_back({.name = "32 with a common prefix", .lengths = lengths, .page_tokens = 64, .prefix = 4096});
  shapes.push_back({.name = "the same, in pages of their own", .lengths = lengths, .page_tokens = 64});
  return shapes;
}

struct Step {
  Step(const CacheShape& shape, DType dtype, const Cache& cache, int threads) : view(cache.view()) {
    const auto B = static_cast<std::int64_t>(shape.lengths.size());
    q = qkv::Generator(2)
            .randn({B, shape.Hq, 1, shape.D})
            .to(dtype == DType::i8 ? DType::bf16 : dtype);  // as a model in bf16 asks
    out = qkv::Tensor(q.dtype(), q.shape());
    lse = qkv::Tensor(DType::f32, {B, shape.Hq, 1});
    options.threads = threads;
  }
  void run() { qkv::decode_into(out, lse, q, view, options); }

  qkv::KvCacheView view;
  qkv::Tensor q, out, lse;
  qkv::AttentionOptions options;
};

Row measure(const Settings& settings, const CacheShape& shape, DType dtype, const Cache& cache, int threads) {
  const qkv::bench::VectorLoops loops = qkv::bench::widest_loops();
  Step step(shape, dtype, cache, threads);
  const auto timed = [&](const std::function<void()>& body, int repeats) {
    body();  // brings back what other programs pushed out of the caches
    const double start = now(settings, threads);
    for (int n = 0; n < repeats; ++n) body();
    return (now(settings, threads) - start) / repeats;
  };
  const int repeats = static_cast<int>(std::max<std::int64_t>(1, 64 * kMebi / cache.bytes()));
  std::vector<double> steps;
  std::vector<double> shares;
  for (int round = 0; round < settings.rounds; ++round) {
    const double read = timed([&] { read_all(loops, cache, threads); }, repeats);
    steps.push_back(timed([&] { step.run(); }, repeats));
    shares.push_back(read / steps.back());
  }
  const double seconds = median(steps);
  return {.name = shape.name,
          .dtype = dtype,
          .threads = threads,
          .bytes = cache.bytes(),
          .seconds = seconds,
          .rate = static_cast<double>(cache.bytes()) / seconds,
          .of_read = median(shares)};
}

void print(const Row& row) {
  fmt::print("| {} | {} | {} | {:.0f} | {:.3f} | {:.1f} | {:.0f} % |\n", row.name, name_of(row.dtype), row.threads,
             static_cast<double>(row.bytes) / kMebi, row.seconds * 1e3, row.rate / 1e9, row.of_read * 100);
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(const Row& row) {
  return {{"name", row.name},   {"dtype", name_of(row.dtype)}, {"threads", row.threads},
          {"bytes", row.bytes}, {"seconds", row.seconds},      {"of_read", row.of_read}};
}

std::vector<Row> measure_all(const Settings& settings) {
  std::vector<Row> rows;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::i8}) {
    if (std::ranges::find(settings.dtypes, name_of(dtype)) == settings.dtypes.end()) continue;
    for (const CacheShape& shape : shapes_of(settings, dtype)) {
      if (shape.name.find(settings.only) == std::string::npos) continue;
      const Cache cache(shape, dtype, !settings.small_pages);
      for (const int threads : settings.threads) {
        rows.push_back(measure(settings, shape, dtype, cache, threads));
        print(rows.back());
      }
    }
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Times one step of decoding, beside a loop that reads the same memory, round by round.");
  Settings settings;
  app.add_option("--threads", settings.threads, "Numbers of threads")
      ->delimiter(',')
      ->check(CLI::Range(1, qkv::bench::usable_processors()))
      ->capture_default_str();
  app.add_option("--dtypes", settings.dtypes, "Of the cache")
      ->delimiter(',')
      ->check(CLI::IsMember({"f32", "bf16", "f16", "i8"}))
      ->capture_default_str();
  app.add_option("--only", settings.only, "Only the rows whose name has this in it");
  app.add_option("--clock", settings.clock, "processor where other programs run: all threads' time over their number")
      ->check(CLI::IsMember({"wall", "processor"}))
      ->capture_default_str();
  app.add_option("--near", settings.near_mebibytes, "MiB of the cache that the last level holds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--far", settings.far_mebibytes, "MiB of the others")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", settings.rounds, "Times are medians of so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--small-pages", settings.small_pages, "Keys and values on the system's pages of 4 KiB");
  app.add_option("--json", settings.json, "Writes the rows there as well");
  CLI11_PARSE(app, argc, argv);
  fmt::print(
      "{}, {} clock\n| what | type | threads | MiB | ms a step | GB/s | of reading |\n|---|---|---|---|---|---|---|\n",
      qkv::cpu_model(), settings.clock);
  const std::vector<Row> rows = measure_all(settings);
  if (rows.empty()) throw qkv::InvalidArgument("decode_bench", "--only", "a part of a row's name", settings.only);
  if (settings.json.empty()) return 0;
  nlohmann::ordered_json json = {
      {"cpu", qkv::cpu_model()}, {"clock", settings.clock}, {"rows", nlohmann::ordered_json::array()}};
  for (const Row& row : rows) json["rows"].push_back(to_json(row));
  qkv::write_file(settings.json, json.dump(2) + "\n");
  return 0;
} catch (const std::exception& error) {
  std::fputs("decode_bench: ", stderr);
  std::fputs(error.what(), stderr);
  std::fputs("\n", stderr);
  return 1;
}
