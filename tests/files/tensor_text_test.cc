#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "core/number_text.h"
#include "qkv/files.h"

namespace qkv::tensor_text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TensorText, IsReadInRowMajorOrder) {
  const Tensor tensor = tensor_from_text(" [[1, 0.5,-2e3],\n [0,1 , 3] ] ");
  EXPECT_EQ(tensor.dtype(), DType::f64);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_THAT(tensor.to_vector(), ElementsAre(1, 0.5, -2000, 0, 1, 3));
  EXPECT_EQ(tensor_from_text("[7]").shape(), (Shape{1}));
  EXPECT_EQ(tensor_from_text("[[[[1]],[[2]]]]").shape(), (Shape{1, 2, 1, 1}));
  const std::vector<double> special = tensor_from_text("[inf, -inf, nan]").to_vector();
  EXPECT_THAT(std::vector(special.begin(), special.end() - 1), ElementsAre(HUGE_VAL, -HUGE_VAL));
  EXPECT_TRUE(std::isnan(special.back()));
}

TEST(TensorText, StandsWhereAPathMay) {
  EXPECT_THAT(read_tensor("[[1],[2]]").to_vector(), ElementsAre(1, 2));
  EXPECT_FALSE(is_tensor_text("a[1].npy"));
}

TEST(TensorText, RefusesWhatIsNoTensor) {
  for (const char* text : {"[", "[]", "[[]]", "[1", "[1]]", "[1 2]", "[1,]", "[,1]", "[x]", "[[1],2]", "[1,[2]]",
                           "[[1],[[2]]]", "[[[[[[[[[1]]]]]]]]]", "[1] 2", "1", ""}) {
    EXPECT_THAT(error_message([&] { (void)tensor_from_text(text); }),
                HasSubstr("text: expected numbers in nested brackets, such as [[1, 0], [0, 1]], got \""))
        << text;
  }
  EXPECT_THAT(error_message([] { (void)tensor_from_text("[[1, 2], [3]]"); }),
              HasSubstr("expected rows of one length, 2 as the first, got \"[[1, 2], [3]]\""));
  for (const std::string number : {"1e400", "-1e400", "1e-400"}) {
    EXPECT_THAT(error_message([&] { (void)tensor_from_text("[[" + number + ", 1]]"); }),
                HasSubstr("expected numbers in the range of f64, up to 1.8e308 and down to 4.9e-324, got " + number));
  }
}

TEST(NumberText, ReadsWholeTextsOnly) {
  EXPECT_EQ(core::number_from<int>("12"), 12);
  EXPECT_EQ(core::number_from<double>("1e-3"), 1e-3);
  for (const char* text : {"", "1 ", " 1", "1x", "0x1", "99999999999"})
    EXPECT_FALSE(core::number_from<int>(text)) << text;
  EXPECT_THAT(*core::numbers_from<double>("3,0.5,-2"), ElementsAre(3, 0.5, -2));
  EXPECT_THAT(*core::numbers_from<int>("8x4", 'x'), ElementsAre(8, 4));
  for (const char* text : {"", "3,", ",3", "3,,2"}) EXPECT_FALSE(core::numbers_from<int>(text)) << text;
}

}  // namespace
}  // namespace qkv::tensor_text_test
