// Writing a text on, token by token: the most likely one, or one that is drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

struct GenerateOptions {
  std::vector<std::int64_t> ends = {};  // tokens of which each ends a text
  std::int64_t most = 64;               // new tokens of a text, at most
  double temperature = 0;               // probabilities to the power 1 / temperature; 0: the most likely
  // What is drawn from, each narrowing what the one before leaves: the k likeliest and what equals the k-th (0: all),
  // the fewest likeliest that have a share of p together (Holtzman et al. 2020), those with a share of at least min_p
  // of the likeliest one's.
  std::int64_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  // Of a token that the text has, prompt included, a score above 0 is divided by this, another multiplied (Keskar et
  // al. 2019); 1: none.
  double repetition_penalty = 1;
  std::uint64_t seed = 0;  // of the draws
  // Texts that are followed at once, the likeliest, of which the best whole one is given: the sum of the logarithms of
  // its probabilities divided by its length, its end included, to the power length_penalty. As `transformers` does it.
  std::int64_t beams = 1;
  double length_penalty = 1;
  std::vector<std::int64_t> never = {};               // tokens that are not written
  std::vector<std::int64_t> never_first = {};         // likewise as the first after the prompt
  std::optional<std::int64_t> window = std::nullopt;  // tokens that a decoder without a context sees: the last ones
  std::optional<DType> dtype = std::nullopt;          // that a model computes in, as ModelCall says
  // That keys and values are kept in: f32, f16, bf16 or i8; what the model computes in where it is not given.
  std::optional<DType> cache_dtype = std::nullopt;
  // Told each token as it is written, with the number of its text; false ends the text after it. Not with beams.
  std::function<bool(std::int64_t text, std::int64_t token)> written = {};
};

/// How the authors of a folder mean its model to write: do_sample, temperature, top_k, top_p, min_p,
/// repetition_penalty, num_beams and length_penalty of generation_config.json, with the defaults of `transformers` (of
/// a draw a top_k of 50); of a GGUF file temp, top_k, top_p, min_p and penalty_repeat of general.sampling, a draw where
/// one of the first four is there, with the same defaults. GenerateOptions() where it says nothing, or for another
/// file. Throws Error naming the file and a word of another type.
[[nodiscard]] GenerateOptions draw_options_of(const std::string& folder);

/// What says so: "generation_config.json", or "metadata" of a GGUF file.
[[nodiscard]] std::string draw_options_source(const std::string& folder);

/// What else generation_config.json of a folder, or a GGUF file's general.sampling, asks for that generate() does not
/// do, each with its value: "no_repeat_ngram_size 3". Left out are words that change no token (names, caches, outputs),
/// the tokens of begin, end and padding, and values with which a word asks for nothing. Empty for another file. Throws
/// as draw_options_of().
[[nodiscard]] std::vector<std::string> unheeded_in_generation(const std::string& folder);

/// New tokens of each text, without those of the prompt and without the end.
using NewTokens = std::vector<std::vector<std::int64_t>>;

/// Reads on: scores [B, 1, vocabulary] of the token after the last of ids [B, T], which come after those of the calls
/// before.
using NextScores = std::function<Variable(const TensorView& ids)>;
/// Lets row n of the next call go on from row rows[n] of the last one; there may be more rows than before.
using KeepRows = std::function<void(std::span<const std::int64_t> rows)>;

/// Goes on from prompt [B, T] of i64 or i32, T > 0. Of equal scores the first token wins. Nothing is recorded. Throws
/// InvalidArgument naming prompt, or the option that has no meaning: of several beams, a temperature, `written`, or no
/// `keep`.
[[nodiscard]] NewTokens generate(const TensorView& prompt, const GenerateOptions& options, const NextScores& scores,
                                 const KeepRows& keep = {});

}  // namespace qkv
