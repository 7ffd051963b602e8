#include <fmt/format.h>

#include <array>
#include <string_view>

#include "qkv/cost.h"

namespace qkv {
namespace {

std::string scaled(double value, double step, const std::array<std::string_view, 9>& names) {
  std::size_t i = 0;
  while (i + 1 < names.size() && value >= step) {
    value /= step;
    ++i;
  }
  if (i == 0) return fmt::format("{:.0f}{}", value, names[0]);
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, names[i]);
}

}  // namespace

std::string short_amount(Count value, CostUnit unit) {
  static constexpr std::array<std::string_view, 9> kBytes = {" B",   " KiB", " MiB", " GiB", " TiB",
                                                             " PiB", " EiB", " ZiB", " YiB"};
  static constexpr std::array<std::string_view, 9> kFlops = {" FLOP",  " kFLOP", " MFLOP", " GFLOP", " TFLOP",
                                                             " PFLOP", " EFLOP", " ZFLOP", " YFLOP"};
  static constexpr std::array<std::string_view, 9> kPlain = {"",         " K",       " M",       " B",      " T",
                                                             " × 10^15", " × 10^18", " × 10^21", " × 10^24"};
  switch (unit) {
    case CostUnit::bytes:
      return scaled(value.to_double(), 1024, kBytes);
    case CostUnit::flops:
      return scaled(value.to_double(), 1000, kFlops);
    case CostUnit::parameters:
      return scaled(value.to_double(), 1000, kPlain);
  }
  __builtin_unreachable();
}

std::string amount_text(Count value, CostUnit unit) {
  static constexpr std::array<std::string_view, 3> kSuffixes = {"", " FLOP", " B"};
  std::string exact = value.grouped() + std::string(kSuffixes.at(static_cast<std::size_t>(unit)));
  if (value < Count(unit == CostUnit::bytes ? 1024 : 1000)) return exact;
  return exact + " = " + short_amount(value, unit);
}

}  // namespace qkv
