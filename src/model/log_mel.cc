#include "qkv/model/log_mel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "model/log_mel_bounds.h"
#include "qkv/error.h"

namespace qkv {
namespace {

constexpr const char* kLogMel = "log_mel";
constexpr double kHighestPitch = 8000;  // hertz

// std::complex looks for infinities in each product.
struct Complex {
  double re = 0;
  double im = 0;
};
Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/// The discrete Fourier transform of a length, by its prime factors (Cooley and Tukey 1965).
class Fourier {
 public:
  explicit Fourier(std::int64_t length) : length_(static_cast<std::size_t>(length)), roots_(length_) {
    for (std::size_t n = 0; n < length_; ++n) {
      const double turn = -2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(length_);
      roots_[n] = {std::cos(turn), std::sin(turn)};
    }
    part_.resize(length_);
  }

  void transform(const std::vector<Complex>& in, std::vector<Complex>& out) {
    transform(in.data(), 1, out.data(), length_);
  }

 private:
  static std::size_t smallest_factor(std::size_t n) {
    for (std::size_t p = 2; p * p <= n; ++p) {
      if (n % p == 0) return p;
    }
    return n;
  }

  // in[0], in[stride], … of n numbers.
  void transform(const Complex* in, std::size_t stride, Complex* out, std::size_t n) {
    if (n == 1) {
      *out = *in;
      return;
    }
    const std::size_t p = smallest_factor(n);
    const std::size_t m = n / p;
    for (std::size_t r = 0; r < p; ++r) transform(in + r * stride, stride * p, out + r * m, m);
    const std::size_t step = length_ / n;
    for (std::size_t k = 0; k < m; ++k) {
      for (std::size_t r = 0; r < p; ++r) part_[r] = out[r * m + k] * roots_[r * k * step];
      for (std::size_t q = 0; q < p; ++q) {
        Complex sum = part_[0];
        for (std::size_t r = 1; r < p; ++r) sum = sum + part_[r] * roots_[r * q % p * m * step];
        out[q * m + k] = sum;
      }
    }
  }

