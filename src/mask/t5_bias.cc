#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/exact_math.h"
#include "mask/array_text.h"
#include "mask/toeplitz_bias.h"

namespace qkv {
namespace {

// Buckets on one side of the diagonal, and how many of them hold a single distance.
struct Side {
  std::int64_t buckets;
  std::int64_t exact;
};

Side side_of(const T5Buckets& buckets) {
  const std::int64_t count = buckets.bidirectional ? buckets.buckets / 2 : buckets.buckets;
  return {count, count / 2};
}

void require_sound(std::string_view function, const T5Buckets& buckets) {
  mask_detail::require_at_least(function, "buckets", buckets.bidirectional ? 4 : 2, buckets.buckets);
  if (buckets.bidirectional && buckets.buckets % 2 != 0) {
    throw InvalidArgument(function, "buckets", "an even number, half for each direction",
                          std::to_string(buckets.buckets));
  }
  mask_detail::require_at_least(function, "max_distance", side_of(buckets).exact + 1, buckets.max_distance);
}

// base^exponent if it is at most `most`, else 0.
std::int64_t power_within(std::int64_t base, std::int64_t exponent, std::int64_t most) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) {
    if (base > most / power) return 0;
    power *= base;
  }
  return power;
}

// True where a^m = b^n, for a, b >= 1 and m, n >= 1 that have no common divisor: both are then powers of one number.
bool powers_are_equal(std::int64_t a, std::int64_t m, std::int64_t b, std::int64_t n) {
  if (a == 1 || b == 1) return a == b;
  const auto root = std::llround(core::pow(static_cast<double>(a), 1.0 / static_cast<double>(n)));
  return root > 1 && power_within(root, n, a) == a && power_within(root, m, b) == b;
}

// floor(count * log(x / base) / log(limit / base)) with exact logarithms: rounded ones miss a quotient that is a whole
// number as often as not.
double logarithmic_share(std::int64_t x, std::int64_t limit, std::int64_t base, std::int64_t count) {
  const auto ratio = [base](std::int64_t y) { return static_cast<double>(y) / static_cast<double>(base); };
  const double share = core::log(ratio(x)) / core::log(ratio(limit)) * static_cast<double>(count);
  const double whole = std::round(share);
  if (whole < 1 || std::fabs(share - whole) > 1e-9 * whole) return std::floor(share);
  const auto steps = static_cast<std::int64_t>(whole);
  const std::int64_t common = std::gcd(count, steps);
  const std::int64_t of_x = std::gcd(x, base);
  const std::int64_t of_limit = std::gcd(limit, base);
  // (x / base)^count = (limit / base)^steps, in lowest terms.
  const bool exact = powers_are_equal(x / of_x, count / common, limit / of_limit, steps / common) &&
                     powers_are_equal(base / of_x, count / common, base / of_limit, steps / common);
  return exact ? whole : std::floor(share);
}

std::int64_t bucket_of(std::int64_t relative_position, const T5Buckets& buckets) {
  const Side side = side_of(buckets);
  const bool after = relative_position > 0;
  const std::int64_t base = buckets.bidirectional && after ? side.buckets : 0;
  if (!buckets.bidirectional && after) return 0;
  const double distance = std::fabs(static_cast<double>(relative_position));
  const auto exact = static_cast<double>(side.exact);
  if (distance < exact) return base + static_cast<std::int64_t>(distance);
  if (distance >= static_cast<double>(buckets.max_distance)) return base + side.buckets - 1;
  const double beyond =
      logarithmic_share(std::abs(relative_position), buckets.max_distance, side.exact, side.buckets - side.exact);
  const auto last = static_cast<double>(side.buckets - 1);
  return base + static_cast<std::int64_t>(std::min(exact + beyond, last));
}

