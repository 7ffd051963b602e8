#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/exact_math.h"
#include "nn/require.h"
#include "qkv/nn/position.h"

namespace qkv {
namespace {

constexpr std::string_view kOptions = "RotaryOptions";

void require_dim(std::int64_t dim) {
  if (dim <= 0 || dim % 2 != 0) {
    throw InvalidArgument(kOptions, "dim", "an even number, 2 or more", fmt::format("{}", dim));
  }
}

std::vector<double> plain_frequencies(std::int64_t dim, double base) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < dim; i += 2) {
    frequencies.push_back(1.0 / core::pow(base, static_cast<double>(i) / static_cast<double>(dim)));
  }
  return frequencies;
}

std::vector<double> scaled(const RotaryOptions& options, std::monostate /*none*/, std::int64_t /*tokens*/) {
  return plain_frequencies(options.dim, options.base);
}

std::vector<double> scaled(const RotaryOptions& options, const LinearScaling& scaling, std::int64_t /*tokens*/) {
  nn::require_positive("LinearScaling", "factor", scaling.factor);
  std::vector<double> frequencies = plain_frequencies(options.dim, options.base);
  for (double& frequency : frequencies) frequency /= scaling.factor;
  return frequencies;
}

std::vector<double> scaled(const RotaryOptions& options, const NtkScaling& scaling, std::int64_t /*tokens*/) {
  nn::require_positive("NtkScaling", "factor", scaling.factor);
  if (options.dim == 2) throw InvalidArgument("NtkScaling", "dim", "more than 2", "2");
  const auto dim = static_cast<double>(options.dim);
  return plain_frequencies(options.dim, options.base * core::pow(scaling.factor, dim / (dim - 2)));
}

void require_yarn(const RotaryOptions& options, const YarnScaling& scaling) {
  constexpr std::string_view kName = "YarnScaling";
  if (!(scaling.factor >= 1) || !std::isfinite(scaling.factor)) {
    throw InvalidArgument(kName, "factor", "1 or more", fmt::format("{}", scaling.factor));
  }
  nn::require_positive(kName, "original_max", scaling.original_max);
  nn::require_positive(kName, "beta_slow", scaling.beta_slow);
  if (!(scaling.beta_fast > scaling.beta_slow)) {
    throw InvalidArgument(kName, "beta_fast", fmt::format("more than beta_slow, {}", scaling.beta_slow),
                          fmt::format("{}", scaling.beta_fast));
  }
  if (!(options.base > 1)) throw InvalidArgument(kName, "base", "more than 1", fmt::format("{}", options.base));
  if (scaling.mscale.has_value() != scaling.mscale_all_dim.has_value()) {
    throw InvalidArgument(kName, "mscale", "both mscale and mscale_all_dim, or neither", "one of them");
  }
  if (scaling.attention_factor && scaling.mscale) {
    throw InvalidArgument(kName, "attention_factor", "attention_factor or mscale, not both", "both");
  }
  if (scaling.attention_factor) nn::require_positive(kName, "attention_factor", *scaling.attention_factor);
  if (scaling.mscale) nn::require_positive(kName, "mscale", *scaling.mscale);
  if (scaling.mscale_all_dim) nn::require_positive(kName, "mscale_all_dim", *scaling.mscale_all_dim);
}

// The (fractional) pair whose frequency makes `turns` turns within the training length: equation 16 solved for i.
double pair_of(double turns, const RotaryOptions& options, const YarnScaling& scaling) {
  const double wavelength = static_cast<double>(scaling.original_max) / (turns * 2 * std::numbers::pi);
  return static_cast<double>(options.dim) * core::log(wavelength) / (2 * core::log(options.base));
}

std::vector<double> scaled(const RotaryOptions& options, const YarnScaling& scaling, std::int64_t /*tokens*/) {
  require_yarn(options, scaling);
  const double fast = pair_of(scaling.beta_fast, options, scaling);
  const double slow = pair_of(scaling.beta_slow, options, scaling);
  const double first = std::max(scaling.truncate ? std::floor(fast) : fast, 0.0);
  const double last = std::min(scaling.truncate ? std::ceil(slow) : slow, static_cast<double>(options.dim - 1));
  // If both ends fall on one pair the ramp is a step; the published code then divides by 0.001.
  const double width = first == last ? 0.001 : last - first;
  std::vector<double> frequencies = plain_frequencies(options.dim, options.base);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double stretched = std::clamp((static_cast<double>(i) - first) / width, 0.0, 1.0);
    frequencies[i] = frequencies[i] / scaling.factor * stretched + frequencies[i] * (1 - stretched);
  }
  return frequencies;
}

std::vector<double> scaled(const RotaryOptions& options, const Llama3Scaling& scaling, std::int64_t /*tokens*/) {
  constexpr std::string_view kName = "Llama3Scaling";
  nn::require_positive(kName, "factor", scaling.factor);
  nn::require_positive(kName, "low_freq_factor", scaling.low_freq_factor);
  nn::require_positive(kName, "original_max", scaling.original_max);
  if (!(scaling.high_freq_factor > scaling.low_freq_factor)) {
    throw InvalidArgument(kName, "high_freq_factor", fmt::format("more than {}", scaling.low_freq_factor),
                          fmt::format("{}", scaling.high_freq_factor));
  }
  std::vector<double> frequencies = plain_frequencies(options.dim, options.base);
  for (double& frequency : frequencies) {
    const double turns = static_cast<double>(scaling.original_max) * frequency / (2 * std::numbers::pi);
    const double kept =
        std::clamp((turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor), 0.0, 1.0);
    frequency = (1 - kept) * frequency / scaling.factor + kept * frequency;
  }
  return frequencies;
}

