#include "core/bytes.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv::core::bytes_test {
namespace {

constexpr std::uint64_t kMostOf32Bits = 0x7FFFFFFF;  // PTRDIFF_MAX where an address has 32 bits

TEST(CheckedBytes, MultipliesTheExtents) {
  EXPECT_EQ(checked_bytes("f", {3, 5}, 4), 60U);
  EXPECT_EQ(checked_bytes("f", {}, 8), 8U);
  EXPECT_EQ(checked_bytes("f", {0, 1 << 30}, 8), 0U);
}

TEST(CheckedBytes, RefusesWhat32BitsCannotHold) {
  const auto bytes = [](const Shape& shape, std::size_t each) {
    return checked_bytes("f", shape, each, kMostOf32Bits);
  };
  EXPECT_EQ(bytes({0x7FFFFFFF}, 1), 0x7FFFFFFFU);
  EXPECT_EQ(error_message([&] { (void)bytes({0x7FFFFFFF}, 2); }),
            "f: shape: expected at most 2147483647 bytes, got [2147483647] of 2 bytes each");
  // 2^32 elements: a size of 32 bits would wrap to 0.
  EXPECT_EQ(error_message([&] { (void)bytes({65536, 65536}, 4); }),
            "f: shape: expected at most 2147483647 bytes, got [65536, 65536] of 4 bytes each");
}

TEST(CheckedBytes, CountsAndAddsWithinTheSameBound) {
  EXPECT_EQ(checked_count<double>("f", {3, 5}), 15U);
  EXPECT_EQ(error_message([] { (void)checked_count<double>("f", {1 << 28}, kMostOf32Bits); }),
            "f: shape: expected at most 2147483647 bytes, got [268435456] of 8 bytes each");
  EXPECT_EQ(checked_sum("f", {1, 2, 0x7FFFFFFC}, kMostOf32Bits), 0x7FFFFFFFU);
  EXPECT_EQ(error_message([] { (void)checked_sum("f", {1, 2, 0x7FFFFFFD}, kMostOf32Bits); }),
            "f: shape: expected at most 2147483647 bytes, got 3 and 2147483645 more");
}

TEST(CheckedBytes, RefusesWhat64BitsCannotHold) {
  EXPECT_EQ(error_message([] { (void)Tensor(DType::f32, {1LL << 31, 1LL << 30}); }),
            "Tensor: shape: expected at most 9223372036854775807 bytes, got [2147483648, 1073741824] of 4 bytes each");
  EXPECT_EQ(error_message([] { (void)checked_bytes("f", {2, -1}, 4); }),
            "Dims: shape: expected extents of 0 or more, got [2, -1]");
}

}  // namespace
}  // namespace qkv::core::bytes_test
