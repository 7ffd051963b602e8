#include "calls/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "qkv/attention.h"
#include "qkv/tile_plan.h"

namespace qkv::bench {
namespace {

using Json = nlohmann::json;

constexpr double kGiga = 1e9;

// The rate in units a second, or none where it was not measured. An empty target stands for the fastest.
std::optional<double> ceiling(const Json& measured, const std::string& name, const std::string& target, int threads) {
  std::optional<double> best;
  for (const Json& row : measured.at("ceilings")) {
    if (row.at("name") != name || row.at("threads") != threads) continue;
    if (!target.empty() && row.at("target") != target) continue;
    const double rate = row.at("value").get<double>() * kGiga;
    best = std::max(best.value_or(rate), rate);
  }
  return best;
}

// The rate, in bytes a second, of the read whose size is nearest by ratio.
std::optional<double> read_rate(const Json& measured, double bytes, int threads) {
  constexpr double kMebi = 1 << 20;
  std::optional<double> rate;
  double nearest = std::numeric_limits<double>::infinity();
  for (const Json& row : measured.at("ceilings")) {
    if (row.at("name") != "read" || row.at("threads") != threads) continue;
    const double distance = std::fabs(std::log(row.at("mebibytes").get<double>() * kMebi / bytes));
    if (distance >= nearest) continue;
    nearest = distance;
    rate = row.at("value").get<double>() * kGiga;
  }
  return rate;
}

double scores_of(const Case& one) {
  const MaskShape shape = {one.b, one.hq, one.tq, one.tk};
  return static_cast<double>(TilePlan(parse_mask(one.mask), shape).counts().pairs_kept);
}

}  // namespace

std::string_view name_of(Direction direction) { return direction == Direction::forward ? "forward" : "backward"; }

double flops_of(const Case& one, Direction direction) {
  const double products = direction == Direction::forward ? 2 : 5;
  return products * 2 * static_cast<double>(one.d) * scores_of(one);
}

std::optional<double> bound(const Json& measured, const Case& one, Direction direction, DType dtype,
                            const std::string& target, int threads) {
  if (one.tq == 1) {
    const auto elements = static_cast<double>(2 * one.b * one.hk * one.tk * one.d);
    const double bytes = elements * static_cast<double>(size_of(dtype));
    const auto read = read_rate(measured, bytes, threads);
    if (!read) return std::nullopt;
    return bytes / *read;
  }
  const std::string_view serving = attention_target(dtype, {.target = target});
  const bool split = serving == "amxf32" && dtype == DType::f32;
  if (serving.starts_with("amx") && (!split || direction == Direction::forward)) {
    const auto tiles = ceiling(measured, "tiles streamed", {}, threads);
    const auto exp2 = ceiling(measured, "exp2", {}, threads);
    const double products = split ? 6 : 1;
    if (tiles && exp2) return std::max(products * flops_of(one, direction) / *tiles, scores_of(one) / *exp2);
    return std::nullopt;
  }
  const std::string products = serving == "avx512bf16" ? "pairs" : "fma";
  const auto rate = ceiling(measured, products, split ? "avx512" : std::string(serving), threads);
  if (!rate) return std::nullopt;
  return flops_of(one, direction) / *rate;
}

}  // namespace qkv::bench
