// Beam search against all texts that there are.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "qkv/model/decoder.h"
#include "qkv/model/encoder_decoder.h"
#include "qkv/model/generate.h"

namespace qkv::beams_test {
namespace {

using Tokens = std::vector<std::int64_t>;

Decoder small_decoder(std::uint64_t seed) {
  Generator generator(seed);
  // Scores that differ: a small model says all tokens alike.
  const Decoder decoder({.vocabulary = 5, .length = 8, .layers = 1, .d_model = 8, .heads = 2, .tied = false},
                        generator);
  for (const Parameter& parameter : decoder.parameters()) {
    if (parameter.name == "output.weight") assign(decoder.parameters(), parameter.name, generator.randn({5, 8}));
  }
  return decoder;
}

// The sum of the logarithms of a text's probabilities after the prompt, each said of the last `window` tokens.
double score_of(const Decoder& decoder, const Tokens& prompt, const Tokens& written, std::size_t window) {
  Tokens all = prompt;
  all.insert(all.end(), written.begin(), written.end());
  const NoGradient constant;
  double sum = 0;
  for (std::size_t n = prompt.size(); n < all.size(); ++n) {
    const std::size_t first = n > window ? n - window : 0;
    const Tokens seen(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(n));
    const Variable scores = decoder.forward(Tensor(seen, {1, std::ssize(seen)}));
    const std::vector<double> row = scores.value().select(0, 0).select(0, std::ssize(seen) - 1).to_vector();
    double whole = 0;
    for (const double score : row) whole += std::exp(score);
    sum += row[static_cast<std::size_t>(all[n])] - std::log(whole);
  }
  return sum;
}

// The best of all texts of at most `most` tokens that `end` ends, or that are as long, by score / length^penalty.
Tokens best_of_all(const Decoder& decoder, const Tokens& prompt, std::int64_t most, std::int64_t end, double penalty,
                   std::size_t window = 64) {
  Tokens best;
  double best_score = -1e9;
  const auto grow = [&](const auto& self, const Tokens& text) -> void {
    const bool is_whole = !text.empty() && (text.back() == end || static_cast<std::int64_t>(text.size()) == most);
    if (is_whole) {
      const double score =
          score_of(decoder, prompt, text, window) / std::pow(static_cast<double>(text.size()), penalty);
      if (score <= best_score) return;
      best_score = score;
      best = text;
      if (best.back() == end) best.pop_back();
      return;
    }
    for (std::int64_t token = 0; token < 5; ++token) {
      Tokens next = text;
      next.push_back(token);
      self(self, next);
    }
  };
  grow(grow, {});
  return best;
}

TEST(Beams, ThatHoldAllTextsFindTheBest) {
  const Tokens prompt = {1, 2};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Decoder decoder = small_decoder(seed);
    for (const double penalty : {0.0, 1.0}) {
      const NewTokens written =
          decoder.generate(Tensor(prompt, {1, 2}), {.ends = {4}, .most = 3, .beams = 125, .length_penalty = penalty});
      EXPECT_EQ(written.at(0), best_of_all(decoder, prompt, 3, 4, penalty)) << seed << ", penalty " << penalty;
    }
  }
}

TEST(Beams, SeeTheWindowOfTheirOwnTexts) {
  const Tokens prompt = {1, 2, 0};
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Decoder decoder = small_decoder(seed);
    GenerateOptions options{.ends = {4}, .most = 3, .beams = 125, .window = 2};
    const Tokens written = decoder.generate(Tensor(prompt, {1, 3}), options).at(0);
    EXPECT_EQ(written, best_of_all(decoder, prompt, 3, 4, 1, 2)) << seed;
    options.window.reset();
    differs = differs || written != decoder.generate(Tensor(prompt, {1, 3}), options).at(0);
  }
  EXPECT_TRUE(differs) << "the window changes nothing here";
}

TEST(Beams, OfSeveralTextsAreThoseOfEach) {
  const Decoder decoder = small_decoder(3);
  const GenerateOptions options{.ends = {4}, .most = 6, .beams = 3};
  const NewTokens both = decoder.generate(Tensor(Tokens{1, 2, 3, 0}, {2, 2}), options);
  EXPECT_EQ(both.at(0), decoder.generate(Tensor(Tokens{1, 2}, {1, 2}), options).at(0));
  EXPECT_EQ(both.at(1), decoder.generate(Tensor(Tokens{3, 0}, {1, 2}), options).at(0));
}

TEST(Beams, KeepTheirSources) {
  Generator generator(5);
  const EncoderDecoder model({.source_vocabulary = 7,
                              .vocabulary = 9,
                              .source_length = 6,
                              .length = 8,
                              .encoder_layers = 1,
                              .layers = 1,
                              .d_model = 16,
                              .heads = 2},
                             generator);
  const Tensor source(Tokens{1, 2, 3, 4, 5, 6, 1, 1}, {2, 4});
  const Tensor begin(Tokens{0, 0}, {2, 1});
  const GenerateOptions options{.ends = {8}, .most = 5, .beams = 4};
  const NewTokens both = model.generate({.ids = source, .lengths = {4, 2}}, begin, options);
  const Tensor second(Tokens{5, 6}, {1, 2});
  EXPECT_EQ(both.at(1), model.generate({.ids = second}, Tensor(Tokens{0}, {1, 1}), options).at(0));
}

}  // namespace
}  // namespace qkv::beams_test
