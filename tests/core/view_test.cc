// Views against a plain model: the row-major list of a view's elements and its shape.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>

#include "core/error_message.h"
#include "qkv/tensor.h"

namespace qkv::api_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Tensor counted(const Shape& shape) {
  Tensor tensor(DType::i32, shape);
  std::int32_t next = 0;
  for (std::int32_t& value : tensor.values<std::int32_t>()) value = next++;
  return tensor;
}

Shape any_shape() {
  Shape shape;
  for (const int extent : *rc::gen::container<std::vector<int>>(*rc::gen::inRange(1, 5), rc::gen::inRange(0, 5))) {
    shape.push_back(extent);
  }
  return shape;
}

int any_axis(const TensorView& view) { return *rc::gen::inRange(0, view.rank()); }

// One random step from a view to another view of the same elements.
TensorView any_step(const TensorView& view) {
  const int axis = any_axis(view);
  const std::int64_t extent = view.dim(axis);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return view.transpose(axis, any_axis(view));
    case 1: {
      const auto begin = *rc::gen::inRange<std::int64_t>(0, extent + 1);
      return view.slice(axis, begin, *rc::gen::inRange<std::int64_t>(begin, extent + 1));
    }
    case 2:
      return view.rank() < kMaxRank ? view.unsqueeze(axis) : view;
    default:
      return view.rank() > 1 && extent > 0 ? view.select(axis, *rc::gen::inRange<std::int64_t>(0, extent)) : view;
  }
}

std::vector<double> rows_of(const TensorView& view, std::vector<std::int64_t> leading = {}) {
  const auto axis = static_cast<int>(leading.size());
  std::vector<double> result;
  if (axis + 1 == view.rank()) {
    result.resize(static_cast<std::size_t>(view.dim(-1)));
    view.load_row(leading, result);
    return result;
  }
  for (std::int64_t i = 0; i < view.dim(axis); ++i) {
    leading.push_back(i);
    const std::vector<double> inner = rows_of(view, leading);
    result.insert(result.end(), inner.begin(), inner.end());
    leading.pop_back();
  }
  return result;
}

RC_GTEST_PROP(Views, RowsAndCopiesAgreeAfterAnySteps, ()) {
  const Tensor tensor = counted(any_shape());
  TensorView view = tensor;
  const int steps = *rc::gen::inRange(0, 6);
  for (int i = 0; i < steps; ++i) view = any_step(view);
  const std::vector<double> elements = view.to_vector();
  RC_ASSERT(static_cast<std::int64_t>(elements.size()) == view.size());
  RC_ASSERT(rows_of(view) == elements);
  RC_ASSERT(Tensor(view).to_vector() == elements);
  RC_ASSERT(Tensor(view, DType::f64).to_vector() == elements);
}

RC_GTEST_PROP(Views, TransposeMovesEachElement, ()) {
  const Tensor tensor = counted({*rc::gen::inRange(1, 6), *rc::gen::inRange(1, 6), *rc::gen::inRange(1, 6)});
  const TensorView turned = tensor.view().transpose(0, -1);
  const auto i = *rc::gen::inRange<std::int64_t>(0, tensor.dim(0));
  const auto j = *rc::gen::inRange<std::int64_t>(0, tensor.dim(1));
  const auto k = *rc::gen::inRange<std::int64_t>(0, tensor.dim(2));
  RC_ASSERT(turned.at({k, j, i}) == tensor.at({i, j, k}));
}

RC_GTEST_PROP(Views, SliceTakesARange, ()) {
  const auto extent = *rc::gen::inRange<std::int64_t>(0, 9);
  const auto begin = *rc::gen::inRange<std::int64_t>(0, extent + 1);
  const auto end = *rc::gen::inRange<std::int64_t>(begin, extent + 1);
  std::vector<double> wanted;
  for (std::int64_t i = begin; i < end; ++i) wanted.push_back(static_cast<double>(i));
  const Tensor tensor = counted({extent});
  RC_ASSERT(tensor.view().slice(0, begin, end).to_vector() == wanted);
}

TEST(Views, ReadBackwardsThroughNegativeStrides) {
  const std::array<float, 6> data{0, 1, 2, 3, 4, 5};
  const TensorView backwards(&data[5], DType::f32, {2, 3}, {-3, -1});
  EXPECT_THAT(backwards.to_vector(), ElementsAre(5, 4, 3, 2, 1, 0));
  EXPECT_THAT(backwards.slice(0, 1, 2).to_vector(), ElementsAre(2, 1, 0));
  EXPECT_EQ(backwards.at({1, 2}), 0);
  EXPECT_FALSE(backwards.is_contiguous());
}

TEST(Views, RepeatThroughZeroStrides) {
  const float one = 7;
  const TensorView repeated(&one, DType::f32, {2, 3}, {0, 0});
  EXPECT_THAT(repeated.to_vector(), ElementsAre(7, 7, 7, 7, 7, 7));
  std::vector<double> row(3);
  repeated.load_row(std::array<std::int64_t, 1>{1}, row);
  EXPECT_THAT(row, ElementsAre(7, 7, 7));
}

TEST(Views, OfRankZeroHoldOneElement) {
  const double value = 2.5;
  const TensorView scalar(&value, {});
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(scalar.at({}), 2.5);
  EXPECT_THAT(scalar.to_vector(), ElementsAre(2.5));
  EXPECT_THAT(scalar.broadcast_to({2}).to_vector(), ElementsAre(2.5, 2.5));
  EXPECT_THAT(scalar.unsqueeze(0).to_vector(), ElementsAre(2.5));
}

