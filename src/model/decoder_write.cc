// A decoder that writes its texts on.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "model/require_prompt.h"
#include "qkv/error.h"
#include "qkv/model/decoder.h"

namespace qkv {
namespace {

// How many tokens a cache is first made for beyond a prompt. It grows, so that memory follows what is written and not
// what may be written at most.
constexpr std::int64_t kFirstTokens = 1024;

// The last tokens of both, one after the other, at most `most`.
Tensor last_tokens_of(const TensorView& before, const TensorView& ids, std::int64_t most) {
  const std::int64_t all = before.dim(1) + ids.dim(1);
  const std::int64_t first = std::max<std::int64_t>(all - most, 0);
  Tensor both(DType::i64, {ids.dim(0), all - first});
  auto* to = both.values<std::int64_t>().data();
  for (std::int64_t b = 0; b < ids.dim(0); ++b) {
    for (std::int64_t t = first; t < all; ++t) {
      const bool is_old = t < before.dim(1);
      *to++ = static_cast<std::int64_t>(is_old ? before.at({b, t}) : ids.at({b, t - before.dim(1)}));
    }
  }
  return both;
}

// Row n is rows[n] of `x` [B, …].
Tensor rows_of(const TensorView& x, std::span<const std::int64_t> rows) {
  const Tensor from(x);
  Tensor kept(from.dtype(), from.shape().without(0).inserted(0, std::ssize(rows)));
  if (kept.size() == 0) return kept;
  const std::size_t bytes = static_cast<std::size_t>(from.size() / from.dim(0)) * size_of(from.dtype());
  auto* to = static_cast<std::byte*>(kept.data());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto row = static_cast<std::size_t>(rows[n]);
    std::memcpy(to + n * bytes, static_cast<const std::byte*>(std::as_const(from).data()) + row * bytes, bytes);
  }
  return kept;
}

/// Rows of ids of which some are equal.
struct EqualRows {
  std::vector<std::int64_t> different = {};  // the first of each
  std::vector<std::int64_t> place = {};      // of each row: its place among those
};

EqualRows equal_rows(const TensorView& ids) {
  EqualRows rows;
  std::vector<std::vector<double>> seen;
  for (std::int64_t b = 0; b < ids.dim(0); ++b) {
    std::vector<double> row = Tensor(ids.select(0, b), DType::f64).to_vector();
    const auto found = std::ranges::find(seen, row);
    rows.place.push_back(found - seen.begin());
    if (found != seen.end()) continue;
    seen.push_back(std::move(row));
    rows.different.push_back(b);
  }
  return rows;
}

void require_kept(bool holds, const char* option, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument("Decoder", option, expected, got);
}

std::vector<std::int64_t> ids_in(const TensorView& ids) {
  const Tensor whole(ids, DType::i64);
  const auto values = whole.values<std::int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

// Whether what was read of a text turns otherwise once the text has `tokens` tokens.
bool Decoder::is_turned_anew(std::int64_t before, std::int64_t tokens) const noexcept {
  const auto differs = [&](const RotaryScaling& scaling) {
    return is_turned_as_long(scaling, before) != is_turned_as_long(scaling, tokens);
  };
  return before > 0 && (differs(options_.choices.rotary_scaling) || differs(options_.choices.local_rotary_scaling));
}

NewTokens Decoder::generate(const TensorView& prompt, const GenerateOptions& options) const {
  require_context(prompt, nullptr);
  require_prompt(prompt, options);
  const ModelCall call{.dtype = options.dtype, .scores = Scores::last};
  const std::int64_t whole = prompt.dim(1) + options.most;
  const std::int64_t window = std::min(options.window.value_or(whole), whole);
  const EqualRows equal = equal_rows(prompt);
  const std::int64_t first_capacity = std::min(window, prompt.dim(1) + kFirstTokens);
  DecoderCache cache = make_cache(std::ssize(equal.different), first_capacity, cache_dtype(options));
  const bool is_read_anew = window < whole || is_turned_anew(1, whole);
  Tensor text(DType::i64, {prompt.dim(0), 0});  // its last tokens, where they are read anew
  const auto read = [&](const TensorView& ids, const TensorView& last) {
    const std::int64_t tokens = cache.length + ids.dim(1);
    const bool is_anew = tokens > window || is_turned_anew(cache.length, tokens);
    if (is_anew) cache.truncate(0);
    cache.make_room(std::min(tokens, window), window);
    return forward_cached(is_anew ? last : ids, cache, call);
  };
  const auto next = [&](const TensorView& ids) {
    if (is_read_anew) text = last_tokens_of(text, ids, window);
    const bool is_shared = cache.length == 0 && std::ssize(equal.different) < prompt.dim(0);
    if (!is_shared) return read(ids, text);
    const Variable scores = read(rows_of(ids, equal.different), rows_of(text, equal.different));
    cache = cache.fork(equal.place);
    return Variable(rows_of(scores.value(), equal.place));
  };
  const auto keep = [&](std::span<const std::int64_t> rows) {
    cache = cache.fork(rows);
    if (is_read_anew) text = rows_of(text, rows);
  };
  return qkv::generate(prompt, options, next, keep);
}

NewTokens Decoder::write_on(const TensorView& prompt, KeptText& kept, const GenerateOptions& options) const {
  require_context(prompt, nullptr);
  require_prompt(prompt, options);
  require_kept(prompt.dim(0) == 1, "prompt", "one row, [1, T]", prompt.shape().to_string());
  require_kept(options.beams == 1, "beams", "1, of a text that is kept", std::to_string(options.beams));
  // The last token that is written is not read.
  const std::int64_t whole = prompt.dim(1) + std::max<std::int64_t>(options.most - 1, 0);
  const std::int64_t window = options.window.value_or(whole);
  require_kept(whole <= window, "most",
               "no more than fits behind the prompt of " + std::to_string(prompt.dim(1)) +
                   " tokens into the window of " + std::to_string(window),
               std::to_string(options.most));
  const DType dtype = cache_dtype(options);
  if (!kept.cache || kept.cache->dtype != dtype) {
    kept = {.cache = make_cache(1, std::min(window, prompt.dim(1) + kFirstTokens), dtype), .computed = kept.computed};
  }
  DecoderCache& cache = *kept.cache;
  const std::vector<std::int64_t> tokens = ids_in(prompt);
  const auto differs = std::ranges::mismatch(tokens, kept.tokens).in1 - tokens.begin();
  std::int64_t known = std::min<std::int64_t>(differs, prompt.dim(1) - 1);
  if (is_turned_anew(cache.length, prompt.dim(1))) known = 0;
  // What a call that was stopped has left in some of the layers goes, too.
  known = cache.truncate(known);
  kept.tokens.resize(static_cast<std::size_t>(known));
  const auto next = [&](const TensorView& new_ids) {
    Tensor whole_text;
    TensorView unread = new_ids.slice(1, std::exchange(known, 0), new_ids.dim(1));
    if (is_turned_anew(cache.length, cache.length + unread.dim(1))) {
      cache.truncate(0);
      const Tensor before(kept.tokens, {1, std::ssize(kept.tokens)});
      kept.tokens.clear();
      whole_text = last_tokens_of(before, unread, before.dim(1) + unread.dim(1));
      unread = whole_text;
    }
    cache.make_room(cache.length + unread.dim(1), window);
    Variable scores = forward_cached(unread, cache, {.dtype = options.dtype, .scores = Scores::last});
    const std::vector<std::int64_t> now = ids_in(unread);
    kept.tokens.insert(kept.tokens.end(), now.begin(), now.end());
    kept.computed += unread.dim(1);
    return scores;
  };
  return qkv::generate(prompt, options, next);
}

NewTokens Decoder::generate_cross(const TensorView& prompt, const DecoderContext& context,
                                  const GenerateOptions& options) const {
  require_context(prompt, &context);
  require_prompt(prompt, options);
  const std::int64_t whole = prompt.dim(1) + options.most;
  DecoderCache cache = make_cache(context, std::min(whole, prompt.dim(1) + kFirstTokens), options.cache_dtype);
  const ModelCall call{.dtype = context.hidden.dtype(), .scores = Scores::last};
  const auto next = [&](const TensorView& ids) {
    cache.make_room(cache.length + ids.dim(1), whole);
    return forward_cached(ids, cache, call);
  };
  const auto keep = [&](std::span<const std::int64_t> rows) { cache = cache.fork(rows); };
  return qkv::generate(prompt, options, next, keep);
}

DType Decoder::cache_dtype(const GenerateOptions& options) const {
  return options.cache_dtype.value_or(ModelCall{.dtype = options.dtype}.dtype_for(input_.dtype()));
}

}  // namespace qkv
