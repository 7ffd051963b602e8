// Products by panels, on every target's loops, beside sums in f64.
#include "kernels/product/panel_product.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/cpu/task.h"
#include "kernels/vector_loops.h"
#include "qkv/random.h"
#include "qkv/targets.h"

namespace qkv::kernels::panel_product_test {
namespace {

struct Set {
  std::string name;
  const PanelLoops* loops;
};

// Those that this build holds and this machine runs.
std::vector<Set> sets() {
  std::vector<Set> all = {{"baseline", &baseline::kLoops.panels}};
  for (const CpuTarget& target : cpu_targets()) {
    const cpu::Target* const found = target.runs_here ? cpu::find_target(target.name) : nullptr;
    if (found == nullptr) continue;
    if (found->loops != nullptr) all.push_back({target.name, &found->loops->panels});
    if (found->pairs != nullptr) all.push_back({target.name + ", pairs", found->pairs});
  }
  return all;
}

struct Sizes {
  std::int64_t M, N, K;
};

// Less than a panel, a whole one, some more; more of K than stays near; more of M and N than is laid at a time.
constexpr Sizes kSizes[] = {{1, 1, 1},      {3, 7, 5},       {8, 48, 64}, {9, 49, 65},
                            {17, 1601, 30}, {101, 25, 2050}, {13, 100, 0}};

Tensor numbers(std::uint64_t seed, const Shape& shape, DType dtype) {
  return Generator(seed).randn(shape, DType::f32).to(dtype);
}

// The products of the rows of a with those of b, in f64.
struct Products {
  std::vector<double> sums;
  std::vector<double> sizes;  // of their terms
};

Products products_of(const TensorView& a, const TensorView& b) {
  const std::vector<double> x = Tensor(a).to(DType::f64).to_vector();
  const std::vector<double> y = Tensor(b).to(DType::f64).to_vector();
  const std::int64_t K = a.dim(1);
  Products products;
  for (std::int64_t m = 0; m < a.dim(0); ++m) {
    for (std::int64_t n = 0; n < b.dim(0); ++n) {
      double sum = 0;
      double size = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double product = x[static_cast<std::size_t>(m * K + k)] * y[static_cast<std::size_t>(n * K + k)];
        sum += product;
        size += std::fabs(product);
      }
      products.sums.push_back(sum);
      products.sizes.push_back(size);
    }
  }
  return products;
}

void expect_products(const TensorView& out, const Products& products, std::int64_t K, const TensorView* bias,
                     const TensorView* before) {
  const double rounded = out.dtype() == DType::bf16 ? 0x1p-8 : out.dtype() == DType::f16 ? 0x1p-11 : 0;
  std::size_t at = 0;
  for (std::int64_t m = 0; m < out.dim(0); ++m) {
    for (std::int64_t n = 0; n < out.dim(1); ++n, ++at) {
      const double start = (bias == nullptr ? 0 : bias->at({n})) + (before == nullptr ? 0 : before->at({m, n}));
      const double sum = start + products.sums[at];
      const double size = std::fabs(start) + products.sizes[at];
      const double bound = 0x1p-24 * static_cast<double>(K + 4) * size + rounded * (std::fabs(sum) + 0x1p-13);
      ASSERT_NEAR(out.at({m, n}), sum, bound) << m << ", " << n;
    }
  }
}

// The dtypes of a and b that such loops take.
std::vector<std::pair<DType, DType>> factors(const PanelLoops& loops) {
  if (loops.elements == 2) return {{DType::bf16, DType::bf16}};
  return {{DType::f32, DType::f32}, {DType::f32, DType::bf16}, {DType::f16, DType::f32}, {DType::bf16, DType::f16}};
}

TEST(PanelProduct, IsSumsOfProductsOnEachTarget) {
  for (const Set& set : sets()) {
    for (const auto& [of_a, of_b] : factors(*set.loops)) {
      for (const auto& [M, N, K] : kSizes) {
        SCOPED_TRACE(set.name + ", " + std::string(name_of(of_a)) + " by " + std::string(name_of(of_b)) + ", M " +
                     std::to_string(M) + ", N " + std::to_string(N) + ", K " + std::to_string(K));
        const Tensor a = numbers(1, {M, K}, of_a);
        const Tensor b = numbers(2, {N, K}, of_b);
        const Tensor bias = numbers(3, {N}, DType::f32);
        const TensorView shift = bias.view();
        const Panels right(*set.loops, set.loops->columns, b.view(), 1);
        const Products products = products_of(a.view(), b.view());
        for (const DType dtype : {DType::f32, of_a}) {
          Tensor out(dtype, {M, N});
          multiply_panels(out, a.view(), right, bias.view().data_as<float>(), Into::written, 2);
          expect_products(out.view(), products, K, &shift, nullptr);
        }
        const Tensor before = numbers(4, {M, N}, DType::f32);
        Tensor out = numbers(4, {M, N}, DType::f32);
        multiply_panels(out, a.view(), right, nullptr, Into::added, 1);
        const TensorView start = before.view();
        expect_products(out.view(), products, K, nullptr, &start);
      }
    }
  }
}

// Along K, along the other axis, or neither is dense; one row for all.
TEST(PanelProduct, ReadsAnyStridesOnEachTarget) {
  constexpr std::int64_t kM = 21;
  constexpr std::int64_t kN = 53;
  constexpr std::int64_t kK = 131;
  for (const Set& set : sets()) {
    for (const auto& [of_a, of_b] : factors(*set.loops)) {
      SCOPED_TRACE(set.name + ", " + std::string(name_of(of_a)) + " by " + std::string(name_of(of_b)));
      const auto matrices = [](std::int64_t rows, DType dtype) {
        const Tensor plain = numbers(5, {rows, kK}, dtype);
        const Tensor turned = numbers(6, {kK, rows}, dtype);
        const Tensor wide = numbers(7, {rows, kK, 3}, dtype);
        const Tensor one = numbers(8, {1, kK}, dtype);
        return std::vector<Tensor>{plain, turned.transpose(0, 1), wide.select(2, 1), one.broadcast_to({rows, kK})};
      };
      for (const Tensor& a : matrices(kM, of_a)) {
        for (const Tensor& b : matrices(kN, of_b)) {
          const Panels right(*set.loops, set.loops->columns, b.view(), 2);
          Tensor out(DType::f32, {kM, kN});
          multiply_panels(out, a.view(), right, nullptr, Into::written, 1);
          expect_products(out.view(), products_of(a.view(), b.view()), kK, nullptr, nullptr);
        }
      }
    }
  }
}

// However rows and columns are cut into tasks, and whether a row is read as it lies.
TEST(PanelProduct, HasSumsInAnOrderOfKAlone) {
  for (const Set& set : sets()) {
    SCOPED_TRACE(set.name);
    const auto [of_a, of_b] = factors(*set.loops).front();
    const Tensor a = numbers(1, {120, 700}, of_a);
    const Tensor b = numbers(2, {90, 700}, of_b);
    const Panels right(*set.loops, set.loops->columns, b.view(), 1);
    Tensor whole(DType::f32, {120, 90});
    multiply_panels(whole, a.view(), right, nullptr, Into::written, 1);
    Tensor shared(DType::f32, {120, 90});
    multiply_panels(shared, a.view(), right, nullptr, Into::written, 3);
    EXPECT_EQ(shared.to_vector(), whole.to_vector());
    const Tensor turned = a.transpose(0, 1).contiguous().transpose(0, 1);
    Tensor row(DType::f32, {1, 90});
    for (const std::int64_t m : {0, 7, 119}) {
      multiply_panels(row, turned.view().slice(0, m, m + 1), right, nullptr, Into::written, 1);
      EXPECT_EQ(row.to_vector(), Tensor(whole.view().slice(0, m, m + 1)).to_vector()) << m;
    }
  }
}

TEST(PanelProduct, KeepsNaNAndInfinityInTheirRows) {
  for (const Set& set : sets()) {
    SCOPED_TRACE(set.name);
    const DType dtype = factors(*set.loops).front().first;
    std::vector<double> all(9 * 50, 1.0);
    all[3 * 50 + 7] = std::nan("");
    all[4 * 50 + 7] = INFINITY;
    const Tensor a = Tensor(all, {9, 50}).to(dtype);
    const Tensor b = Tensor(std::vector<double>(60 * 50, 1.0), {60, 50}).to(dtype);
    const Panels right(*set.loops, set.loops->columns, b.view(), 1);
    Tensor out(DType::f32, {9, 60});
    multiply_panels(out, a.view(), right, nullptr, Into::written, 1);
    for (std::int64_t m = 0; m < 9; ++m) {
      for (const std::int64_t n : {0, 59}) {
        const double got = out.view().at({m, n});
        EXPECT_EQ(std::isnan(got), m == 3) << m;
        if (m != 3) {
          EXPECT_EQ(got, m == 4 ? INFINITY : 50) << m;
        }
      }
    }
  }
}

}  // namespace
}  // namespace qkv::kernels::panel_product_test
