// PyTorch's CPU generator, draw for draw. The rules are those of PyTorch 2.13.0, ATen/core/DistributionsHelper.h and
// ATen/native/cpu/DistributionTemplates.h; the fixtures of tests/core check this file against them.
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "core/exact_math.h"
#include "core/float_draws.h"
#include "core/plain_number.h"
#include "core/random_stream.h"
#include "core/watched.h"
#include "qkv/random.h"

namespace qkv {

struct Generator::State : core::RandomStream {
  using RandomStream::RandomStream;
};

namespace {

constexpr std::size_t kBlock = 16;

// PyTorch keeps `%` on one 32-bit draw while its bias stays under 5 %.
constexpr std::uint64_t kWideRange = std::uint64_t{1} << 28U;
constexpr std::int64_t kLongPermutation = std::numeric_limits<std::uint32_t>::max() / 20;

void require_real(const char* function, DType dtype) {
  if (dtype == DType::f32 || dtype == DType::f64) return;
  throw InvalidArgument(function, "dtype", "f32 or f64", name_of(dtype));
}

/// Calls `fill` with the elements of an f32 or f64 tensor.
template <class Fill>
void with_real_values(Tensor& tensor, const Fill& fill) {
  if (tensor.dtype() == DType::f32) {
    fill(tensor.values<float>());
  } else {
    fill(tensor.values<double>());
  }
}

void require_probability(const char* function, double p) {
  if (p >= 0 && p <= 1) return;
  throw InvalidArgument(function, "p", "a probability from 0 to 1", core::plain_number(p));
}

/// Box-Muller over sixteen uniform numbers: the first eight become radii, the last eight angles. Uses the exact
/// functions, so that a seed draws the same numbers on every machine.
void normal_block(std::span<double, kBlock> block) {
  constexpr std::size_t kHalf = kBlock / 2;
  for (std::size_t i = 0; i < kHalf; ++i) {
    const double radius = std::sqrt(-2.0 * core::log(1.0 - block[i]));
    const double angle = 2.0 * std::numbers::pi * block[i + kHalf];
    block[i] = radius * core::cos(angle);
    block[i + kHalf] = radius * core::sin(angle);
  }
}

/// The same, each function rounded to f32.
void normal_block(std::span<float, kBlock> block) {
  constexpr std::size_t kHalf = kBlock / 2;
  std::array<float, kHalf> angles;
  for (std::size_t i = 0; i < kHalf; ++i) angles[i] = 2.0F * std::numbers::pi_v<float> * block[i + kHalf];
  const auto [sin, cos] = core::floats_of_sine_and_cosine(angles);
  for (std::size_t i = 0; i < kHalf; ++i) {
    const float radius = std::sqrt(-2.0F * core::float_of_log(1.0F - block[i]));
    block[i] = radius * cos[i];
    block[i + kHalf] = radius * sin[i];
  }
}

template <std::floating_point T>
void fill_uniform(core::RandomStream& stream, std::span<T> values) {
  for (T& value : values) value = stream.uniform<T>();
}

template <std::floating_point T>
void fill_normal(core::RandomStream& stream, std::span<T> values) {
  if (values.size() < kBlock) {
    for (T& value : values) value = static_cast<T>(stream.normal());
    return;
  }
  fill_uniform(stream, values);
  constexpr std::size_t kBetweenLooks = std::size_t{1} << 16U;
  for (std::size_t i = 0; i + kBlock <= values.size(); i += kBlock) {
    if (i % kBetweenLooks == 0) core::look();
    normal_block(std::span<T, kBlock>(values.subspan(i, kBlock)));
  }
  if (values.size() % kBlock == 0) return;
  const std::span<T> tail = values.last(kBlock);
  fill_uniform(stream, tail);
  normal_block(std::span<T, kBlock>(tail));
}

void shuffle(core::RandomStream& stream, std::span<std::int64_t> order) {
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + stream.next_32() % (order.size() - i)]);
  }
}

// Inside-out Fisher-Yates, which PyTorch uses where 32 bits would favour the low indices.
void shuffle_long(core::RandomStream& stream, std::span<std::int64_t> order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t place = stream.next_64() % (i + 1);
    order[i] = order[place];
    order[place] = static_cast<std::int64_t>(i);
  }
}

}  // namespace

Generator::Generator(std::uint64_t seed) : state_(std::make_unique<State>(seed)) {}
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;
Generator::~Generator() = default;

Tensor Generator::randn(const Shape& shape, DType dtype) {
  require_real("Generator::randn", dtype);
  Tensor result(dtype, shape);
  with_real_values(result, [&](auto values) { fill_normal(*state_, values); });
  return result;
}

Tensor Generator::rand(const Shape& shape, DType dtype) {
  require_real("Generator::rand", dtype);
  Tensor result(dtype, shape);
  with_real_values(result, [&](auto values) { fill_uniform(*state_, values); });
  return result;
}

Tensor Generator::randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  if (low >= high) {
    throw InvalidArgument("Generator::randint", "high", "more than low, which is " + std::to_string(low),
                          std::to_string(high));
  }
  const auto start = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - start;
  Tensor result(DType::i64, shape);
  for (std::int64_t& value : result.values<std::int64_t>()) {
    const std::uint64_t draw = range >= kWideRange ? state_->next_64() : state_->next_32();
    value = static_cast<std::int64_t>(start + draw % range);
  }
  return result;
}

Tensor Generator::randperm(std::int64_t n) {
  if (n < 0) throw InvalidArgument("Generator::randperm", "n", "0 or more", std::to_string(n));
  Tensor result(DType::i64, {n});
  const std::span<std::int64_t> order = result.values<std::int64_t>();
  if (n < kLongPermutation) {
    shuffle(*state_, order);
  } else {
    shuffle_long(*state_, order);
  }
  return result;
}

Tensor Generator::bernoulli(double p, const Shape& shape, DType dtype) {
  require_real("Generator::bernoulli", dtype);
  require_probability("Generator::bernoulli", p);
  Tensor result(dtype, shape);
  with_real_values(result, [&](auto values) {
    for (auto& value : values) value = state_->uniform<double>() < p ? 1 : 0;
  });
  return result;
}

Tensor Generator::bernoulli(const TensorView& p) {
  require_real("Generator::bernoulli", p.dtype());
  const std::vector<double> probabilities = p.to_vector();
  for (const double probability : probabilities) require_probability("Generator::bernoulli", probability);
  Tensor result(p.dtype(), p.shape());
  with_real_values(result, [&]<class T>(std::span<T> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = state_->uniform<T>() < probabilities[i] ? T{1} : T{0};
  });
  return result;
}

}  // namespace qkv
