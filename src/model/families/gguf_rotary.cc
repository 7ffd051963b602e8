#include "model/families/gguf_rotary.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "model/families/gguf_family.h"
#include "qkv/error.h"
#include "qkv/nn/position.h"

namespace qkv::families {
namespace {

using Json = nlohmann::json;

constexpr const char* kFactors = "rope_freqs.weight";
constexpr const char* kLongFactors = "rope_factors_long.weight";
constexpr const char* kShortFactors = "rope_factors_short.weight";

// Turns of a pair within one position, and what of its frequency is kept: 1 all, 0 none but the stretched one.
struct Ramp {
  double turns;
  double kept;
};

// Scalings of which the ramp may be: kept = (turns * original - low) / (high - low). Only the ratios of the three
// count: low is 1, as it always is; the others follow from two places of the ramp. Where there are fewer, high is 4, as
// it always is.
std::vector<Llama3Scaling> fitted_to(const std::vector<Ramp>& ramp, double factor) {
  constexpr double kUsualHigh = 4;
  constexpr unsigned kMostBits = 24;
  std::vector<Llama3Scaling> all;
  if (ramp.size() > 1) {
    const auto [first, last] = std::ranges::minmax(ramp, {}, &Ramp::turns);
    const double slope = (last.kept - first.kept) / (last.turns - first.turns);
    const double gap = slope * first.turns - first.kept;  // low / (high - low)
    // Factors are of f32: the numbers that they were made of are whole, or a few decimals.
    const double high = std::round((1 / gap + 1) * 1e3) / 1e3;
    const double original = slope * (high - 1);
    if (original > 0.5 && original < 1e9) all.push_back({factor, 1, high, std::llround(original)});
  } else if (ramp.size() == 1) {
    const double original = (ramp.front().kept * (kUsualHigh - 1) + 1) / ramp.front().turns;
    if (original < 1e9) all.push_back({factor, 1, kUsualHigh, std::llround(original)});
  } else {
    for (unsigned bits = 0; bits <= kMostBits; ++bits) all.push_back({factor, 1, kUsualHigh, std::int64_t{1} << bits});
  }
  return all;
}

bool makes(const Llama3Scaling& scaling, const std::vector<double>& factors, std::int64_t width, double base) {
  constexpr double kNear = 1e-5;
  if (scaling.original_max < 1 || !(scaling.high_freq_factor > 1)) return false;
  const auto plain = rotary_frequencies({.dim = width, .base = base});
  const auto stretched = rotary_frequencies({.dim = width, .base = base, .scaling = scaling});
  for (std::size_t n = 0; n < plain.size(); ++n) {
    if (!(std::fabs(stretched[n] * factors[n] / plain[n] - 1) < kNear)) return false;
  }
  return true;
}

[[noreturn]] void refuse_factors(const files::GgufKeys& keys, const char* name, const std::string& expected,
                                 const std::string& got) {
  throw FileError(keys.file().source(), std::string(name) + ": expected " + expected + ", got " + got);
}

std::vector<double> factors_in(const files::GgufKeys& keys, const char* name, std::int64_t width) {
  const std::string expected = std::to_string(width / 2) + " factors";
  if (keys.file().find(name) == nullptr) refuse_factors(keys, name, expected, "no such tensor");
  std::vector<double> factors = keys.file().load(name).to_vector();
  if (std::ssize(factors) * 2 != width) {
    refuse_factors(keys, name, expected + ", one for two numbers of a head", std::to_string(factors.size()));
  }
  return factors;
}

// Llama 3's scaling that has these factors.
Json llama3_of(const files::GgufKeys& keys, std::int64_t width, double base) {
  const std::vector<double> factors = factors_in(keys, kFactors, width);
  const double factor = *std::ranges::max_element(factors);
  const std::vector<double> plain = rotary_frequencies({.dim = width, .base = base});
  std::vector<Ramp> ramp;
  for (std::size_t n = 0; n < factors.size(); ++n) {
    if (!(factors[n] > 1) || !(factors[n] < factor)) continue;
    ramp.push_back({plain[n] / (2 * std::numbers::pi), (1 / factors[n] - 1 / factor) / (1 - 1 / factor)});
  }
  for (const Llama3Scaling& scaling : fitted_to(ramp, factor)) {
    if (!(factor > 0) || !makes(scaling, factors, width, base)) continue;
    return {{"rope_type", "llama3"},
            {"factor", scaling.factor},
            {"low_freq_factor", scaling.low_freq_factor},
            {"high_freq_factor", scaling.high_freq_factor},
            {"original_max_position_embeddings", scaling.original_max}};
  }
  refuse_factors(keys, kFactors, "the factors of Llama 3's rotary scaling", "others, which qkv does not compute");
}

Json yarn_of(const files::GgufKeys& keys, double factor) {
  const auto key = [&](const char* name) { return key_of(keys, std::string("rope.scaling.") + name); };
  Json rope = {{"rope_type", "yarn"},
               {"factor", factor},
               {"original_max_position_embeddings",
                keys.integer(key("original_context_length"), keys.integer(key_of(keys, "context_length")))},
               {"beta_fast", keys.number(key("yarn_beta_fast"), 32)},
               {"beta_slow", keys.number(key("yarn_beta_slow"), 1)}};
  // There the factor is a product with what `transformers` takes by itself.
  const std::string attention = keys.has(key("yarn_attn_factor")) ? key("yarn_attn_factor") : key("attn_factor");
  if (const double own = keys.number(attention, 1); own != 1) {
    rope["attention_factor"] = own * (1 + 0.1 * std::log(factor));
  }
  return rope;
}

// Texts of up to `original` tokens turn by the first factors, longer ones by the others.
Json longrope_of(const files::GgufKeys& keys, std::int64_t width) {
  const std::int64_t longest = keys.integer(key_of(keys, "context_length"));
  const std::string original_key = key_of(keys, "rope.scaling.original_context_length");
  const std::int64_t original = keys.integer(original_key, longest);
  if (original < 2) keys.refuse(original_key, "2 or more");
  const auto decimals_in = [&](const char* name) {
    std::vector<double> factors = factors_in(keys, name, width);
    std::ranges::transform(factors, factors.begin(), files::decimals_of_f32);
    return factors;
  };
  Json rope = {{"rope_type", "longrope"},
               {"original_max_position_embeddings", original},
               {"long_factor", decimals_in(kLongFactors)},
               {"short_factor", decimals_in(kShortFactors)}};
  // `attention_factor` is left out where it is what `transformers` takes by itself, to the digits of an f32.
  const double factor = static_cast<double>(longest) / static_cast<double>(original);
  const double usual = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(original)));
  const std::string magnitude = key_of(keys, "rope.scaling.attn_factor");
  const double own = keys.number(magnitude, 1);
  if (!(own > 0)) keys.refuse(magnitude, "a number above 0");
  if (std::fabs(own / usual - 1) > 1e-6) rope["attention_factor"] = own;
  return rope;
}

