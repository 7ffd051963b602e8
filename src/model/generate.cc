#include "qkv/model/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "model/require_prompt.h"
#include "qkv/error.h"
#include "qkv/random.h"

namespace qkv {
namespace {

constexpr const char* kGenerate = "generate";

// The token where the shares of those before it, to the power 1 / temperature, pass `draw` of the whole.
std::int64_t drawn(std::vector<double> scores, double temperature, double draw) {
  const double top = *std::ranges::max_element(scores);
  for (double& score : scores) score = std::exp((score - top) / temperature);
  double left = draw * std::accumulate(scores.begin(), scores.end(), 0.0);
  std::size_t token = 0;
  while (token + 1 < scores.size() && left >= scores[token]) left -= scores[token++];
  return static_cast<std::int64_t>(token);
}

/// Chooses the next token of each text.
class Choice {
 public:
  Choice(const GenerateOptions& options, std::int64_t texts) : options_(options) {
    if (options.temperature == 0) return;
    Generator generator(options.seed);
    draws_ = generator.rand({std::max<std::int64_t>(options.most, 1), texts}, DType::f64).to_vector();
  }

  std::vector<std::int64_t> operator()(const TensorView& scores) {
    std::vector<std::int64_t> tokens;
    if (options_.end && (*options_.end < 0 || *options_.end >= scores.dim(2))) {
      refuse("end", scores.dim(2), *options_.end);
    }
    std::vector<double> row(static_cast<std::size_t>(scores.dim(2)));
    for (std::int64_t b = 0; b < scores.dim(0); ++b) {
      scores.load_row(std::array<std::int64_t, 2>{b, scores.dim(1) - 1}, row);
      leave_out(row);
      const bool is_greedy = options_.temperature == 0;
      tokens.push_back(is_greedy ? std::ranges::max_element(row) - row.begin()
                                 : drawn(row, options_.temperature, draws_[next_draw_++]));
    }
    return tokens;
  }

 private:
  void leave_out(std::vector<double>& scores) const {
    const auto count = static_cast<std::int64_t>(scores.size());
    for (const std::int64_t token : options_.never) {
      if (token < 0 || token >= count) refuse("never", count, token);
      scores[static_cast<std::size_t>(token)] = -std::numeric_limits<double>::infinity();
    }
    if (std::ranges::max(scores) == -std::numeric_limits<double>::infinity()) {
      throw InvalidArgument(kGenerate, "never", "a token that may be written", "all " + std::to_string(count));
    }
  }

  [[noreturn]] static void refuse(const char* argument, std::int64_t count, std::int64_t token) {
    throw InvalidArgument(kGenerate, argument, "a token from 0 to " + std::to_string(count - 1), std::to_string(token));
  }

  const GenerateOptions& options_;
  std::vector<double> draws_;
  std::size_t next_draw_ = 0;
};

}  // namespace

void require_prompt(const TensorView& prompt, const GenerateOptions& options) {
  if (prompt.rank() != 2 || prompt.dim(1) == 0 || (prompt.dtype() != DType::i64 && prompt.dtype() != DType::i32)) {
    throw InvalidArgument(kGenerate, "prompt", "i64 or i32 [B, T] of one token or more",
                          std::string(name_of(prompt.dtype())) + " " + prompt.shape().to_string());
  }
  if (options.most < 0) throw InvalidArgument(kGenerate, "most", "0 or more", std::to_string(options.most));
  if (!(options.temperature >= 0)) {
    throw InvalidArgument(kGenerate, "temperature", "0 or more", std::to_string(options.temperature));
  }
  if (options.window.value_or(1) < 1) {
    throw InvalidArgument(kGenerate, "window", "1 or more", std::to_string(*options.window));
  }
}

NewTokens generate(const TensorView& prompt, const GenerateOptions& options, const NextScores& scores) {
  require_prompt(prompt, options);
  const NoGradient constant;
  Tensor ids(prompt);
  const auto texts = static_cast<std::size_t>(prompt.dim(0));
  Choice choose(options, prompt.dim(0));
  NewTokens written(texts);
  std::vector<bool> has_ended(texts);
  for (std::int64_t n = 0; n < options.most && std::ranges::count(has_ended, false) > 0; ++n) {
    const std::vector<std::int64_t> next = choose(scores(ids).value());
    for (std::size_t b = 0; b < texts; ++b) {
      has_ended[b] = has_ended[b] || next[b] == options.end;
      if (!has_ended[b]) written[b].push_back(next[b]);
    }
    ids = Tensor(next, {prompt.dim(0), 1});
  }
  return written;
}

}  // namespace qkv
