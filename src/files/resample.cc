// A sound at another rate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/watched.h"
#include "qkv/error.h"
#include "qkv/wav.h"

namespace qkv {
namespace {

constexpr double kSincZeros = 32;  // on each side
constexpr std::int64_t kBetweenLooks = 1024;
constexpr std::int64_t kMostMade = std::int64_t{1} << 29;

// The low pass: a sinc of `cutoff`, of which 1 is the rate of what is read, under a Hann window.
double sinc_weight(double distance, double cutoff) {
  const double x = distance * cutoff;
  if (std::fabs(x) >= kSincZeros) return 0;
  const double turned = std::numbers::pi * x;
  const double sinc = turned == 0 ? 1 : std::sin(turned) / turned;
  const double window = std::cos(turned / (2 * kSincZeros));
  return cutoff * sinc * window * window;
}

}  // namespace

Sound resampled(const Sound& sound, std::int64_t rate) {
  if (rate < 1 || rate > kHighestRate || sound.rate < 1 || sound.rate > kHighestRate) {
    throw InvalidArgument("resampled", "rate", "1 to 2^20 samples a second", fmt::format("{} to {}", sound.rate, rate));
  }
  if (rate == sound.rate) return sound;
  const std::int64_t common = std::gcd(sound.rate, rate);
  const std::int64_t phases = rate / common;
  const std::int64_t step = sound.rate / common;
  const double cutoff = std::min(1.0, static_cast<double>(phases) / static_cast<double>(step));
  const auto reach = static_cast<std::int64_t>(std::ceil(kSincZeros / cutoff));
  const std::span<const float> from = sound.samples.values<float>();
  const auto count = static_cast<std::int64_t>(from.size());
  const std::int64_t made = (count * phases + step - 1) / step;
  if (made > kMostMade) {
    throw InvalidArgument("resampled", "sound",
                          fmt::format("one of {} samples or fewer at {} a second", kMostMade, rate),
                          fmt::format("{} samples at {} a second, which are {}", count, sound.rate, made));
  }
  Sound out{.rate = rate, .samples = Tensor(DType::f32, {made})};
  const std::span<float> to = out.samples.values<float>();
  std::vector<double> weights(static_cast<std::size_t>(2 * reach + 1));
  for (std::int64_t phase = 0; phase < std::min(phases, made); ++phase) {
    const double place = static_cast<double>(phase * step % phases) / static_cast<double>(phases);
    for (std::int64_t n = -reach; n <= reach; ++n) {
      weights[static_cast<std::size_t>(n + reach)] = sinc_weight(static_cast<double>(n) - place, cutoff);
    }
    for (std::int64_t n = phase; n < made; n += phases) {
      if (n / phases % kBetweenLooks == 0) core::look();
      const std::int64_t middle = n * step / phases;
      double sum = 0;
      const std::int64_t end = std::min(middle + reach, count - 1);
      for (std::int64_t i = std::max<std::int64_t>(middle - reach, 0); i <= end; ++i) {
        sum += weights[static_cast<std::size_t>(i - middle + reach)] *
               static_cast<double>(from[static_cast<std::size_t>(i)]);
      }
      to[static_cast<std::size_t>(n)] = static_cast<float>(sum);
    }
  }
  return out;
}

}  // namespace qkv
