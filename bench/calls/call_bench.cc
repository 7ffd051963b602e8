// call_bench CEILINGS [--benchmark_…]: times forward and backward calls of the target in force (QKV_FORCE_TARGET), and
// puts each beside what the machine allows, which `ceilings --json CEILINGS` has measured. `call_bench --targets` lists
// the targets that can be forced here.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "calls/bounds.h"
#include "calls/cases.h"
#include "qkv/attention.h"
#include "qkv/backward.h"
#include "qkv/targets.h"

namespace {

using qkv::DType;
using qkv::bench::Case;
using qkv::bench::Direction;
using Json = nlohmann::json;

constexpr double kGiga = 1e9;

std::string chosen_target() {
  for (const qkv::CpuTarget& target : qkv::cpu_targets()) {
    if (target.chosen) return target.name;
  }
  return {};
}

qkv::Bias bias_of(const Case& one, qkv::Generator& random) {
  if (one.bias == "none") return {};
  if (one.bias == "dense") return qkv::dense_bias(random.randn({one.tq, one.tk}));
  return qkv::parse_bias(one.bias);
}

struct Inputs {
  explicit Inputs(const Case& one, DType dtype, int threads) {
    constexpr std::uint64_t kSeed = 1;
    qkv::Generator random(kSeed);
    const auto drawn = [&](std::int64_t heads, std::int64_t rows) {
      return random.randn({one.b, heads, rows, one.d}).to(dtype);
    };
    q = drawn(one.hq, one.tq);
    k = drawn(one.hk, one.tk);
    v = drawn(one.hk, one.tk);
    options = {.bias = bias_of(one, random), .mask = qkv::parse_mask(one.mask), .threads = threads};
    d_out = drawn(one.hq, one.tq);
  }

  qkv::Tensor q, k, v, d_out;
  qkv::AttentionOptions options;
};

// Times `call`, and says how it stands to the work that it does and to the least time for it.
template <typename Call>
void time_calls(benchmark::State& state, double flops, std::optional<double> least, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) call();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const auto calls = static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = flops * calls / kGiga / elapsed.count();
  if (least) state.counters["of_ceiling_%"] = 100 * *least * calls / elapsed.count();
}

void run(benchmark::State& state, const Case& one, Direction direction, DType dtype, int threads,
         std::optional<double> least) {
  const double flops = flops_of(one, direction);
  const Inputs in(one, dtype, threads);
  qkv::Tensor out(dtype, in.q.shape());
  qkv::Tensor lse(DType::f32, {one.b, one.hq, one.tq});
  const auto forward = [&] { qkv::attention_into(out, lse, in.q, in.k, in.v, in.options); };
  if (direction == Direction::forward) return time_calls(state, flops, least, forward);
  forward();
  time_calls(state, flops, least, [&] {
    // d_q, d_k and d_v: a bias's gradient runs on the reference
    const qkv::BackwardOptions backward = {.wants = {.bias = false}};
    benchmark::DoNotOptimize(attention_backward(in.d_out, in.q, in.k, in.v, out, lse, in.options, backward));
  });
}

void add_case(const Json& measured, const std::string& target, const Case& one, Direction direction) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (qkv::attention_target(dtype) != target) continue;  // it leaves the type to another, which is timed by itself
    for (const int threads : {1, 2}) {
      const auto least = bound(measured, one, direction, dtype, target, threads);
      const std::string name = target + "/" + std::string(name_of(direction)) + "/" + std::string(one.name) + "/" +
                               std::string(qkv::name_of(dtype)) + "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), run, one, direction, dtype, threads, least)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  }
}

// One query is generated, not learned from.
void add_cases(const Json& measured) {
  const std::string target = chosen_target();
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const Case& one : qkv::bench::kCases) {
      if (direction == Direction::forward || one.tq > 1) add_case(measured, target, one, direction);
    }
  }
}

int list_targets() {
  for (const qkv::CpuTarget& target : qkv::cpu_targets()) {
    const auto serves = [&](DType dtype) {
      return qkv::attention_target(dtype, {.target = target.name}) == target.name;
    };
    if (!target.compiled || !target.runs_here) continue;
    if (serves(DType::f32) || serves(DType::bf16) || serves(DType::f16)) std::cout << target.name << "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::cerr << "call_bench CEILINGS [--benchmark_...], or call_bench --targets\n";
    return 2;
  }
  const std::string argument = argv[1];
  if (argument == "--targets") return list_targets();
  std::ifstream file(argument);
  if (!file) {
    std::cerr << "call_bench: cannot read " << argument << "\n";
    return 1;
  }
  add_cases(Json::parse(file));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
} catch (const std::exception& error) {
  std::fputs("call_bench: ", stderr);
  std::fputs(error.what(), stderr);
  std::fputs("\n", stderr);
  return 1;
}
