#include "files/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "qkv/dtype.h"

namespace qkv::files {
namespace {

using core::BlockType;

constexpr std::size_t kNumbers = 32;
using BlockNumbers = std::span<const float, kNumbers>;
using BlockBytes = std::byte*;
using Quants = std::array<std::uint8_t, kNumbers>;

void put_half(BlockBytes at, float value) {
  const std::uint16_t bits = Half(value).bits;
  at[0] = static_cast<std::byte>(bits & 0xFFU);
  at[1] = static_cast<std::byte>(bits >> 8U);
}

// 1 / d; of steps that vanish in 16 bits nothing is left.
float inverse_of(float d) {
  const float inverse = d == 0 ? 0 : 1 / d;
  return std::isfinite(inverse) ? inverse : 0;
}

std::uint8_t cut_to(float value, int most) {
  return static_cast<std::uint8_t>(std::clamp(static_cast<int>(value), 0, most));
}

// The number that is furthest from 0, the first of several.
float furthest(BlockNumbers numbers) {
  float found = numbers[0];
  for (const float number : numbers) {
    if (std::fabs(number) > std::fabs(found)) found = number;
  }
  return found;
}

// Steps of the furthest number to -half, so that its end of the range is the one that is used whole.
Quants from_middle(BlockNumbers numbers, int half, BlockBytes scale) {
  const float d = furthest(numbers) / static_cast<float>(-half);
  const float inverse = inverse_of(d);
  put_half(scale, d);
  Quants quants{};
  for (std::size_t n = 0; n < kNumbers; ++n) {
    quants[n] = cut_to(numbers[n] * inverse + (static_cast<float>(half) + 0.5F), 2 * half - 1);
  }
  return quants;
}

// Steps from the least number to the largest.
Quants from_least(BlockNumbers numbers, int most, BlockBytes scales) {
  const auto [least, largest] = std::ranges::minmax(numbers);
  const float d = (largest - least) / static_cast<float>(most);
  const float inverse = inverse_of(d);
  put_half(scales, d);
  put_half(scales + 2, least);
  Quants quants{};
  for (std::size_t n = 0; n < kNumbers; ++n) quants[n] = cut_to((numbers[n] - least) * inverse + 0.5F, most);
  return quants;
}

// The low four bits of the first 16 numbers, those of the others above them.
void put_nibbles(BlockBytes at, const Quants& quants) {
  for (std::size_t n = 0; n < kNumbers / 2; ++n) {
    at[n] = static_cast<std::byte>((quants[n] & 15U) | (quants[n + kNumbers / 2] & 15U) << 4U);
  }
}

void put_fifth_bits(BlockBytes at, const Quants& quants) {
  for (std::size_t byte = 0; byte < kNumbers / 8; ++byte) {
    std::uint32_t bits = 0;
    for (std::size_t n = 0; n < 8; ++n) bits |= static_cast<std::uint32_t>(quants[byte * 8 + n] >> 4U) << n;
    at[byte] = static_cast<std::byte>(bits);
  }
}

void write_q4_0(BlockNumbers numbers, BlockBytes block) { put_nibbles(block + 2, from_middle(numbers, 8, block)); }

void write_q4_1(BlockNumbers numbers, BlockBytes block) { put_nibbles(block + 4, from_least(numbers, 15, block)); }

void write_q5_0(BlockNumbers numbers, BlockBytes block) {
  const Quants quants = from_middle(numbers, 16, block);
  put_fifth_bits(block + 2, quants);
  put_nibbles(block + 6, quants);
}

void write_q5_1(BlockNumbers numbers, BlockBytes block) {
  const Quants quants = from_least(numbers, 31, block);
  put_fifth_bits(block + 4, quants);
  put_nibbles(block + 8, quants);
}

void write_q8_0(BlockNumbers numbers, BlockBytes block) {
  const float d = std::fabs(furthest(numbers)) / 127;
  const float inverse = inverse_of(d);
  put_half(block, d);
  for (std::size_t n = 0; n < kNumbers; ++n) {
    block[2 + n] = static_cast<std::byte>(static_cast<std::int8_t>(std::round(numbers[n] * inverse)));
  }
}

struct Quantiser {
  BlockType type;
  void (*write)(BlockNumbers numbers, BlockBytes block);
  // Of the largest absolute value of a block: the largest error of a step, and that of its scales in 16 bits.
  double step;
};
constexpr std::array<Quantiser, 5> kQuantisers = {{
    {BlockType::q8_0, write_q8_0, 0.5 / 127},
    {BlockType::q4_0, write_q4_0, 1.0 / 8},
    {BlockType::q4_1, write_q4_1, 1.0 / 15},
    {BlockType::q5_0, write_q5_0, 1.0 / 16},
    {BlockType::q5_1, write_q5_1, 1.0 / 31},
}};

const Quantiser* find_quantiser(BlockType type) noexcept {
  const auto found = std::ranges::find(kQuantisers, type, &Quantiser::type);
  return found == kQuantisers.end() ? nullptr : &*found;
}

}  // namespace

bool can_quantise(BlockType type) noexcept { return find_quantiser(type) != nullptr; }

void quantise(BlockType type, std::span<const float> numbers, std::span<std::byte> blocks) noexcept {
  const auto bytes = static_cast<std::size_t>(core::layout_of(type).bytes);
  const auto write = find_quantiser(type)->write;
  for (std::size_t n = 0; n < numbers.size() / kNumbers; ++n) {
    write(numbers.subspan(n * kNumbers).first<kNumbers>(), blocks.data() + n * bytes);
  }
}

RoundingBound quantising_bound(BlockType type) noexcept {
  constexpr double kOfHalf = 1.0 / 2048;  // of a number in 16 bits, half a unit in the last place
  constexpr double kLeastHalf = 1.0 / (1 << 24);
  constexpr double kOfFloat = 16 * static_cast<double>(std::numeric_limits<float>::epsilon());
  // Both scales of a block, and steps of at most 127, at the lower end of what 16 bits hold.
  return {.relative = find_quantiser(type)->step + 3 * kOfHalf + kOfFloat, .least = 128 * kLeastHalf};
}

}  // namespace qkv::files
