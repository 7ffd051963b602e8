#include "qkv/softmax.h"

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/bytes.h"
#include "core/exact_math.h"
#include "kernels/reference/softmax.h"

namespace qkv {
namespace {

// Calls map(row, result) for each row along the axis and stores the results in its place.
template <class Map>
Tensor map_rows(const char* function, const TensorView& x, int axis, const Map& map) {
  if (!is_floating(x.dtype())) {
    throw InvalidArgument(function, "x", "f64, f32, f16 or bf16", name_of(x.dtype()));
  }
  if (axis < -x.rank() || axis >= x.rank()) {
    throw InvalidArgument(function, "axis", "an axis of " + x.shape().to_string(), std::to_string(axis));
  }
  const TensorView rows = x.transpose(axis, -1);
  const std::int64_t width = rows.dim(-1);
  const Tensor dense = Tensor(rows).reshaped({width == 0 ? 0 : x.size() / width, width});
  Tensor mapped(x.dtype(), dense.shape());
  std::vector<double> row(core::checked_count<double>("softmax", {width}));
  std::vector<double> result = row;
  for (std::int64_t r = 0; r < dense.dim(0); ++r) {
    dense.view().load_row(std::array{r}, row);
    map(std::span<const double>(row), std::span<double>(result));
    mapped.store_row(std::array{r}, result);
  }
  return Tensor(std::move(mapped).reshaped(rows.shape()).view().transpose(axis, -1));
}

}  // namespace

Tensor softmax(const TensorView& x, int axis) {
  return map_rows("softmax", x, axis, [](std::span<const double> row, std::span<double> result) {
    static_cast<void>(kernels::reference::softmax_row(row, result));
  });
}

Tensor log_softmax(const TensorView& x, int axis) {
  return map_rows("log_softmax", x, axis, [](std::span<const double> row, std::span<double> result) {
    const kernels::reference::RowSum sum = kernels::reference::sum_row(row, std::nullopt);
    const double log_sum = core::log(sum.sum);  // beside a large maximum it would be lost
    const double lse = sum.lse();
    for (std::size_t i = 0; i < row.size(); ++i) result[i] = std::isinf(lse) ? lse : row[i] - sum.max - log_sum;
  });
}

}  // namespace qkv
