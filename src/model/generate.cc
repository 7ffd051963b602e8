#include "qkv/model/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/beams.h"
#include "model/next_token.h"
#include "model/require_prompt.h"
#include "qkv/error.h"
#include "qkv/random.h"

namespace qkv {
namespace {

using generation::kGenerate;

/// The texts as they grow: each with its prompt, until it ends.
class Texts {
 public:
  Texts(const TensorView& prompt, const GenerateOptions& options)
      : options_(options),
        whole_(static_cast<std::size_t>(prompt.dim(0))),
        written_(whole_.size()),
        ended_(whole_.size()),
        generator_(options.seed) {
    const Tensor ids(prompt, DType::i64);
    for (std::size_t b = 0; b < whole_.size(); ++b) {
      const std::span<const std::int64_t> row = ids.values<std::int64_t>().subspan(b * count(prompt), count(prompt));
      whole_[b].assign(row.begin(), row.end());
    }
  }

  [[nodiscard]] bool all_ended() const { return std::ranges::find(ended_, false) == ended_.end(); }

  // Goes on by the scores [B, …, V] of the last place; the tokens that were chosen, [B, 1].
  Tensor go_on(const TensorView& scores) {
    std::vector<std::int64_t> next;
    std::vector<double> row(static_cast<std::size_t>(scores.dim(2)));
    generation::require_tokens(options_, scores.dim(2));
    // Drawn step by step: a text may end long before `most` tokens.
    std::vector<double> draws;
    if (options_.temperature > 0) draws = generator_.rand({scores.dim(0)}, DType::f64).to_vector();
    for (std::size_t b = 0; b < whole_.size(); ++b) {
      scores.load_row(std::array{static_cast<std::int64_t>(b), scores.dim(1) - 1}, row);
      generation::require_numbers(row);
      generation::change_scores(row, whole_[b], written_[b].empty(), options_);
      next.push_back(options_.temperature == 0 ? generation::likeliest(row)
                                               : generation::drawn(row, options_, draws[b]));
      add(b, next.back());
    }
    return {next, {static_cast<std::int64_t>(next.size()), 1}};
  }

  [[nodiscard]] NewTokens written() && { return std::move(written_); }

 private:
  static std::size_t count(const TensorView& prompt) { return static_cast<std::size_t>(prompt.dim(1)); }

  void add(std::size_t b, std::int64_t token) {
    ended_[b] = ended_[b] || std::ranges::find(options_.ends, token) != options_.ends.end();
    if (ended_[b]) return;
    whole_[b].push_back(token);
    written_[b].push_back(token);
    if (options_.written) ended_[b] = !options_.written(static_cast<std::int64_t>(b), token);
  }

  const GenerateOptions& options_;
  std::vector<std::vector<std::int64_t>> whole_;
  NewTokens written_;
  std::vector<bool> ended_;
  Generator generator_;
};

void require(bool holds, const char* option, const char* expected, const std::string& got) {
  if (!holds) throw InvalidArgument(kGenerate, option, expected, got);
}

void require_draws(const GenerateOptions& options) {
  const auto number = [](double value) { return fmt::format("{}", value); };
  require(std::isfinite(options.temperature) && options.temperature >= 0, "temperature", "a finite number, 0 or more",
          number(options.temperature));
  require(options.top_k >= 0, "top_k", "0 or more", std::to_string(options.top_k));
  require(options.top_p > 0 && options.top_p <= 1, "top_p", "more than 0 and at most 1", number(options.top_p));
  require(options.min_p >= 0 && options.min_p <= 1, "min_p", "0 to 1", number(options.min_p));
  require(std::isfinite(options.repetition_penalty) && options.repetition_penalty > 0, "repetition_penalty",
          "a finite number above 0", number(options.repetition_penalty));
  if (options.temperature > 0) return;
  const std::string likeliest = " without a `temperature` above 0";  // then nothing is drawn
  require(options.top_k == 0, "top_k", ("0" + likeliest).c_str(), std::to_string(options.top_k));
  require(options.top_p == 1, "top_p", ("1" + likeliest).c_str(), number(options.top_p));
  require(options.min_p == 0, "min_p", ("0" + likeliest).c_str(), number(options.min_p));
}

void require_beams(const GenerateOptions& options) {
  require(options.beams >= 1, "beams", "1 or more", std::to_string(options.beams));
  require(std::isfinite(options.length_penalty), "length_penalty", "a finite number",
          fmt::format("{}", options.length_penalty));
  if (options.beams == 1) return;
  require(options.temperature == 0, "temperature", "0 beside several beams", fmt::format("{}", options.temperature));
  require(!options.written, "written", "none beside several beams", "one");
}

}  // namespace

void require_prompt(const TensorView& prompt, const GenerateOptions& options) {
  if (prompt.rank() != 2 || prompt.dim(1) == 0 || (prompt.dtype() != DType::i64 && prompt.dtype() != DType::i32)) {
    throw InvalidArgument(kGenerate, "prompt", "i64 or i32 [B, T] of one token or more",
                          std::string(name_of(prompt.dtype())) + " " + prompt.shape().to_string());
  }
  require(options.most >= 0, "most", "0 or more", std::to_string(options.most));
  require(options.window.value_or(1) >= 1, "window", "1 or more", std::to_string(options.window.value_or(1)));
  const DType kept = options.cache_dtype.value_or(DType::f32);
  const bool is_kept_so = kept == DType::f32 || kept == DType::f16 || kept == DType::bf16 || kept == DType::i8;
  require(is_kept_so, "cache_dtype", "f32, f16, bf16 or i8", std::string(name_of(kept)));
  require_draws(options);
  require_beams(options);
}

NewTokens generate(const TensorView& prompt, const GenerateOptions& options, const NextScores& scores,
                   const KeepRows& keep) {
  require_prompt(prompt, options);
  const NoGradient constant;
  if (options.beams > 1) {
    require(static_cast<bool>(keep), "beams", "1, where rows cannot be kept", std::to_string(options.beams));
    return generation::search_beams(prompt, options, scores, keep);
  }
  Tensor ids(prompt);
  Texts texts(prompt, options);
  for (std::int64_t n = 0; n < options.most && !texts.all_ended(); ++n) ids = texts.go_on(scores(ids).value());
  return std::move(texts).written();
}

}  // namespace qkv
