#include "insight/likeness.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "core/watched.h"

namespace qkv::insight {
namespace {

struct Placed {
  std::uint64_t key;
  std::uint32_t place;
};

// Rises as the number does; NaN comes behind all numbers, and is no larger than another NaN.
std::uint64_t key_of(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;
  if (std::isnan(value)) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Digit by digit from the lowest, in O(n); a digit that all have, as those that f32 leaves 0, costs nothing.
void sort_by_digits(std::vector<Placed>& all) {
  constexpr std::size_t kDigits = 8, kValues = 256;
  std::array<std::array<std::uint32_t, kValues>, kDigits> counts{};
  const auto digit_of = [](const Placed& one, std::size_t digit) { return (one.key >> (8 * digit)) & 255U; };
  for (const Placed& one : all) {
    for (std::size_t digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(one, digit)];
  }
  std::vector<Placed> sorted(all.size());
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    std::array<std::uint32_t, kValues>& ends = counts[digit];
    if (ends[digit_of(all.front(), digit)] == all.size()) continue;
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::uint32_t{0});
    for (const Placed& one : all) sorted[ends[digit_of(one, digit)]++] = one;
    std::swap(all, sorted);
  }
}

}  // namespace

std::vector<double> ranks_of(std::span<const double> values) {
  constexpr std::size_t kWorthDigits = 64;
  std::vector<Placed> order;
  order.reserve(values.size());
  for (const double value : values) order.push_back({key_of(value), static_cast<std::uint32_t>(order.size())});
  if (order.size() < kWorthDigits) {
    std::ranges::sort(order, {}, &Placed::key);
  } else {
    sort_by_digits(order);
  }
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && order[end].key == order[begin].key) ++end;
    const double mean = 0.5 * static_cast<double>(begin + end - 1);
    for (std::size_t n = begin; n < end; ++n) ranks[order[n].place] = mean;
    begin = end;
  }
  return ranks;
}

Tensor cosines_between(const TensorView& embeddings) {
  const std::int64_t T = embeddings.dim(0);
  const auto D = static_cast<std::size_t>(embeddings.dim(1));
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(T), std::vector<double>(D));
  for (std::int64_t i = 0; i < T; ++i) {
    std::vector<double>& row = rows[static_cast<std::size_t>(i)];
    embeddings.load_row(std::array{i}, row);
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    for (double& x : row) x = length > 0 ? x / length : 0;
  }
  Tensor cosines(DType::f64, {T, T});
  const auto values = cosines.values<double>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    core::look();
    for (std::size_t j = 0; j <= i; ++j) {
      const double cosine = std::inner_product(rows[i].begin(), rows[i].end(), rows[j].begin(), 0.0);
      values[i * rows.size() + j] = values[j * rows.size() + i] = cosine;
    }
  }
  return cosines;
}

double correlation_of_ranks(std::span<const double> left, std::span<const double> right) {
  const double mean = 0.5 * static_cast<double>(left.size() - 1);
  double product = 0;
  double left_square = 0;
  double right_square = 0;
  for (std::size_t n = 0; n < left.size(); ++n) {
    product += (left[n] - mean) * (right[n] - mean);
    left_square += (left[n] - mean) * (left[n] - mean);
    right_square += (right[n] - mean) * (right[n] - mean);
  }
  return left_square > 0 && right_square > 0 ? product / std::sqrt(left_square * right_square) : 0;
}

}  // namespace qkv::insight
