#include "core/block_type.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace qkv::core::block_type_test {
namespace {

std::vector<std::byte> bytes_of(const std::string& digits) {
  std::vector<std::byte> bytes;
  for (std::size_t n = 0; n < digits.size(); n += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(n, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<float> floats_of(const std::string& digits) {
  const std::vector<std::byte> bytes = bytes_of(digits);
  std::vector<float> all;
  for (std::size_t n = 0; n < bytes.size(); n += 4) {
    std::uint32_t bits = 0;
    for (std::size_t b = 4; b-- > 0;) bits = bits << 8U | std::to_integer<std::uint32_t>(bytes[n + b]);
    all.push_back(std::bit_cast<float>(bits));
  }
  return all;
}

class EachBlockType : public testing::TestWithParam<std::size_t> {};

// One NaN is as good as another.
TEST_P(EachBlockType, HasTheBitsOfTheReference) {
  std::ifstream file(QKV_SOURCE_DIR "/tests/core/fixtures/block_types.json");
  const nlohmann::json types = nlohmann::json::parse(file).at("types");
  ASSERT_EQ(types.size(), kBlockTypes);
  const auto type = static_cast<BlockType>(GetParam());
  const BlockLayout& layout = layout_of(type);
  const nlohmann::json& kept = types.at(std::string(layout.name));
  const std::vector<std::byte> blocks = bytes_of(kept.at("blocks").get<std::string>());
  const std::vector<float> wanted = floats_of(kept.at("numbers").get<std::string>());
  ASSERT_EQ(static_cast<std::int64_t>(wanted.size()) * layout.bytes,
            static_cast<std::int64_t>(blocks.size()) * layout.numbers);
  std::vector<float> got(wanted.size());
  dequantise(type, blocks, got);
  for (std::size_t n = 0; n < got.size(); ++n) {
    if (std::isnan(wanted[n])) {
      ASSERT_TRUE(std::isnan(got[n])) << n;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[n]), std::bit_cast<std::uint32_t>(wanted[n])) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachBlockType, testing::Range(std::size_t{0}, kBlockTypes), [](const auto& one) {
  return std::string(layout_of(static_cast<BlockType>(one.param)).name);
});

}  // namespace
}  // namespace qkv::core::block_type_test
