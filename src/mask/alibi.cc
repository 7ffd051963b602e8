#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "core/exact_math.h"
#include "core/plain_number.h"
#include "mask/array_text.h"
#include "mask/toeplitz_bias.h"

namespace qkv {
namespace {

// Slope h of `heads`: the heads beyond the lower power of two take every other slope of the next higher one.
double alibi_slope(std::int64_t h, std::int64_t heads) {
  const auto lower = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const auto step = static_cast<double>(h < lower ? h + 1 : 2 * (h - lower) + 1);
  const auto count = static_cast<double>(h < lower ? lower : 2 * lower);
  return core::pow(2, -8.0 * step / count);
}

class Alibi final : public bias_detail::ToeplitzNode {
 public:
  Alibi(std::optional<std::vector<double>> slopes, Align align) : ToeplitzNode(align), slopes_(std::move(slopes)) {}

  void write_diagonals(std::int64_t h, std::int64_t first, std::span<double> values,
                       const MaskShape& shape) const override {
    const double minus_slope = -slope(h, shape);
    for (double& value : values) value = minus_slope * std::fabs(static_cast<double>(first++));
  }

  void add_diagonals(std::int64_t first, std::span<const double> sums, double* cells) const override {
    for (const double sum : sums) *cells -= sum * std::fabs(static_cast<double>(first++));
  }
  [[nodiscard]] Shape gradient_shape(const MaskShape& shape) const override { return {shape.H}; }
  [[nodiscard]] bias_detail::GradientWindow gradient_window(const Tile& tile,
                                                            const MaskShape& /*shape*/) const override {
    return {.offset = tile.h};
  }

  void validate(const MaskShape& shape) const override {
    if (!slopes_ || static_cast<std::int64_t>(slopes_->size()) == shape.H) return;
    throw InvalidArgument("alibi", "slopes", fmt::format("one for each of {} heads", shape.H),
                          std::to_string(slopes_->size()));
  }

  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments;
    for (const double slope : slopes_.value_or(std::vector<double>{})) {
      arguments.push_back(mask_detail::number_text(slope));
    }
    mask_detail::append_align(arguments, align());
    return mask_detail::call_text("alibi", arguments);
  }

 private:
  [[nodiscard]] double slope(std::int64_t h, const MaskShape& shape) const {
    return slopes_ ? (*slopes_)[static_cast<std::size_t>(h)] : alibi_slope(h, shape.H);
  }

  std::optional<std::vector<double>> slopes_;
};

}  // namespace

std::vector<double> alibi_slopes(std::int64_t heads) {
  mask_detail::require_at_least("alibi_slopes", "heads", 1, heads);
  std::vector<double> slopes;
  slopes.reserve(static_cast<std::size_t>(heads));
  for (std::int64_t h = 0; h < heads; ++h) slopes.push_back(alibi_slope(h, heads));
  return slopes;
}

Bias alibi(Align align) { return Bias(std::make_shared<const Alibi>(std::nullopt, align)); }

Bias alibi(std::vector<double> slopes, Align align) {
  if (slopes.empty()) throw InvalidArgument("alibi", "slopes", "one slope or more", "none");
  for (const double slope : slopes) {
    if (!std::isfinite(slope)) throw InvalidArgument("alibi", "slopes", "finite numbers", core::plain_number(slope));
  }
  return Bias(std::make_shared<const Alibi>(std::move(slopes), align));
}

}  // namespace qkv
