// Gradients beside dropout where NaN and infinities meet weights that are 0: on every target as on the reference.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cases/where.h"
#include "qkv/backward.h"

namespace qkv::cases::dropped_gradients_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class DroppedGradients : public testing::TestWithParam<Where> {
 protected:
  // D = Dv = 1 and a scale of 1.
  static AttentionGradients run(const std::vector<double>& q, const std::vector<double>& k,
                                const std::vector<double>& v, const std::vector<double>& d_out,
                                AttentionOptions options) {
    const auto tensor = [](const std::vector<double>& values) {
      const auto rows = static_cast<std::int64_t>(values.size());
      return Tensor(values, {1, 1, rows, 1}).to(GetParam().dtype);
    };
    options.scale = 1;
    options.target = GetParam().target;
    const Tensor queries = tensor(q);
    const Tensor keys = tensor(k);
    const Tensor values = tensor(v);
    const auto [out, lse] = attention(queries, keys, values, options);
    return attention_backward(tensor(d_out), queries, keys, values, out, lse, options);
  }
};

TEST_P(DroppedGradients, AnInfiniteDOutOfAnOutOfZeroIsLeftOut) {
  // Its only key is dropped.
  const AttentionGradients gradients = run({1}, {1}, {2}, {kInfinity}, {.dropout = Dropout{.p = 0.999, .seed = 0}});
  EXPECT_EQ(gradients.d_q.at({0, 0, 0, 0}), 0);
  EXPECT_EQ(gradients.d_k.at({0, 0, 0, 0}), 0);
}

TEST_P(DroppedGradients, ANanValueReachesKeysOfNoWeight) {
  // out is NaN, and with it every visible score's gradient, though three keys weigh nothing in f32.
  const AttentionGradients gradients =
      run({1}, {0, -1000, -1000, -1000}, {1, NAN, 1, 1}, {1}, {.dropout = Dropout{.p = 0.5, .seed = 0}});
  for (const double d_k : gradients.d_k.to_vector()) EXPECT_TRUE(std::isnan(d_k));
  EXPECT_TRUE(std::isnan(gradients.d_q.at({0, 0, 0, 0})));
  for (const double d_v : gradients.d_v.to_vector()) EXPECT_FALSE(std::isnan(d_v));
}

TEST_P(DroppedGradients, AHiddenKeyGetsNothing) {
  const AttentionGradients gradients =
      run({1}, {0, 1, 2, 3}, {1, NAN, 1, 1}, {1}, {.mask = prefix(2), .dropout = Dropout{.p = 0.5, .seed = 0}});
  for (const std::int64_t j : {2, 3}) {
    EXPECT_EQ(gradients.d_k.at({0, 0, j, 0}), 0);
    EXPECT_EQ(gradients.d_v.at({0, 0, j, 0}), 0);
  }
  EXPECT_TRUE(std::isnan(gradients.d_k.at({0, 0, 0, 0})));
}

INSTANTIATE_TEST_SUITE_P(Cases, DroppedGradients, testing::ValuesIn(everywhere()), kName);

}  // namespace
}  // namespace qkv::cases::dropped_gradients_test
