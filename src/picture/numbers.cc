#include "picture/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace qkv::picture {
namespace {

/// Without the sign of a negative that rounds to zero.
std::string without_minus_zero(std::string text) {
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  if (zero && text.starts_with('-')) text.erase(0, 1);
  return text;
}

double tick_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string without_padded_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::size_t digit = e + 1;
  if (text[digit] == '+') text.erase(digit, 1);
  if (text[digit] == '-') ++digit;
  while (digit + 1 < text.size() && text[digit] == '0') text.erase(digit, 1);
  return text;
}

std::string NumberStyle::operator()(double value) const {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0 && scientific) return "0";
  if (scientific) return without_padded_exponent(fmt::format("{:.{}e}", value, decimals));
  return without_minus_zero(fmt::format("{:.{}f}", value, decimals));
}

NumberStyle style_for(double largest, int decimals) {
  if (largest == 0 || (largest < 99999.5 && largest >= 0.5 * std::pow(10.0, -decimals))) return {false, decimals};
  return {true, 1};
}

std::vector<double> round_ticks(double low, double high, int most) {
  // Halved, so that ends near the largest double do not overflow.
  const double span = high / 2 - low / 2;
  if (!(span > 0) || !std::isfinite(span)) return {low};
  double step = 2 * tick_step(span / std::max(1, most - 1));
  if (!std::isfinite(step) || step < 1e-300) return {low, high};
  for (;; step = tick_step(step * 1.5)) {
    std::vector<double> ticks;
    const double first = std::ceil(low / step - 1e-9);
    const double last = std::floor(high / step + 1e-9);
    if (last - first + 1 > most) continue;
    const auto count = static_cast<int>(last - first) + 1;
    for (int i = 0; i < count; ++i) ticks.push_back((first + i) * step);
    if (ticks.size() < 2) return {low, high};
    return ticks;
  }
}

std::vector<double> logarithmic_ticks(double low, double high, Base base, int most) {
  const bool twos = base == Base::two;
  const auto log = [&](double value) { return twos ? std::log2(value) : std::log10(value); };
  const auto power = [&](double exponent) { return twos ? std::exp2(exponent) : std::pow(10.0, exponent); };
  const double first = std::ceil(log(low) - 1e-9);
  const double last = std::floor(log(high) + 1e-9);
  if (last - first < 2) {
    if (twos) return round_ticks(low, high, most);
    std::vector<double> ticks;
    for (int exponent = static_cast<int>(first) - 1; exponent <= static_cast<int>(last); ++exponent) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (const double tick = factor * power(exponent); tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) {
          ticks.push_back(tick);
        }
      }
    }
    return ticks.size() >= 2 ? ticks : round_ticks(low, high, most);
  }
  double step = 1;
  for (const double candidate : {1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0}) {
    step = candidate;
    if (std::floor(last / step) - std::ceil(first / step) + 1 <= most) break;
  }
  std::vector<double> ticks;
  const auto begin = static_cast<int>(std::ceil(first / step));
  for (int at = begin; at * step <= last; ++at) ticks.push_back(power(at * step));
  return ticks;
}

std::vector<std::string> tick_labels(std::span<const double> ticks) {
  double largest = 0;
  double closest = HUGE_VAL;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    largest = std::max(largest, std::fabs(ticks[i]));
    if (i > 0) closest = std::min(closest, std::fabs(ticks[i] - ticks[i - 1]));
  }
  if (!std::isfinite(closest) || closest == 0) closest = largest == 0 ? 1 : largest / 100;
  const auto digits_for = [](double step) {
    return std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  };
  NumberStyle style{false, digits_for(closest)};
  if (largest >= 1e6 || (largest > 0 && largest < 1e-3)) style = {true, digits_for(closest / largest)};
  // Ends that are not round need a digit more than their distance tells.
  const auto is_exact = [&](double tick) {
    return std::fabs(tick * std::pow(10.0, style.decimals) - std::round(tick * std::pow(10.0, style.decimals))) < 1e-6;
  };
  if (!style.scientific && style.decimals < 2 && !std::all_of(ticks.begin(), ticks.end(), is_exact)) style.decimals = 2;

  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(style(tick));
  return labels;
}

std::vector<std::string> logarithmic_tick_labels(std::span<const double> ticks) {
  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(without_padded_exponent(fmt::format("{:.2g}", tick)));
  const bool differ = std::ranges::adjacent_find(labels) == labels.end();
  return differ ? labels : tick_labels(ticks);
}

}  // namespace qkv::picture
