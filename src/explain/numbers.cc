#include "explain/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/exact_math.h"
#include "core/number_text.h"
#include "qkv/softmax.h"

namespace qkv::explain_detail {

namespace {

// "2.9 × 10⁻⁷"
std::string with_power(double value) {
  constexpr std::array kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const std::string text = fmt::format("{:.1e}", value);
  const std::size_t e = text.find('e');
  std::string power = text[e + 1] == '-' ? "⁻" : "";
  for (const char digit : fmt::format("{}", core::number_from<int>(text.substr(e + 2)).value())) {
    power += kDigits.at(static_cast<std::size_t>(digit - '0'));
  }
  return text.substr(0, e) + " × 10" + power;
}

}  // namespace

std::string shown(double value, int decimals) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  if (value == 0) return "0";
  if (std::abs(value) < 0.5 * core::pow(10.0, -decimals)) return "≈0";
  return std::abs(value) < 1e9 ? fmt::format("{:.{}f}", value, decimals) : with_power(value);
}

std::string said(double value, int decimals) {
  const std::string text = shown(value, decimals);
  return text == "≈0" ? with_power(value) : text;
}

std::string with_minus(std::string text) {
  const std::size_t at = text.find('-');
  return at == std::string::npos ? text : text.replace(at, 1, "−");
}

Cell rounded(double value, int decimals) { return {shown(value, decimals), value}; }

Cell whole(std::int64_t value) { return {fmt::format("{}", value), static_cast<double>(value)}; }

Cell word(std::string text) { return {std::move(text), std::nullopt}; }

std::vector<double> softmax_of(std::span<const double> scores) {
  return softmax(TensorView(scores.data(), {static_cast<std::int64_t>(scores.size())}), 0).to_vector();
}

Spread spread_of(std::span<const double> weights) {
  double squares = 0;
  double cubes = 0;
  double entropy = 0;
  Spread spread;
  for (const double w : weights) {
    spread.largest = std::max(spread.largest, w);
    squares += w * w;
    cubes += w * w * w;
    if (w > 0) entropy -= w * core::log(w);
  }
  spread.effective_keys = core::exp(entropy);
  spread.jacobian = std::sqrt(std::max(0.0, squares - 2 * cubes + squares * squares));
  return spread;
}

Spread mean_spread(const TensorView& weights) {
  const std::vector<double> all = weights.to_vector();
  const auto width = static_cast<std::size_t>(weights.dim(-1));
  Spread mean;
  double rows = 0;
  for (std::size_t at = 0; at + width <= all.size() && width > 0; at += width) {
    const Spread row = spread_of(std::span(all).subspan(at, width));
    if (row.largest == 0) continue;
    mean.largest += row.largest;
    mean.effective_keys += row.effective_keys;
    mean.jacobian += row.jacobian;
    ++rows;
  }
  if (rows == 0) return {};
  return {mean.largest / rows, mean.effective_keys / rows, mean.jacobian / rows};
}

double largest_difference(const TensorView& a, const TensorView& b) {
  if (!(a.shape() == b.shape())) {
    throw InvalidArgument("largest_difference", "b", a.shape().to_string(), b.shape().to_string());
  }
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

Tensor matrix_of(const TensorView& tensor, std::int64_t head) {
  TensorView view = tensor;
  if (view.rank() == 4) view = view.select(0, 0);
  if (view.rank() == 3) view = view.select(0, head);
  return {view, DType::f64};
}

}  // namespace qkv::explain_detail
