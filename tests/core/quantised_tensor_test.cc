#include "qkv/quantised_tensor.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/error_message.h"
#include "core/random_blocks.h"

namespace qkv::quantised_tensor_test {
namespace {

using core::BlockType;

TEST(QuantisedTensor, ReadsItsBlocksInPlaceAndKeepsTheirOwner) {
  for (const BlockType type : tests::block_types()) {
    const std::vector<std::byte> bytes = tests::random_blocks(type, 3, 512);
    std::vector<float> expected(3 * 512);
    core::dequantise(type, bytes, expected);
    const auto owner = std::make_shared<const std::vector<std::byte>>(bytes);
    QuantisedTensor tensor(type, {3, 512}, *owner, owner);
    EXPECT_EQ(tensor.blocks().data(), owner->data());
    EXPECT_EQ(tensor.type_name(), core::layout_of(type).name);
    EXPECT_EQ(owner.use_count(), 2);
    const QuantisedTensor row = tensor.rows(1, 2);
    tensor = {};
    EXPECT_EQ(owner.use_count(), 2) << "the row keeps it";
    const Tensor numbers = row.dequantised();
    EXPECT_EQ(numbers.shape(), (Shape{1, 512}));
    const auto all = numbers.values<float>();
    EXPECT_TRUE(std::equal(all.begin(), all.end(), expected.begin() + 512)) << tensor.type_name();
  }
}

TEST(QuantisedTensor, PutsRowsInAnotherOrder) {
  const QuantisedTensor tensor = tests::random_weight(BlockType::q4_1, 3, 64);
  const std::vector<std::int64_t> order = {2, 0, 2, 1};
  const Tensor turned = tensor.in_order(order).dequantised();
  const Tensor numbers = tensor.dequantised();
  ASSERT_EQ(turned.shape(), (Shape{4, 64}));
  for (std::int64_t n = 0; n < 4; ++n) {
    EXPECT_EQ(turned.select(0, n).to_vector(), numbers.select(0, order[static_cast<std::size_t>(n)]).to_vector()) << n;
  }
}

TEST(QuantisedTensor, MayHaveNoRows) {
  EXPECT_EQ(QuantisedTensor().dequantised().shape(), (Shape{0}));
  EXPECT_EQ(tests::random_weight(BlockType::q8_0, 3, 32).rows(1, 1).dequantised().shape(), (Shape{0, 32}));
}

TEST(QuantisedTensor, NamesWhatDoesNotFit) {
  const auto tensor = [](const Shape& shape, std::size_t bytes) {
    static const std::vector<std::byte> kBytes(1000);
    return error_message(
        [&] { static_cast<void>(QuantisedTensor(BlockType::q8_0, shape, {kBytes.data(), bytes}, {})); });
  };
  EXPECT_EQ(tensor({2, 33}, 68),
            "QuantisedTensor: shape: expected rows of whole blocks of 32, as Q8_0 has, got [2, 33]");
  EXPECT_EQ(tensor({2, 32}, 67), "QuantisedTensor: blocks: expected 68 bytes, got 67");
  const QuantisedTensor good = tests::random_weight(BlockType::q8_0, 3, 32);
  EXPECT_EQ(error_message([&] { static_cast<void>(good.rows(1, 4)); }),
            "QuantisedTensor: rows: expected 0 to 2, got 3");
  EXPECT_EQ(error_message([&] { static_cast<void>(good.rows(-1, 1)); }),
            "QuantisedTensor: rows: expected 0 to 2, got -1");
  EXPECT_EQ(error_message([&] { static_cast<void>(good.in_order(std::vector<std::int64_t>{0, 3})); }),
            "QuantisedTensor: rows: expected 0 to 2, got 3");
  EXPECT_EQ(error_message([&] { static_cast<void>(QuantisedTensor().rows(0, 0)); }),
            "QuantisedTensor: rows: expected those of [N, K], got [0]");
}

}  // namespace
}  // namespace qkv::quantised_tensor_test
