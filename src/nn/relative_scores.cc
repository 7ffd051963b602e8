#include "qkv/nn/relative_scores.h"

#include <algorithm>
#include <cmath>

#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/shape.h"
#include "qkv/error.h"

namespace qkv {
namespace {

// As the authors' program rounds it, in f32: the bucket of the longest distance is a whole number there.
std::int64_t bucket_of(const RelativeScores& options, std::int64_t distance) {
  const std::int64_t half = options.buckets / 2;
  const std::int64_t away = std::abs(distance);
  if (options.buckets <= 0 || away <= half) return distance;
  const auto middle = static_cast<float>(half);
  const float whole = std::log((static_cast<float>(options.longest) - 1) / middle);
  const float share = std::log(static_cast<float>(away) / middle) / whole;
  const auto bucket = static_cast<std::int64_t>(std::ceil(share * (middle - 1))) + half;
  return distance < 0 ? -bucket : bucket;
}

}  // namespace

std::int64_t relative_row(const RelativeScores& options, std::int64_t distance) {
  return std::clamp<std::int64_t>(bucket_of(options, distance) + options.span, 0, 2 * options.span - 1);
}

Variable relative_rows(const RelativeScores& options, const Variable& table, std::int64_t T, DistanceOrder order) {
  Tensor rows(DType::i64, {2 * T - 1});
  std::int64_t distance = order == DistanceOrder::falling ? T - 1 : 1 - T;
  for (std::int64_t& row : rows.values<std::int64_t>()) {
    row = relative_row(options, distance);
    distance += order == DistanceOrder::falling ? -1 : 1;
  }
  return reshape(embedding(table, rows), {1, 2 * T - 1, table.dim(1)});
}

Variable scores_of_distances(const Variable& x, const Variable& rows) {
  const std::int64_t T = x.dim(2);
  const Shape expected{1, x.dim(1), 2 * T - 1, x.dim(3)};
  if (!(rows.shape() == expected)) {
    throw InvalidArgument("scores_of_distances", "rows", expected.to_string(), rows.shape().to_string());
  }
  const Variable all = matmul(x, transpose(rows, 2, 3));
  if (T == 1) return all;
  // Row i begins T - 1 - i places later: as rows of one number less, all begin at the same column.
  const std::int64_t B = x.dim(0);
  const std::int64_t H = x.dim(1);
  const Variable flat = reshape(all, {B, H, T * (2 * T - 1)});
  const Variable shifted = reshape(slice(flat, 2, T - 1, T - 1 + T * (2 * T - 2)), {B, H, T, 2 * T - 2});
  return slice(shifted, 3, 0, T);
}

}  // namespace qkv
