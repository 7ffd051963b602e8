// forward_bench CEILINGS [--benchmark_…]: times forward calls of the target in force (QKV_FORCE_TARGET), and puts
// each beside what the machine allows, which `ceilings --json CEILINGS` has measured. `forward_bench --targets` lists
// the targets that can be forced here.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "forward/cases.h"
#include "qkv/attention.h"
#include "qkv/info.h"
#include "qkv/tile_plan.h"

namespace {

using qkv::DType;
using qkv::bench::Case;
using Json = nlohmann::json;

constexpr double kGiga = 1e9;

std::string chosen_target() {
  for (const qkv::CpuTarget& target : qkv::cpu_targets()) {
    if (target.chosen) return target.name;
  }
  return {};
}

// The rate in units a second, or none where it was not measured. An empty target stands for the fastest.
std::optional<double> ceiling(const Json& measured, const std::string& name, const std::string& target, int threads) {
  std::optional<double> best;
  for (const Json& row : measured.at("ceilings")) {
    if (row.at("name") != name || row.at("threads") != threads) continue;
    if (!target.empty() && row.at("target") != target) continue;
    const double rate = row.at("value").get<double>() * kGiga;
    best = std::max(best.value_or(rate), rate);
  }
  return best;
}

struct Work {
  double flops = 0;
  double scores = 0;
};

Work work_of(const Case& one) {
  const qkv::MaskShape shape = {one.b, one.hq, one.tq, one.tk};
  const auto pairs = static_cast<double>(qkv::TilePlan(qkv::parse_mask(one.mask), shape).counts().pairs_kept);
  return {.flops = 4 * static_cast<double>(one.d) * pairs, .scores = pairs};
}

// The rate, in bytes a second, of the read whose size is nearest by ratio.
std::optional<double> read_rate(const Json& measured, double bytes, int threads) {
  constexpr double kMebi = 1 << 20;
  std::optional<double> rate;
  double nearest = std::numeric_limits<double>::infinity();
  for (const Json& row : measured.at("ceilings")) {
    if (row.at("name") != "read" || row.at("threads") != threads) continue;
    const double distance = std::fabs(std::log(row.at("mebibytes").get<double>() * kMebi / bytes));
    if (distance >= nearest) continue;
    nearest = distance;
    rate = row.at("value").get<double>() * kGiga;
  }
  return rate;
}

// Seconds below which the target cannot come; none where its ceiling is not known. One query is bound by reading K and
// V.
std::optional<double> bound(const Json& measured, const Case& one, const Work& work, DType dtype,
                            const std::string& target, int threads) {
  if (one.tq == 1) {
    const auto elements = static_cast<double>(2 * one.b * one.hk * one.tk * one.d);
    const double bytes = elements * static_cast<double>(qkv::size_of(dtype));
    const auto read = read_rate(measured, bytes, threads);
    if (!read) return std::nullopt;
    return bytes / *read;
  }
  const std::string_view serving = qkv::attention_target(dtype, {.target = target});
  if (serving == "amx") {
    const auto tiles = ceiling(measured, "tiles streamed", {}, threads);
    const auto exp2 = ceiling(measured, "exp2", {}, threads);
    if (tiles && exp2) return std::max(work.flops / *tiles, work.scores / *exp2);
    return std::nullopt;
  }
  const auto fma = ceiling(measured, "fma", std::string(serving), threads);
  if (!fma) return std::nullopt;
  return work.flops / *fma;
}

qkv::Bias bias_of(const Case& one, qkv::Generator& random) {
  if (one.bias == "none") return {};
  if (one.bias == "dense") return qkv::dense_bias(random.randn({one.tq, one.tk}));
  return qkv::parse_bias(one.bias);
}

void forward(benchmark::State& state, const Case& one, DType dtype, int threads, double flops,
             std::optional<double> least) {
  constexpr std::uint64_t kSeed = 1;
  qkv::Generator random(kSeed);
  const qkv::Tensor q = random.randn({one.b, one.hq, one.tq, one.d}).to(dtype);
  const qkv::Tensor k = random.randn({one.b, one.hk, one.tk, one.d}).to(dtype);
  const qkv::Tensor v = random.randn({one.b, one.hk, one.tk, one.d}).to(dtype);
  const qkv::AttentionOptions options = {
      .bias = bias_of(one, random), .mask = qkv::parse_mask(one.mask), .threads = threads};
  qkv::Tensor out(dtype, q.shape());
  qkv::Tensor lse(DType::f32, {one.b, one.hq, one.tq});
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) qkv::attention_into(out, lse, q, k, v, options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const auto calls = static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = flops * calls / kGiga / elapsed.count();
  if (least) state.counters["of_ceiling_%"] = 100 * *least * calls / elapsed.count();
}

void add_cases(const Json& measured) {
  const std::string target = chosen_target();
  for (const Case& one : qkv::bench::kCases) {
    const Work work = work_of(one);
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      for (const int threads : {1, 2}) {
        const auto least = bound(measured, one, work, dtype, target, threads);
        const std::string name = target + "/" + std::string(one.name) + "/" + std::string(qkv::name_of(dtype)) +
                                 "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(name.c_str(), forward, one, dtype, threads, work.flops, least)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      }
    }
  }
}

int list_targets() {
  for (const qkv::CpuTarget& target : qkv::cpu_targets()) {
    if (target.compiled && target.runs_here) std::cout << target.name << "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::cerr << "forward_bench CEILINGS [--benchmark_...], or forward_bench --targets\n";
    return 2;
  }
  const std::string argument = argv[1];
  if (argument == "--targets") return list_targets();
  std::ifstream file(argument);
  if (!file) {
    std::cerr << "forward_bench: cannot read " << argument << "\n";
    return 1;
  }
  add_cases(Json::parse(file));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
} catch (const std::exception& error) {
  std::fputs("forward_bench: ", stderr);
  std::fputs(error.what(), stderr);
  std::fputs("\n", stderr);
  return 1;
}
