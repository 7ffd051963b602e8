#include "qkv/dlpack.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "core/error_message.h"

namespace qkv::dlpack_test {
namespace {

using testing::ElementsAre;

// An array of another library, and whether it was let go of.
template <class Managed>
struct Foreign {
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> shape = {2, 3};
  std::vector<std::int64_t> strides = {1, 2};
  int deleted = 0;
  Managed managed{};

  Foreign() {
    managed.tensor = {.data = numbers.data(),
                      .device = {.type = dlpack::kCpu, .id = 0},
                      .ndim = 2,
                      .dtype = {.code = dlpack::kFloat, .bits = 32, .lanes = 1},
                      .shape = shape.data(),
                      .strides = strides.data(),
                      .byte_offset = 0};
    managed.context = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->context)->deleted; };
    if constexpr (requires { managed.version; }) managed.version = {.major = 1, .minor = 1};
  }
};

template <class Managed>
class DlpackImport : public testing::Test {};
using Both = testing::Types<dlpack::ManagedTensor, dlpack::ManagedTensorVersioned>;
TYPED_TEST_SUITE(DlpackImport, Both);

TYPED_TEST(DlpackImport, ReadsInPlaceAndLetsGoAtTheEnd) {
  Foreign<TypeParam> foreign;
  {
    const Tensor tensor = from_dlpack(&foreign.managed);
    EXPECT_EQ(tensor.data(), foreign.numbers.data());
    EXPECT_THAT(tensor.to_vector(), ElementsAre(1, 3, 5, 2, 4, 6));
    Tensor written = tensor.select(0, 0);
    written.set({0}, 9);
    EXPECT_EQ(foreign.numbers[0], 1);
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TYPED_TEST(DlpackImport, LeavesWhatItRefusesToTheCaller) {
  Foreign<TypeParam> foreign;
  const auto refusal = [&] { return error_message([&] { (void)from_dlpack(&foreign.managed); }); };
  foreign.managed.tensor.device.type = 2;
  EXPECT_EQ(refusal(), "from_dlpack: device: expected memory of the processor, device type 1, got device type 2");
  foreign.managed.tensor.device.type = dlpack::kCpu;
  foreign.managed.tensor.dtype.lanes = 4;
  EXPECT_EQ(
      refusal(),
      "from_dlpack: dtype: expected f64, f32, f16, bf16, i64, i32, i8, u8 or b8, got code 2 of 32 bits in 4 lanes");
  EXPECT_EQ(foreign.deleted, 0);
  EXPECT_EQ(error_message([] { (void)from_dlpack(static_cast<TypeParam*>(nullptr)); }),
            "from_dlpack: managed: expected a tensor, got null");
}

TEST(Dlpack, ReadsDenseElementsBehindAnOffset) {
  Foreign<dlpack::ManagedTensor> foreign;
  foreign.managed.tensor.strides = nullptr;
  foreign.managed.tensor.byte_offset = 3 * sizeof(float);
  foreign.managed.tensor.ndim = 1;
  foreign.managed.deleter = nullptr;
  EXPECT_THAT(from_dlpack(&foreign.managed).to_vector(), ElementsAre(4, 5));
}

TEST(Dlpack, RefusesAnotherMajorVersion) {
  Foreign<dlpack::ManagedTensorVersioned> foreign;
  foreign.managed.version = {.major = 2, .minor = 0};
  EXPECT_EQ(error_message([&] { (void)from_dlpack(&foreign.managed); }),
            "from_dlpack: version: expected version 1 of DLPack, got 2.0");
}

TEST(Dlpack, LendsATensorWithoutACopy) {
  const Tensor tensor(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  dlpack::ManagedTensorVersioned* lent = to_dlpack(tensor.transpose(0, 1));
  EXPECT_EQ(lent->tensor.data, tensor.data());
  EXPECT_EQ(lent->flags, dlpack::kReadOnly);
  EXPECT_EQ(lent->tensor.dtype.bits, 64);
  const Tensor again = from_dlpack(lent);
  EXPECT_EQ(again.data(), tensor.data());
  EXPECT_THAT(again.to_vector(), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Dlpack, LendsForWritingWhatNobodyElseHolds) {
  Tensor tensor(std::vector<float>{1, 2}, {2});
  dlpack::ManagedTensorVersioned* lent = to_dlpack(std::move(tensor));
  EXPECT_EQ(lent->flags, 0U);
  lent->deleter(lent);
  const Tensor kept(std::vector<float>{1, 2}, {2});
  dlpack::ManagedTensor* copy = to_dlpack_unversioned(kept);
  EXPECT_NE(copy->tensor.data, kept.data());
  static_cast<float*>(copy->tensor.data)[0] = 9;
  EXPECT_THAT(kept.to_vector(), ElementsAre(1, 2));
  copy->deleter(copy);
}

TEST(Dlpack, KeepsEveryTypeAndRank) {
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u8, DType::b8}) {
    const Tensor number = Tensor(std::vector<double>{1}, {}).to(dtype);
    const Tensor again = from_dlpack(to_dlpack(number));
    EXPECT_EQ(again.dtype(), dtype);
    EXPECT_EQ(again.rank(), 0);
    EXPECT_EQ(again.at({}), 1);
  }
  EXPECT_EQ(from_dlpack(to_dlpack(Tensor(DType::f32, {0, 2}))).shape(), Shape({0, 2}));
}

}  // namespace
}  // namespace qkv::dlpack_test
