#include <algorithm>
#include <cmath>

#include "qkv/cost.h"

namespace qkv {
namespace {

__extension__ using U128 = unsigned __int128;

U128 join(std::uint64_t high, std::uint64_t low) { return (static_cast<U128>(high) << 64U) | low; }

}  // namespace

Count operator+(Count a, Count b) noexcept {
  const U128 sum = join(a.high_, a.low_) + join(b.high_, b.low_);
  return {static_cast<std::uint64_t>(sum >> 64U), static_cast<std::uint64_t>(sum)};
}

Count operator*(Count a, Count b) noexcept {
  const U128 product = join(a.high_, a.low_) * join(b.high_, b.low_);
  return {static_cast<std::uint64_t>(product >> 64U), static_cast<std::uint64_t>(product)};
}

double Count::to_double() const noexcept { return static_cast<double>(join(high_, low_)); }

std::string Count::to_string() const {
  U128 rest = join(high_, low_);
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  std::ranges::reverse(digits);
  return digits;
}

std::string Count::grouped() const {
  const std::string digits = to_string();
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

}  // namespace qkv