void require_longrope(const RotaryOptions& options, const LongRopeScaling& scaling) {
  constexpr std::string_view kName = "LongRopeScaling";
  nn::require_positive(kName, "original_max", scaling.original_max);
  nn::require_positive(kName, "shorter_magnitude", scaling.shorter_magnitude);
  nn::require_positive(kName, "longer_magnitude", scaling.longer_magnitude);
  const auto require_factors = [&](const char* name, const std::vector<double>& factors) {
    const bool fits = std::ssize(factors) == options.dim / 2 &&
                      std::ranges::all_of(factors, [](double factor) { return factor > 0 && std::isfinite(factor); });
    if (fits) return;
    throw InvalidArgument(kName, name, fmt::format("{} numbers above 0, one for each pair that turns", options.dim / 2),
                          fmt::format("{}", fmt::join(factors, " ")));
  };
  require_factors("shorter", scaling.shorter);
  require_factors("longer", scaling.longer);
}

std::vector<double> scaled(const RotaryOptions& options, const LongRopeScaling& scaling, std::int64_t tokens) {
  require_longrope(options, scaling);
  const std::vector<double>& factors = is_turned_as_long(scaling, tokens) ? scaling.longer : scaling.shorter;
  std::vector<double> frequencies = plain_frequencies(options.dim, options.base);
  for (std::size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= factors[i];
  return frequencies;
}

double yarn_magnitude(double factor, double mscale) { return 0.1 * mscale * core::log(factor) + 1.0; }

}  // namespace

bool is_turned_as_long(const RotaryScaling& scaling, std::int64_t tokens) noexcept {
  const auto* const longrope = std::get_if<LongRopeScaling>(&scaling);
  return longrope != nullptr && tokens > longrope->original_max;
}

std::vector<double> rotary_frequencies(const RotaryOptions& options, std::int64_t tokens) {
  require_dim(options.dim);
  nn::require_positive(kOptions, "base", options.base);
  return std::visit([&](const auto& scaling) { return scaled(options, scaling, tokens); }, options.scaling);
}

double rotary_magnitude(const RotaryOptions& options, std::int64_t tokens) {
  if (const auto* longrope = std::get_if<LongRopeScaling>(&options.scaling)) {
    return is_turned_as_long(options.scaling, tokens) ? longrope->longer_magnitude : longrope->shorter_magnitude;
  }
  const auto* yarn = std::get_if<YarnScaling>(&options.scaling);
  if (yarn == nullptr) return 1.0;
  require_yarn(options, *yarn);
  if (yarn->attention_factor) return *yarn->attention_factor;
  if (yarn->mscale && yarn->mscale_all_dim) {
    return yarn_magnitude(yarn->factor, *yarn->mscale) / yarn_magnitude(yarn->factor, *yarn->mscale_all_dim);
  }
  return yarn_magnitude(yarn->factor, 1.0);
}

namespace {

// [T] or [B, T] positions of a text of so many tokens.
RotaryTables tables_at(const RotaryOptions& options, const std::vector<double>& positions, const Shape& shape,
                       DType dtype, std::int64_t tokens) {
  const std::vector<double> frequencies = rotary_frequencies(options, tokens);
  const double magnitude = rotary_magnitude(options, tokens);
  nn::require_floating("rotary_tables", "dtype", dtype);
  std::vector<double> cos;
  std::vector<double> sin;
  for (const double position : positions) {
    for (const double frequency : frequencies) {
      cos.push_back(core::cos(position * frequency) * magnitude);
      sin.push_back(core::sin(position * frequency) * magnitude);
    }
  }
  const Shape all = shape.inserted(shape.rank(), options.dim / 2);
  return {.cos = Tensor(cos, all).to(dtype), .sin = Tensor(sin, all).to(dtype), .layout = options.layout};
}

}  // namespace

RotaryTables rotary_tables(const RotaryOptions& options, const TensorView& positions, DType dtype) {
  nn::require_integers("rotary_tables", "positions", positions.dtype());
  if (positions.rank() != 1 && positions.rank() != 2) {
    throw InvalidArgument("rotary_tables", "positions", "[T] or [B, T]", positions.shape().to_string());
  }
  const std::vector<double> all = positions.to_vector();
  const double last = all.empty() ? -1 : *std::ranges::max_element(all);
  return tables_at(options, all, positions.shape(), dtype, static_cast<std::int64_t>(last) + 1);
}

RotaryTables rotary_tables(const RotaryOptions& options, std::int64_t T, DType dtype) {
  return rotary_tables(options, T, dtype, T);
}

RotaryTables rotary_tables(const RotaryOptions& options, std::int64_t T, DType dtype, std::int64_t tokens) {
  if (T < 0) throw InvalidArgument("rotary_tables", "T", "0 or more", fmt::format("{}", T));
  std::vector<double> positions(static_cast<std::size_t>(T));
  std::iota(positions.begin(), positions.end(), 0.0);
  return tables_at(options, positions, {T}, dtype, tokens);
}

}  // namespace qkv
