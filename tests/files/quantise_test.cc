// Blocks of quantised weights, against those that the `gguf` package makes: fixtures/make_quantised.py.
#include "files/quantise.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "qkv/npz.h"

namespace qkv::quantise_test {
namespace {

using core::BlockType;

constexpr std::pair<BlockType, const char*> kTypes[] = {{BlockType::q8_0, "Q8_0"},
                                                        {BlockType::q4_0, "Q4_0"},
                                                        {BlockType::q4_1, "Q4_1"},
                                                        {BlockType::q5_0, "Q5_0"},
                                                        {BlockType::q5_1, "Q5_1"}};

std::vector<std::byte> quantised(BlockType type, std::span<const float> numbers) {
  const core::BlockLayout& layout = core::layout_of(type);
  std::vector<std::byte> blocks(numbers.size() / static_cast<std::size_t>(layout.numbers) *
                                static_cast<std::size_t>(layout.bytes));
  files::quantise(type, numbers, blocks);
  return blocks;
}

TEST(Quantise, MakesTheBitsOfTheReference) {
  const Npz fixture(QKV_SOURCE_DIR "/tests/files/fixtures/quantised.npz");
  const Tensor numbers = fixture.load("numbers");
  ASSERT_GT(numbers.dim(0), 60);
  for (const auto& [type, name] : kTypes) {
    ASSERT_TRUE(files::can_quantise(type));
    const std::vector<std::byte> blocks = quantised(type, numbers.values<float>());
    const Tensor wanted = fixture.load(name);
    ASSERT_EQ(std::ssize(blocks), wanted.size());
    const auto bytes = wanted.values<std::uint8_t>();
    const std::size_t each = blocks.size() / static_cast<std::size_t>(numbers.dim(0));
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      ASSERT_EQ(std::to_integer<int>(blocks[n]), bytes[n]) << name << ": block " << n / each << ", byte " << n % each;
    }
  }
}

TEST(Quantise, StaysWithinItsBound) {
  std::mt19937 draw(11);
  std::student_t_distribution<float> wide(2);
  for (const auto& [type, name] : kTypes) {
    double nearest = 0;  // to the bound
    for (int round = 0; round < 2000; ++round) {
      std::vector<float> numbers(32);
      const float scale = std::pow(10.0F, static_cast<float>(round % 12 - 8));
      for (float& number : numbers) number = std::clamp(wide(draw) * scale, -60000.0F, 60000.0F);
      std::vector<float> back(32);
      core::dequantise(type, quantised(type, numbers), back);
      double most = 0;
      double error = 0;
      for (std::size_t n = 0; n < 32; ++n) {
        most = std::max(most, std::fabs(static_cast<double>(numbers[n])));
        error = std::max(error, std::fabs(static_cast<double>(numbers[n]) - static_cast<double>(back[n])));
      }
      ASSERT_LE(error, files::quantising_bound(type).of(most)) << name << " round " << round;
      nearest = std::max(nearest, error / files::quantising_bound(type).of(most));
    }
    EXPECT_GT(nearest, 0.5) << name << ": the bound says nothing";
  }
}

TEST(Quantise, KnowsWhatItMakes) {
  for (const BlockType type : {BlockType::q2_k, BlockType::q4_k, BlockType::q6_k, BlockType::iq4_nl}) {
    EXPECT_FALSE(files::can_quantise(type));
  }
}

}  // namespace
}  // namespace qkv::quantise_test
