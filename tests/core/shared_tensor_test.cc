// Tensors that share elements with each other or borrow them, and when a write copies.
#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "core/error_message.h"
#include "qkv/tensor.h"

namespace qkv::shared_tensor_test {
namespace {

using testing::ElementsAre;

Tensor counted(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.product()));
  std::iota(values.begin(), values.end(), 0.0F);
  return {values, shape};
}

const void* address_of(const Tensor& tensor) { return tensor.data(); }

TEST(SharedTensor, CopyingSharesUntilOneIsWritten) {
  Tensor first = counted({3});
  const void* before = address_of(first);
  Tensor second = first;
  EXPECT_EQ(address_of(second), before);
  EXPECT_FALSE(first.is_private());
  second.set({0}, 7);
  EXPECT_NE(address_of(second), before);
  EXPECT_THAT(second.to_vector(), ElementsAre(7, 1, 2));
  EXPECT_THAT(first.to_vector(), ElementsAre(0, 1, 2));
  EXPECT_TRUE(first.is_private());
  first.set({1}, 9);  // the last one that holds the block writes in place
  EXPECT_EQ(address_of(first), before);
}

TEST(SharedTensor, EachWayOfWritingSparesTheOthers) {
  const Tensor kept = counted({2, 2});
  Tensor by_values = kept;
  by_values.values<float>()[0] = 5;
  Tensor by_address = kept;
  static_cast<float*>(by_address.data())[0] = 5;
  Tensor by_view = kept;
  MutableTensorView(by_view).set({0, 0}, 5);
  Tensor by_row = kept;
  by_row.store_row(std::array<std::int64_t, 1>{0}, std::vector<double>{5, 1});
  for (const Tensor& written : {by_values, by_address, by_view, by_row}) EXPECT_EQ(written.at({0, 0}), 5);
  EXPECT_THAT(kept.to_vector(), ElementsAre(0, 1, 2, 3));
}

TEST(SharedTensor, ViewsTakenBeforeAWriteKeepTheOldElements) {
  const Tensor kept = counted({2});
  Tensor written = kept;
  const TensorView before = written;
  written.set({0}, 5);
  EXPECT_THAT(before.to_vector(), ElementsAre(0, 1));
}

