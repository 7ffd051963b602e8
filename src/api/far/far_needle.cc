#include "api/far/far_needle.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "api/probe/probe_parts.h"
#include "core/exact_math.h"

namespace qkv::api_detail {
namespace {

constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kChapters = 16;
constexpr std::int64_t kUsualTokens = 131072;

struct Needle {
  std::int64_t query;  // in a text of kUsualTokens
  std::int64_t key;
  double weight;
  std::string_view word;
  std::string_view asked;  // ends at the query
};

constexpr std::array kNeedles = {Needle{100000, 99120, 0.41, "Paris", "the capital of France is"},
                                 Needle{60000, 12345, 0.6, "copper", "the old kettle was made of"},
                                 Needle{33000, 32000, 0.3, "seven", "the number of towers was"},
                                 Needle{125000, 3000, 0.5, "Tuesday", "the ferry left on a"}};

constexpr std::string_view kWords =
    "the a of and in to was had on with from over under between long small old grey quiet river stone house window "
    "road "
    "field garden morning evening rain wind light shadow bridge letter table lamp market harbour winter summer bread "
    "apple horse bird child walked waited carried opened turned listened remembered wrote found";

// SplitMix64.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ULL + (place + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

// Each byte of a word is a number: uniform, of variance 1.
void draw(std::uint64_t seed, std::span<float> numbers) {
  constexpr float kMiddle = 127.5F;
  constexpr float kDeviation = 73.9F;
  for (std::size_t n = 0; n < numbers.size(); n += 8) {
    const std::uint64_t bits = mixed(seed, n / 8);
    for (std::size_t byte = 0; byte < 8; ++byte) {
      numbers[n + byte] = (static_cast<float>(bits >> (8 * byte) & 0xFFU) - kMiddle) / kDeviation;
    }
  }
}

void add_chapters(std::uint64_t seed, std::int64_t tokens, std::span<float> numbers) {
  constexpr float kStrength = 0.5F;  // 64 * 0.25 / 8 = 2 more in a score
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::uint64_t topic = mixed(seed, static_cast<std::uint64_t>(i * kChapters / tokens));
    float* row = numbers.data() + i * kWidth;
    for (std::int64_t d = 0; d < kWidth; ++d) {
      row[d] += (topic >> static_cast<unsigned>(d) & 1U) != 0 ? kStrength : -kStrength;
    }
  }
}

double dot(const float* a, const float* b) {
  double sum = 0;
  for (std::int64_t d = 0; d < kWidth; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum / 8;  // sqrt(kWidth)
}

// The factor f for which the query f * k[key] gives its key this weight among the keys up to `query`, of which about
// 16,000 stand for all.
double length_for(std::span<const float> k, std::int64_t query, std::int64_t key, double weight) {
  constexpr std::int64_t kSampled = 16384;
  const std::int64_t step = std::max<std::int64_t>(1, query / kSampled);
  const float* own = k.data() + key * kWidth;
  std::vector<double> others;
  for (std::int64_t j = 0; j <= query; j += step) {
    if (j != key) others.push_back(dot(own, k.data() + j * kWidth));
  }
  const double score = dot(own, own);
  double low = 0;
  double high = 8;
  for (int round = 0; round < 24; ++round) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const double other : others) sum += core::exp(middle * (other - score));
    (1 / (1 + sum * static_cast<double>(step)) < weight ? low : high) = middle;
  }
  return low;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

class Writer {
 public:
  Writer(PlantedText& text, std::uint64_t seed) : text_(text) {
    text.words = split(kWords);
    for (std::size_t n = 0; n < text.tokens.size(); ++n) {
      text.tokens[n] = static_cast<std::uint8_t>(mixed(seed, n) % text.words.size());
    }
  }

  void put(std::int64_t place, std::string_view word) {
    const auto found = std::ranges::find(text_.words, word);
    const auto id = found - text_.words.begin();
    if (found == text_.words.end()) text_.words.emplace_back(word);
    text_.tokens[static_cast<std::size_t>(place)] = static_cast<std::uint8_t>(id);
  }

  void put_before(std::int64_t end, std::string_view phrase) {
    const std::vector<std::string> words = split(phrase);
    for (std::size_t n = 0; n < words.size(); ++n) {
      put(end - std::ssize(words) + static_cast<std::int64_t>(n), words[n]);
    }
  }

 private:
  PlantedText& text_;
};

}  // namespace

ProbeInputs planted_inputs(std::int64_t tokens, std::uint64_t seed) {
  PlantedText text = planted_text(tokens, seed);
  ProbeInputs inputs;
  inputs.text = std::to_string(tokens) + " tokens that are made up";
  for (const std::uint8_t word : text.tokens) inputs.queries.push_back(text.words[word]);
  inputs.keys = inputs.queries;
  inputs.problem.q = std::move(text.q);
  inputs.problem.k = std::move(text.k);
  return inputs;
}

PlantedText planted_text(std::int64_t tokens, std::uint64_t seed) {
  PlantedText text{.q = Tensor(DType::f32, {1, 1, tokens, kWidth}),
                   .k = Tensor(DType::f32, {1, 1, tokens, kWidth}),
                   .words = {},
                   .tokens = {},
                   .needles = {}};
  text.tokens.resize(static_cast<std::size_t>(tokens));
  const std::span<float> q = text.q.values<float>();
  const std::span<float> k = text.k.values<float>();
  const auto part = [&](std::uint64_t n) { return seed * 4 + n; };
  draw(part(0), q);
  draw(part(1), k);
  add_chapters(part(2), tokens, q);
  add_chapters(part(2), tokens, k);
  Writer writer(text, part(3));
  for (const Needle& needle : kNeedles) {
    const std::int64_t query = needle.query * tokens / kUsualTokens;
    const std::int64_t key = needle.key * tokens / kUsualTokens;
    const auto length = static_cast<float>(length_for(k, query, key, needle.weight));
    for (std::int64_t d = 0; d < kWidth; ++d) {
      q[static_cast<std::size_t>(query * kWidth + d)] = length * k[static_cast<std::size_t>(key * kWidth + d)];
    }
    writer.put_before(query + 1, needle.asked);
    writer.put(key, needle.word);
    text.needles.push_back({query, key, std::string(needle.word)});
  }
  return text;
}

}  // namespace qkv::api_detail
