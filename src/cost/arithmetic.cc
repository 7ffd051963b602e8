#include "cost/arithmetic.h"

#include <fmt/format.h>

namespace qkv::cost_detail {
namespace {

Count raised(const Factor& factor) {
  Count value(1);
  for (int i = 0; i < factor.power; ++i) value = value * count_of(factor.value);
  return value;
}

std::string text_of(const Factor& factor) {
  std::string text = factor.shown.empty() ? count_of(factor.value).grouped() : factor.shown;
  if (factor.power == 2) text += "²";
  if (!factor.name.empty()) text += fmt::format(" {}", factor.name);
  return text;
}

}  // namespace

Count count_of(std::int64_t value) { return Count(static_cast<std::uint64_t>(value)); }

Arithmetic product(std::initializer_list<Factor> factors) {
  Arithmetic result{Count(1), ""};
  for (const Factor& factor : factors) {
    result.value = result.value * raised(factor);
    if (factor.value == 1 && factor.shown.empty()) continue;
    if (!result.text.empty()) result.text += " × ";
    result.text += text_of(factor);
  }
  if (result.text.empty()) result.text = result.value.grouped();
  return result;
}

Arithmetic operator+(const Arithmetic& a, const Arithmetic& b) {
  if (a.text.empty()) return b;
  return {a.value + b.value, a.text + " + " + b.text};
}

Arithmetic times(const Factor& factor, const Arithmetic& inner) {
  if (factor.value == 1) return inner;
  const bool sum = inner.text.find(" + ") != std::string::npos;
  return {raised(factor) * inner.value, text_of(factor) + " × " + (sum ? "(" + inner.text + ")" : inner.text)};
}

Factor pairs_below(std::int64_t n) {
  return {n * (n - 1) / 2, "", 1, fmt::format("({} × {} / 2)", count_of(n).grouped(), count_of(n - 1).grouped())};
}

}  // namespace qkv::cost_detail
