#include "model/families/gguf_sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/found.h"
#include "files/gguf_header.h"
#include "files/gguf_keys.h"
#include "files/mapped_file.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

constexpr std::string_view kSamplingKeys = "general.sampling.";
constexpr std::array<std::string_view, 4> kWordsOfDraw = {"temp", "top_k", "top_p", "min_p"};
constexpr std::int64_t kPenaltyOfAll = -1;  // of penalty_last_n

// Values with which a word asks for nothing; xtc_threshold, mirostat_tau and mirostat_eta count beside another alone.
constexpr std::array<std::string_view, 2> kSamplingOffAtZero = {"mirostat", "xtc_probability"};
struct SamplingCompanion {
  std::string_view word;
  std::string_view of;
};
constexpr std::array<SamplingCompanion, 3> kSamplingCompanions = {
    {{"xtc_threshold", "xtc_probability"}, {"mirostat_tau", "mirostat"}, {"mirostat_eta", "mirostat"}}};

class Sampling {
 public:
  explicit Sampling(const std::string& path)
      : path_(path), metadata_(files::parse_gguf_scalars(files::map_file(path).bytes, path)) {}

  // The words behind general.sampling.
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> all;
    for (auto one = metadata_.lower_bound(kSamplingKeys);
         one != metadata_.end() && one->first.starts_with(kSamplingKeys); ++one) {
      all.push_back(one->first.substr(kSamplingKeys.size()));
    }
    return all;
  }
  [[nodiscard]] bool has(std::string_view word) const { return metadata_.contains(key_of_word(word)); }

  [[nodiscard]] std::optional<double> number(std::string_view word) const {
    const auto found = metadata_.find(key_of_word(word));
    if (found == metadata_.end()) return std::nullopt;
    const GgufValue& value = found->second;
    if (const auto* whole = std::get_if<std::int64_t>(&value.value)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value.value);
    if (real == nullptr || !std::isfinite(*real)) refuse(word, "a number");
    return value.type == "f32" ? files::decimals_of_f32(*real) : *real;
  }

  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view word) const {
    constexpr double kMostWhole = std::int64_t{1} << 31;
    const std::optional<double> value = number(word);
    if (value && (std::abs(*value) > kMostWhole || *value != std::floor(*value))) refuse(word, "a whole number");
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }

  [[nodiscard]] std::string shown(std::string_view word) const {
    const std::string key = key_of_word(word);
    return key + " " + files::gguf_value_text(metadata_.find(key)->second);
  }

 private:
  static std::string key_of_word(std::string_view word) { return std::string(kSamplingKeys) + std::string(word); }

  [[noreturn]] void refuse(std::string_view word, const std::string& expected) const {
    const std::string key = key_of_word(word);
    throw FileError(path_,
                    key + ": expected " + expected + ", got " + files::gguf_value_text(metadata_.find(key)->second));
  }

  std::string path_;
  GgufMetadata metadata_;
};

bool is_sampling_off(const Sampling& sampling, std::string_view word) {
  if (std::ranges::find(kSamplingOffAtZero, word) != kSamplingOffAtZero.end()) return sampling.number(word) == 0;
  const auto* const companion = core::found_in(kSamplingCompanions, word, &SamplingCompanion::word);
  return companion != nullptr && (!sampling.has(companion->of) || is_sampling_off(sampling, companion->of));
}

}  // namespace

GenerateOptions gguf_draw_options(const std::string& path) {
  constexpr std::int64_t kUsualTopK = 50;
  const Sampling sampling(path);
  GenerateOptions draw;
  if (sampling.integer("penalty_last_n") != 0) draw.repetition_penalty = sampling.number("penalty_repeat").value_or(1);
  const auto has = [&](std::string_view word) { return sampling.has(word); };
  const double temperature = sampling.number("temp").value_or(1);
  if (std::ranges::none_of(kWordsOfDraw, has) || temperature <= 0) return draw;
  draw.temperature = temperature;
  draw.top_k = std::max<std::int64_t>(sampling.integer("top_k").value_or(kUsualTopK), 0);
  draw.top_p = sampling.number("top_p").value_or(1);
  draw.min_p = sampling.number("min_p").value_or(0);
  return draw;
}

std::vector<std::string> unheeded_in_gguf(const std::string& path) {
  const Sampling sampling(path);
  const bool has_penalty = sampling.number("penalty_repeat").value_or(1) != 1;
  std::vector<std::string> all;
  for (const std::string& word : sampling.words()) {
    if (std::ranges::find(kWordsOfDraw, word) != kWordsOfDraw.end() || word == "penalty_repeat") continue;
    if (word == "penalty_last_n") {
      const std::optional<std::int64_t> last = sampling.integer(word);
      if (!has_penalty || last == kPenaltyOfAll || last == 0) continue;
    } else if (is_sampling_off(sampling, word)) {
      continue;
    }
    all.push_back(sampling.shown(word));
  }
  return all;
}

}  // namespace qkv::families