TEST(Views, OfNothingAreSafeToRead) {
  const TensorView none;
  EXPECT_EQ(none.size(), 0);
  EXPECT_THAT(none.to_vector(), IsEmpty());
  const Tensor tensor(DType::f32, {1000, 0});
  EXPECT_THAT(tensor.view().slice(0, 900, 1000).to_vector(), IsEmpty());
  EXPECT_THAT(tensor.view().select(0, 999).to_vector(), IsEmpty());
  EXPECT_TRUE(tensor.view().is_contiguous());
}

// The walk must not count to 2^40 to find that there is nothing.
TEST(Views, OfNothingBehindAHugeExtentAreQuick) {
  const TensorView none(nullptr, DType::f32, {std::int64_t{1} << 40, 0}, {1, 1});
  EXPECT_THAT(none.to_vector(), IsEmpty());
  EXPECT_THAT(Tensor(none, DType::f64).to_vector(), IsEmpty());
}

TEST(Views, ReadAnyByteAsABoolean) {
  const std::array<std::uint8_t, 3> bytes{0, 1, 2};
  const TensorView view(bytes.data(), DType::b8, {3}, {1});
  EXPECT_THAT(view.to_vector(), ElementsAre(0, 1, 1));
  EXPECT_THAT(Tensor(view).to(DType::u8).to_vector(), ElementsAre(0, 1, 1));
}

TEST(Views, RefuseDataThatCannotBeRead) {
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  const std::array<std::int64_t, 2> data{};
  EXPECT_EQ(error_message([] { (void)TensorView(nullptr, DType::f32, {2}, {1}); }),
            "TensorView: data: expected the address of 2 elements, got null");
  EXPECT_EQ(error_message(
                [&] { (void)TensorView(reinterpret_cast<const std::byte*>(data.data()) + 1, DType::f32, {2}, {1}); }),
            "TensorView: data: expected an address aligned for f32, got an unaligned one");
  EXPECT_EQ(error_message([&] { (void)TensorView(data.data(), DType::i64, {2, 1}, {1}); }),
            "TensorView: strides: expected one for each axis of [2, 1], got [1]");
  EXPECT_EQ(error_message([&] { (void)TensorView(data.data(), DType::i64, {2}, {kFar}); }),
            "TensorView: strides: expected a reach of less than 2^63 bytes over [2], got [2305843009213693952]");
  EXPECT_EQ(error_message(
                [&] { (void)TensorView(data.data(), DType::i64, {2}, {std::numeric_limits<std::int64_t>::min()}); }),
            "TensorView: strides: expected a reach of less than 2^63 bytes over [2], got [-9223372036854775808]");
}

TEST(Views, NameTheAxisOrIndexAtFault) {
  const Tensor tensor = counted({2, 3});
  const TensorView view = tensor;
  EXPECT_EQ(error_message([&] { (void)view.dim(2); }),
            "TensorView::dim: axis: expected an axis of a rank 2 view, got 2");
  EXPECT_EQ(error_message([&] { (void)view.at({0, 3}); }),
            "TensorView: index: expected an index inside [2, 3], got [0, 3]");
  EXPECT_EQ(error_message([&] { (void)view.at({0}); }), "TensorView: index: expected 2 places, got 1");
  EXPECT_EQ(error_message([&] { (void)view.slice(1, 2, 4); }),
            "TensorView::slice: range: expected 0 <= begin <= end <= 3, got 2 to 4");
  EXPECT_EQ(error_message([&] { (void)view.select(0, -1); }),
            "TensorView::select: index: expected 0 <= index < 2, got -1");
  EXPECT_EQ(error_message([&] { (void)view.transpose(0, -3); }),
            "TensorView::transpose: axis: expected an axis of a rank 2 view, got -3");
}

TEST(Views, NameTheShapeThatDoesNotFit) {
  const Tensor tensor = counted({2, 3});
  const TensorView view = tensor;
  std::vector<double> row(2);
  EXPECT_EQ(error_message([&] { (void)view.transpose(0, 1).reshape({6}); }),
            "TensorView::reshape: view: expected contiguous strides, got [1, 3]");
  EXPECT_EQ(error_message([&] { (void)view.reshape({7}); }),
            "TensorView::reshape: shape: expected 6 elements, got [7]");
  EXPECT_EQ(error_message([&] { (void)view.broadcast_to({4, 2, 4}); }),
            "TensorView::broadcast_to: shape: expected a shape that [2, 3] broadcasts to, got [4, 2, 4]");
  EXPECT_EQ(error_message([&] { view.load_row(std::array<std::int64_t, 1>{0}, row); }),
            "TensorView::load_row: row: expected 3 places, got 2");
  EXPECT_EQ(error_message([&] { view.load_row({}, row); }),
            "TensorView::load_row: leading: expected one place for each axis of [2, 3] but the last, got 0 of them");
  EXPECT_EQ(error_message([&] { (void)view.data_as<float>(); }), "TensorView: dtype: expected f32, got i32");
}

TEST(TensorView, KeepsItsDevice) {
  Tensor tensor(DType::f32, {2, 3});
  EXPECT_EQ(TensorView(tensor).device(), tensor.device());
  EXPECT_EQ(tensor.view().transpose(0, 1).device(), Device::cpu);
  EXPECT_EQ(tensor.view().reshape({3, 2}).broadcast_to({4, 3, 2}).device(), Device::cpu);
  EXPECT_EQ(MutableTensorView(tensor).slice(0, 0, 1).device(), Device::cpu);
}

}  // namespace
}  // namespace qkv::api_test
