#include "autograd/few_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "autograd/elementwise.h"

namespace qkv::autograd {
namespace {

constexpr std::int64_t kMostRows = 8;
constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kParts = 2;
constexpr std::int64_t kStep = kLanes * kParts;
constexpr std::int64_t kSteps = 2;                          // at a time: as many as hide the latency of a sum
constexpr std::int64_t kLeastWork = std::int64_t{1} << 16;  // multiply-adds of a task: some 10 microseconds

// 256 bits, which every target has or splits well; a core reads its caches no faster with wider ones.
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using Bits = std::uint32_t __attribute__((vector_size(kLanes * sizeof(float))));
using Step = std::array<Lanes, kParts>;

// kStep elements; of bf16 those at even places, then those at odd ones, which is what a word's halves give.
template <class W>
QKV_INLINED inline void read(const W* from, Step& to) {
  if constexpr (std::is_same_v<W, BFloat16>) {
    Bits pairs;
    std::memcpy(&pairs, from, sizeof(pairs));
    const Bits even = pairs << 16U;
    const Bits odd = pairs & 0xFFFF0000U;
    std::memcpy(to.data(), &even, sizeof(even));
    std::memcpy(&to[1], &odd, sizeof(odd));
  } else if constexpr (std::is_same_v<W, Half>) {
    for (std::int64_t part = 0; part < kParts; ++part) {
      std::array<float, kLanes> numbers;
      for (std::int64_t lane = 0; lane < kLanes; ++lane) numbers[lane] = load(from[part * kLanes + lane]);
      std::memcpy(&to[part], numbers.data(), sizeof(Lanes));
    }
  } else {
    std::memcpy(to.data(), from, sizeof(to));
  }
}

// x in f32, each step of it in the order in which read<W>() gives the weight's elements.
template <class W>
Value in_order_of(const TensorView& x) {
  if constexpr (!std::is_same_v<W, BFloat16>) return dense(in_dtype({nullptr, x}, DType::f32));
  Value rows = copied(x, DType::f32);
  const std::int64_t K = x.dim(1);
  for (std::int64_t row = 0; row < x.dim(0); ++row) {
    for (std::int64_t k = 0; k + kStep <= K; k += kStep) {
      float* step = rows.data<float>() + row * K + k;
      std::array<float, kStep> ordered;
      for (std::int64_t i = 0; i < kStep; ++i) ordered[i / 2 + i % 2 * kLanes] = step[i];
      std::ranges::copy(ordered, step);
    }
  }
  return rows;
}

QKV_INLINED inline float sum_of(const Step& sums) {
  const Lanes lanes = sums[0] + sums[1];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// A row of x with one of the weight. Row after row, so that the weight is one stream to the machine's prefetchers.
template <class W>
QKV_INLINED inline float product_of(const float* x, const W* weight, std::int64_t K) {
  std::array<Step, kSteps> sums = {};
  std::int64_t k = 0;
  const auto add = [&](Step& sum) QKV_INLINED {
    Step left;
    Step right;
    read(x + k, left);
    read(weight + k, right);
    for (std::int64_t part = 0; part < kParts; ++part) sum[part] += left[part] * right[part];
    k += kStep;
  };
  while (k + kSteps * kStep <= K) {
    for (Step& sum : sums) add(sum);
  }
  if (k + kStep <= K) add(sums[0]);
  for (std::int64_t part = 0; part < kParts; ++part) sums[0][part] += sums[1][part];
  float result = sum_of(sums[0]);
  for (; k < K; ++k) result += x[k] * load(weight[k]);
  return result;
}

struct Result {
  float* out;         // [M, N]
  const float* bias;  // [N]; null for none
  std::int64_t M, N;
};

template <class W>
void multiply(const Result& result, const float* x, const TensorView& weight) {
  const std::int64_t K = weight.dim(1);
  const std::int64_t step = weight.strides()[0];
  const W* first = weight.data_as<W>();
  const std::int64_t piece = std::max<std::int64_t>(1, kLeastWork / std::max<std::int64_t>(1, K * result.M));
  for_pieces(result.N, piece, [&](std::int64_t begin, std::int64_t end) {
    vectorised<float>([&]() QKV_INLINED {
      for (std::int64_t n = begin; n < end; ++n) {
        const float shift = result.bias == nullptr ? 0.0F : result.bias[n];
        for (std::int64_t row = 0; row < result.M; ++row) {
          result.out[row * result.N + n] = product_of(x + row * K, first + n * step, K) + shift;
        }
      }
    });
  });
}

}  // namespace

bool takes_few_rows(const TensorView& x, const TensorView& weight) {
  return x.rank() == 2 && weight.rank() == 2 && x.dim(0) <= kMostRows && x.dtype() != DType::f64 &&
         weight.dtype() != DType::f64 && weight.strides()[1] == 1;
}

void few_rows(Value& out, const TensorView& x, const TensorView& weight, const Value* bias) {
  const Value shift = bias == nullptr ? Value{} : in_dtype(*bias, DType::f32);
  Value sums = out.dtype() == DType::f32 ? out : new_value(DType::f32, out.shape());
  const Result result = {.out = sums.data<float>(),
                         .bias = bias == nullptr ? nullptr : shift.data<float>(),
                         .M = x.dim(0),
                         .N = weight.dim(0)};
  with_real(weight.dtype(), [&]<class W>(W) {
    if constexpr (!std::is_same_v<W, double>) multiply<W>(result, in_order_of<W>(x).template data<float>(), weight);
  });
  if (sums.storage != out.storage) copy_elements(sums.view, out.writable());
}

}  // namespace qkv::autograd