TEST(SharedTensor, CutsShareAsViewsDo) {
  const Tensor all = counted({2, 3});
  const auto* first = static_cast<const float*>(all.data());
  const Tensor part = all.slice(1, 1, 3);
  EXPECT_EQ(address_of(part), first + 1);
  EXPECT_THAT(part.to_vector(), ElementsAre(1, 2, 4, 5));
  EXPECT_EQ(part.strides(), Strides({3, 1}));
  EXPECT_THAT(all.transpose(0, 1).to_vector(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(all.select(0, -1 + 2).to_vector(), ElementsAre(3, 4, 5));
  EXPECT_EQ(all.unsqueeze(0).shape(), Shape({1, 2, 3}));
  EXPECT_THAT(all.reshape({3, 2}).select(1, 1).to_vector(), ElementsAre(1, 3, 5));
  EXPECT_THAT(all.select(0, 0).broadcast_to({2, 3}).to_vector(), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(error_message([&] { (void)all.transpose(0, 1).reshape({6}); }),
            "TensorView::reshape: view: expected contiguous strides, got [1, 3]");
}

TEST(SharedTensor, ACutKeepsTheElementsAlive) {
  Tensor row;
  {
    const Tensor all = counted({2, 3});
    row = all.select(0, 1);
  }
  EXPECT_THAT(row.to_vector(), ElementsAre(3, 4, 5));
  EXPECT_TRUE(row.is_private());
  row.set({0}, 8);
  EXPECT_THAT(row.to_vector(), ElementsAre(8, 4, 5));
}

TEST(SharedTensor, WritingToACutMakesItDenseAndSparesTheWhole) {
  const Tensor all = counted({2, 3});
  Tensor column = all.slice(1, 2, 3);
  column.set({1, 0}, 9);
  EXPECT_TRUE(column.is_contiguous());
  EXPECT_THAT(column.to_vector(), ElementsAre(2, 9));
  EXPECT_THAT(all.to_vector(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(SharedTensor, RefusesAStridedTensorAsOneRun) {
  const Tensor turned = counted({2, 3}).transpose(0, 1);
  EXPECT_EQ(
      error_message([&] { (void)turned.values<float>(); }),
      "Tensor::values: this: expected a contiguous tensor; contiguous() makes one, got [3, 2] with strides [1, 3]");
  const Tensor dense = turned.contiguous();
  EXPECT_THAT(dense.values<float>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(address_of(dense.contiguous()), address_of(dense));
  Tensor written = turned;
  EXPECT_THAT(written.values<float>(), ElementsAre(0, 3, 1, 4, 2, 5));  // writing access is dense
}

TEST(SharedTensor, ConvertsToItsOwnTypeWithoutACopy) {
  const Tensor tensor = counted({2, 3});
  EXPECT_EQ(address_of(tensor.to(DType::f32)), address_of(tensor));
  EXPECT_TRUE(tensor.transpose(0, 1).to(DType::f32).is_contiguous());
  EXPECT_THAT(tensor.transpose(0, 1).reshaped({6}).to_vector(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(SharedTensor, BorrowsAndLetsGoOfTheOwnerWithItsLastTensor) {
  auto numbers = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<const std::vector<float>> watched = numbers;
  Tensor row;
  {
    const Tensor whole = Tensor::borrow(TensorView(numbers->data(), {2, 2}), numbers);
    numbers.reset();
    EXPECT_EQ(address_of(whole), watched.lock()->data());
    EXPECT_FALSE(whole.is_private());
    row = whole.select(0, 1);
  }
  EXPECT_FALSE(watched.expired());
  EXPECT_THAT(row.to_vector(), ElementsAre(3, 4));
  row.set({0}, 9);  // read only: written to a copy
  EXPECT_TRUE(watched.expired());
  EXPECT_THAT(row.to_vector(), ElementsAre(9, 4));
}

TEST(SharedTensor, WritesToBorrowedMemoryOnlyWhereThatWasLent) {
  std::vector<float> numbers = {1, 2};
  Tensor read_only = Tensor::borrow(TensorView(numbers.data(), {2}), nullptr);
  read_only.set({0}, 5);
  EXPECT_THAT(numbers, ElementsAre(1, 2));
  Tensor writable = Tensor::borrow_writable(MutableTensorView(numbers.data(), {2}), nullptr);
  EXPECT_TRUE(writable.is_private());
  writable.set({0}, 6);
  EXPECT_THAT(numbers, ElementsAre(6, 2));
  const Tensor kept = writable;
  writable.set({0}, 7);
  EXPECT_THAT(numbers, ElementsAre(6, 2));
  EXPECT_THAT(kept.to_vector(), ElementsAre(6, 2));
  EXPECT_EQ(writable.device(), Device::cpu);
}

TEST(SharedTensor, AnEmptyOneIsNotOneWithoutElements) {
  EXPECT_TRUE(Tensor().empty());
  const Tensor none(DType::f32, {0, 3});
  EXPECT_FALSE(none.empty());
  EXPECT_FALSE(Tensor::borrow(TensorView(), nullptr).empty());
  EXPECT_EQ(none.transpose(0, 1).shape(), Shape({3, 0}));
  Tensor moved = none;
  const Tensor taken = std::move(moved);
  EXPECT_TRUE(moved.empty());  // NOLINT(bugprone-use-after-move): what is left behind is promised
  EXPECT_EQ(static_cast<const Tensor&>(moved).data(), nullptr);
  EXPECT_EQ(taken.shape(), Shape({0, 3}));
}

TEST(SharedTensor, MayBeCopiedAndReadFromSeveralThreads) {
  const Tensor shared = counted({1000});
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (double& sum : sums) {
    threads.emplace_back([&shared, &sum] {
      for (int n = 0; n < 200; ++n) {
        Tensor own = shared.slice(0, 0, 10);
        own.set({0}, n);
        sum += own.at({0}) + shared.at({1});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(sums, testing::Each(200 * 199 / 2 + 200));
  EXPECT_TRUE(shared.is_private());
}

}  // namespace
}  // namespace qkv::shared_tensor_test
