// Compiled once for each instruction set: QKV_LOOPS names it, QKV_VECTOR_BYTES is its width.
#include "ceilings/loops.h"
#include "ceilings/vector-inl.h"

namespace qkv::bench::QKV_LOOPS {
namespace {

constexpr bool kManyRegisters = kWidth == 64;  // 32 of them, else 16

// Keeps the compiler from leaving out work whose result nobody reads.
void keep(const void* address) { asm volatile("" : : "g"(address) : "memory"); }

constexpr int kChains = kManyRegisters ? 24 : 12;
constexpr std::int64_t kFmaRounds = 2000;

void fma() {
  static const volatile float factor = 0.999F;
  static const volatile float term = 0.001F;
  const Floats a = splat(factor);
  const Floats b = splat(term);
  Floats chains[kChains];
  for (Floats& chain : chains) chain = splat(term);
  for (std::int64_t round = 0; round < kFmaRounds; ++round) {
#pragma GCC unroll 32
    for (Floats& chain : chains) chain = chain * a + b;
  }
  Floats sum{};
  for (const Floats& chain : chains) sum += chain;
  keep(&sum);
}

constexpr int kRows = kManyRegisters ? 14 : 6;

void matmul(const float* a, const float* b, std::int64_t depth, float* c) {
  Floats sums[kRows][2] = {};
  for (std::int64_t step = 0; step < depth; ++step) {
    const Floats left = load(b + step * 2 * kLanes);
    const Floats right = load(b + step * 2 * kLanes + kLanes);
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const Floats factor = splat(a[step * kRows + row]);
      sums[row][0] += factor * left;
      sums[row][1] += factor * right;
    }
  }
  for (int row = 0; row < kRows; ++row) {
    store(c + row * (2 * kLanes), sums[row][0]);
    store(c + row * (2 * kLanes) + kLanes, sums[row][1]);
  }
}

void exp2(const float* x, std::int64_t count, float* out) {
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < count; i += kLanes) store(out + i, exp2_of(load(x + i)));
}

std::uint64_t read(const std::byte* from, std::int64_t bytes) {
  constexpr int kStreams = 8;
  Words sums[kStreams] = {};
  for (std::int64_t at = 0; at < bytes; at += kStreams * kWidth) {
#pragma GCC unroll 8
    for (int stream = 0; stream < kStreams; ++stream) {
      Words value;
      std::memcpy(&value, from + at + stream * kWidth, sizeof(value));
      sums[stream] += value;
    }
  }
  for (int stream = 1; stream < kStreams; ++stream) sums[0] += sums[stream];
  std::uint64_t total = 0;
  for (int lane = 0; lane < kWidth / 8; ++lane) total += sums[0][lane];
  return total;
}

}  // namespace

VectorLoops vector_loops() {
  return {.fma_flops = 2 * kFmaRounds * kChains * kLanes,
          .fma = fma,
          .matmul_rows = kRows,
          .matmul_columns = 2 * kLanes,
          .matmul = matmul,
          .exp2 = exp2,
          .read = read};
}

}  // namespace qkv::bench::QKV_LOOPS