// For each n from 0 on, the smallest distance whose bucket on its side is at least n.
std::vector<std::int64_t> starts_of(const T5Buckets& buckets) {
  std::vector<std::int64_t> starts;
  for (std::int64_t bucket = 0; bucket < side_of(buckets).buckets; ++bucket) {
    std::int64_t low = 0;
    std::int64_t high = buckets.max_distance;  // lies in the last bucket
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (bucket_of(-middle, buckets) >= bucket) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    starts.push_back(low);
  }
  return starts;
}

class T5Bias final : public bias_detail::ToeplitzNode {
 public:
  T5Bias(const TensorView& table, const T5Buckets& buckets, Align align)
      : ToeplitzNode(align),
        printed_(mask_detail::array_text(table)),
        table_(table, DType::f64),
        heads_(table.dim(1)),
        buckets_(buckets),
        starts_(starts_of(buckets)) {}

  void write_diagonals(std::int64_t h, std::int64_t first, std::span<double> values,
                       const MaskShape& /*shape*/) const override {
    const double* column = table_.values<double>().data() + h;
    each_bucket(first, values.size(), [&](std::size_t n, std::int64_t bucket) { values[n] = column[bucket * heads_]; });
  }

  void add_diagonals(std::int64_t first, std::span<const double> sums, double* cells) const override {
    each_bucket(first, sums.size(), [&](std::size_t n, std::int64_t bucket) { cells[bucket] += sums[n]; });
  }
  [[nodiscard]] Shape gradient_shape(const MaskShape& /*shape*/) const override { return table_.shape(); }
  [[nodiscard]] bias_detail::GradientWindow gradient_window(const Tile& tile,
                                                            const MaskShape& /*shape*/) const override {
    return {.offset = tile.h, .rows = table_.dim(0), .columns = 1, .row_stride = heads_};
  }

  void validate(const MaskShape& shape) const override {
    if (heads_ == shape.H) return;
    throw InvalidArgument("t5_bias", "table", fmt::format("one column for each of {} heads", shape.H),
                          table_.shape().to_string());
  }

  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments{"table=" + printed_, fmt::format("max_distance={}", buckets_.max_distance),
                                       buckets_.bidirectional ? "bidirectional" : "unidirectional"};
    mask_detail::append_align(arguments, align());
    return mask_detail::call_text("t5", arguments);
  }

 private:
  // Calls body(n, bucket) for the buckets of `count` distances from `first` on.
  template <class Body>
  void each_bucket(std::int64_t first, std::size_t count, const Body& body) const {
    auto next = std::ranges::upper_bound(starts_, std::abs(first));  // where the bucket after this one starts
    for (std::size_t n = 0; n < count; ++n, ++first) {
      const std::int64_t distance = std::abs(first);
      while (*(next - 1) > distance) --next;
      while (next != starts_.end() && *next <= distance) ++next;
      body(n, bucket_on_side(first > 0, next - starts_.begin() - 1));
    }
  }

  [[nodiscard]] std::int64_t bucket_on_side(bool after, std::int64_t bucket) const {
    if (!after) return bucket;
    return buckets_.bidirectional ? side_of(buckets_).buckets + bucket : 0;
  }

  std::string printed_;
  Tensor table_;
  std::int64_t heads_;
  T5Buckets buckets_;
  std::vector<std::int64_t> starts_;
};

}  // namespace

std::int64_t t5_bucket(std::int64_t relative_position, const T5Buckets& buckets) {
  require_sound("t5_bucket", buckets);
  return bucket_of(relative_position, buckets);
}

Bias t5_bias(const TensorView& table, const T5Buckets& buckets, Align align) {
  require_sound("t5_bias", buckets);
  if (!is_floating(table.dtype())) {
    throw InvalidArgument("t5_bias", "table", "dtype f64, f32, f16 or bf16", name_of(table.dtype()));
  }
  if (table.rank() != 2 || table.dim(0) != buckets.buckets) {
    throw InvalidArgument("t5_bias", "table", fmt::format("[{}, H]", buckets.buckets), table.shape().to_string());
  }
  return Bias(std::make_shared<const T5Bias>(table, buckets, align));
}

}  // namespace qkv