// By how much positions are stretched. Files of before 2024 call it scale_linear; 0 is none.
double stretch_of(const files::GgufKeys& keys) {
  const std::string now = key_of(keys, "rope.scaling.factor");
  const std::string key = keys.has(now) ? now : key_of(keys, "rope.scale_linear");
  const double factor = keys.number(key, 1);
  if (factor < 0) keys.refuse(key, "more than 0");
  return factor == 0 ? 1 : factor;
}

// A scaling that the metadata say beside factors in a tensor would come on top of them.
void require_no_stretch(const files::GgufKeys& keys, const std::string& type, double factor, const char* tensor) {
  const std::string key = key_of(keys, "rope.scaling.factor");
  if (type == "none" || factor == 1) return;
  keys.refuse(keys.has(key) ? key : key_of(keys, "rope.scale_linear"),
              "1 beside " + std::string(tensor) + ": qkv computes one scaling");
}

}  // namespace

Json gguf_rope(const files::GgufKeys& keys, std::int64_t width, double usual_base) {
  const double base = keys.number(key_of(keys, "rope.freq_base"), usual_base);
  if (!(base > 0)) keys.refuse(key_of(keys, "rope.freq_base"), "more than 0");
  const std::string key = key_of(keys, "rope.scaling.type");
  const std::string type = keys.text(key, "linear");
  const double factor = stretch_of(keys);
  Json rope = {{"rope_type", "default"}};
  if (keys.file().find(kFactors) != nullptr) {
    require_no_stretch(keys, type, factor, kFactors);
    if (width < 2 || width % 2 != 0) keys.refuse(key_of(keys, "rope.dimension_count"), "an even number");
    rope = llama3_of(keys, width, base);
  } else if (keys.file().find(kLongFactors) != nullptr) {
    require_no_stretch(keys, type, factor, kLongFactors);
    rope = longrope_of(keys, width);
  } else if (type == "yarn") {
    rope = yarn_of(keys, factor);
  } else if (type != "none" && type != "linear") {
    keys.refuse(key, "none, linear or yarn");
  } else if (type == "linear" && (keys.has(key) || factor != 1)) {
    rope = {{"rope_type", "linear"}, {"factor", factor}};
  }
  rope["rope_theta"] = base;
  return rope;
}

}  // namespace qkv::families