  std::size_t length_;
  std::vector<Complex> roots_;
  std::vector<Complex> part_;
};

// Slaney's mel: even up to 1000 hertz, by logarithms above.
constexpr double kMelOfKilohertz = 15;
const double kMelsOfE = 27 / std::log(6.4);

double mel_of(double hertz) {
  return hertz < 1000 ? hertz * 3 / 200 : kMelOfKilohertz + std::log(hertz / 1000) * kMelsOfE;
}
double hertz_of(double mel) {
  return mel < kMelOfKilohertz ? mel * 200 / 3 : 1000 * std::exp((mel - kMelOfKilohertz) / kMelsOfE);
}

/// A triangle over the frequencies of a transform.
struct Band {
  std::size_t first = 0;
  std::vector<double> weights = {};
};

std::vector<Band> bands_of(const LogMelOptions& options) {
  std::vector<double> edges;
  for (std::int64_t n = 0; n < options.bins + 2; ++n) {
    edges.push_back(hertz_of(mel_of(kHighestPitch) * static_cast<double>(n) / static_cast<double>(options.bins + 1)));
  }
  const std::int64_t pitches = options.window / 2 + 1;
  const double top = static_cast<double>(options.rate / 2);
  std::vector<Band> bands(static_cast<std::size_t>(options.bins));
  for (std::size_t b = 0; b < bands.size(); ++b) {
    const double low = edges[b], middle = edges[b + 1], high = edges[b + 2];
    for (std::int64_t n = 0; n < pitches; ++n) {
      const double hertz = top * static_cast<double>(n) / static_cast<double>(pitches - 1);
      const double height = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      if (height <= 0) continue;
      if (bands[b].weights.empty()) bands[b].first = static_cast<std::size_t>(n);
      bands[b].weights.push_back(height * 2 / (high - low));
    }
  }
  return bands;
}

void require_log_mel(const TensorView& samples, const LogMelOptions& options) {
  const auto require = [](bool holds, const char* argument, const std::string& expected, const std::string& got) {
    if (!holds) throw InvalidArgument(kLogMel, argument, expected, got);
  };
  require_log_mel_bounds(options, [&](const LogMelBound& bound, const std::string& expected) {
    throw InvalidArgument(kLogMel, std::string(bound.name), expected, std::to_string(options.*bound.value));
  });
  require(samples.dtype() == DType::f32 && samples.rank() == 1, "samples", "f32 [N]",
          std::string(name_of(samples.dtype())) + " " + samples.shape().to_string());
  require(samples.dim(0) > 0 && samples.dim(0) <= options.samples(), "samples",
          fmt::format("1 to {}, {} s at {} hertz", options.samples(), options.seconds, options.rate),
          std::to_string(samples.dim(0)));
}

// With silence behind it, and mirrored at both ends by half a window.
std::vector<double> padded_sound(const TensorView& samples, const LogMelOptions& options) {
  const std::int64_t count = options.samples();
  const std::int64_t half = options.window / 2;
  const std::vector<double> given = samples.to_vector();
  std::vector<double> all(static_cast<std::size_t>(count + 2 * half));
  std::ranges::copy(given, all.begin() + half);
  for (std::int64_t n = 1; n <= half; ++n) {
    all[static_cast<std::size_t>(half - n)] = all[static_cast<std::size_t>(half + n)];
    all[static_cast<std::size_t>(half + count - 1 + n)] = all[static_cast<std::size_t>(half + count - 1 - n)];
  }
  return all;
}

// Two frames at once, as the real and the imaginary part: the power of each at its own pitches.
void add_pair(std::span<const Complex> both, std::int64_t pitches, std::vector<double>& first,
              std::vector<double>& second) {
  const std::size_t length = both.size();
  for (std::size_t n = 0; n < static_cast<std::size_t>(pitches); ++n) {
    const Complex a = both[n];
    const Complex b = both[(length - n) % length];
    const double re = a.re + b.re, im = a.im - b.im, other_re = a.im + b.im, other_im = b.re - a.re;
    first[n] = (re * re + im * im) / 4;
    second[n] = (other_re * other_re + other_im * other_im) / 4;
  }
}

}  // namespace

void require_log_mel_bounds(const LogMelOptions& options, const RefuseLogMel& refuse) {
  constexpr std::int64_t kMostSamples = std::int64_t{1} << 25;
  constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;
  const auto bound_of = [](std::string_view name) {
    return *std::ranges::find(kLogMelBounds, name, &LogMelBound::name);
  };
  for (const LogMelBound& bound : kLogMelBounds) {
    const std::int64_t value = options.*bound.value;
    if (value < bound.least || value > bound.most) refuse(bound, fmt::format("{} to {}", bound.least, bound.most));
  }
  if (options.samples() > kMostSamples) {
    refuse(bound_of("seconds"), fmt::format("{} samples or fewer at {} hertz", kMostSamples, options.rate));
  }
  if (options.frames() * options.bins > kMostNumbers) {
    refuse(bound_of("hop"), fmt::format("so many samples that a spectrogram has {} numbers or fewer", kMostNumbers));
  }
  if (options.samples() <= options.window / 2) refuse(bound_of("window"), "less than twice what is read at once");
}

Tensor log_mel(const TensorView& samples, const LogMelOptions& options) {
  require_log_mel(samples, options);
  const std::vector<double> sound = padded_sound(samples, options);
  const std::vector<Band> bands = bands_of(options);
  const std::int64_t frames = options.frames();
  const auto length = static_cast<std::size_t>(options.window);
  std::vector<double> hann(length);
  for (std::size_t n = 0; n < length; ++n) {
    hann[n] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(length));
  }
  Fourier fourier(options.window);
  std::vector<Complex> in(length), out(length);
  std::vector<double> first(length), second(length);
  std::vector<double> logs(static_cast<std::size_t>(options.bins * frames));
  const auto write = [&](std::int64_t frame, const std::vector<double>& power) {
    for (std::size_t b = 0; b < bands.size(); ++b) {
      double sum = 0;
      for (std::size_t n = 0; n < bands[b].weights.size(); ++n) sum += bands[b].weights[n] * power[bands[b].first + n];
      logs[b * static_cast<std::size_t>(frames) + static_cast<std::size_t>(frame)] = std::log10(std::max(sum, 1e-10));
    }
  };
  for (std::int64_t frame = 0; frame < frames; frame += 2) {
    const double* at = sound.data() + frame * options.hop;
    const bool is_last = frame + 1 == frames;
    const double* next = is_last ? at : at + options.hop;
    for (std::size_t n = 0; n < length; ++n) in[n] = {at[n] * hann[n], next[n] * hann[n]};
    fourier.transform(in, out);
    add_pair(out, options.window / 2 + 1, first, second);
    write(frame, first);
    if (!is_last) write(frame + 1, second);
  }
  const double least = *std::ranges::max_element(logs) - 8;
  Tensor result(DType::f32, {options.bins, frames});
  std::ranges::transform(logs, result.values<float>().begin(),
                         [&](double x) { return static_cast<float>((std::max(x, least) + 4) / 4); });
  return result;
}

}  // namespace qkv
