#include "qkv/model/embed.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "model/mask_token.h"
#include "model/require_finite.h"
#include "qkv/error.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

constexpr const char* kEmbed = "embed_texts";
constexpr const char* kFill = "fill_masks";
constexpr std::size_t kTokensOfAPass = 4096;
// Of an encoder: enough rows for products at their full rate, and few enough for states to stay in a cache.
constexpr std::size_t kJoinedTokens = 256;

const Tokenizer& tokenizer_of(const Model& model, const char* function) {
  if (model.tokenizers().tokens) return *model.tokenizers().tokens;
  throw InvalidArgument(function, "model", "one with a tokenizer", "one without");
}

std::string text_number(std::size_t n) { return "texts[" + std::to_string(n) + "]"; }

// Leaves out tokens of the text itself, so that those of a template stay.
void shorten(Encoding& encoding, std::int64_t length, CutAt side) {
  const auto is_text = [&](std::size_t n) { return encoding.sources[n] != TokenSource::added; };
  std::size_t spare = encoding.ids.size() - std::min(encoding.ids.size(), static_cast<std::size_t>(length));
  std::vector<bool> left_out(encoding.ids.size());
  for (std::size_t step = 0; step < encoding.ids.size() && spare > 0; ++step) {
    const std::size_t n = side == CutAt::beginning ? step : encoding.ids.size() - 1 - step;
    if (!is_text(n)) continue;
    left_out[n] = true;
    --spare;
  }
  Encoding rest;
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    if (left_out[n]) continue;
    rest.ids.push_back(encoding.ids[n]);
    rest.sources.push_back(encoding.sources[n]);
    if (n < encoding.types.size()) rest.types.push_back(encoding.types[n]);
  }
  encoding = std::move(rest);
}

Encoding encoding_of(const Tokenizer& tokenizer, const std::string& text, const std::string& place) {
  try {
    return tokenizer.encode(text);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(kEmbed, place, error.expected(), error.got());
  } catch (const Error& error) {
    throw InvalidArgument(kEmbed, place, "a text that the tokenizer can cut", error.what());
  }
}

// The tokens of the prompt by itself, without the special one at its end.
std::int64_t prompt_tokens(const Tokenizer& tokenizer, const EmbedOptions& options) {
  if (options.pools_prompt || options.prompt.empty()) return 0;
  Encoding encoding = encoding_of(tokenizer, options.prompt, "prompt");
  if (options.length) shorten(encoding, *options.length, options.cut_at);
  if (encoding.ids.empty()) return 0;
  const std::span<const std::int32_t> last(&encoding.ids.back(), 1);
  const bool is_special = tokenizer.decode(last, SpecialTokens::with) != tokenizer.decode(last, SpecialTokens::without);
  return std::ssize(encoding.ids) - (is_special || encoding.sources.back() == TokenSource::added ? 1 : 0);
}

std::vector<Encoding> encodings_of(const Model& model, const Tokenizer& tokenizer, std::span<const std::string> texts,
                                   const EmbedOptions& options) {
  std::vector<Encoding> encodings;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    Encoding& encoding = encodings.emplace_back(encoding_of(tokenizer, options.prompt + texts[n], text_number(n)));
    const std::int64_t tokens = std::ssize(encoding.ids);
    if (options.length && tokens > *options.length) {
      shorten(encoding, *options.length, options.cut_at);
      if (options.cut) options.cut(n, tokens);
    }
    if (encoding.ids.empty()) {
      const bool is_empty = texts[n].empty();
      throw InvalidArgument(kEmbed, text_number(n), is_empty ? "a value" : "a token or more",
                            is_empty ? "\"\"" : "none");
    }
    encoding.ids = model.padded(std::move(encoding.ids), text_number(n));
    encoding.types.resize(encoding.ids.size());
  }
  return encodings;
}

// Texts that are embedded in one pass.
struct Pass {
  std::vector<std::size_t> numbers;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;

  void add(std::size_t number, const Encoding& encoding) {
    numbers.push_back(number);
    lengths.push_back(std::ssize(encoding.ids));
    ids.insert(ids.end(), encoding.ids.begin(), encoding.ids.end());
    types.insert(types.end(), encoding.types.begin(), encoding.types.end());
  }
};

using ByLength = std::multimap<std::size_t, std::size_t, std::greater<>>;

// The numbers of the texts, the longest first.
ByLength by_length(std::span<const Encoding> encodings) {
  ByLength all;
  for (std::size_t n = 0; n < encodings.size(); ++n) all.emplace(encodings[n].ids.size(), n);
  return all;
}

// Texts of the same number of tokens, side by side.
std::vector<Pass> passes_of_one_length(std::span<const Encoding> encodings) {
  std::vector<Pass> passes;
  std::size_t before = 0;
  for (const auto& [length, number] : by_length(encodings)) {
    const bool is_full = !passes.empty() && passes.back().ids.size() + length > kTokensOfAPass;
    if (length != before || is_full) passes.emplace_back();
    passes.back().add(number, encodings[number]);
    before = length;
  }
  return passes;
}

// Texts end to end: after the longest that is left, again and again the longest that still has room.
std::vector<Pass> full_passes(std::span<const Encoding> encodings) {
  std::vector<Pass> passes;
  ByLength left = by_length(encodings);
  while (!left.empty()) {
    Pass& pass = passes.emplace_back();
    for (auto next = left.begin(); next != left.end();) {
      pass.add(next->second, encodings[next->second]);
      left.erase(next);
      next = pass.ids.size() < kJoinedTokens ? left.lower_bound(kJoinedTokens - pass.ids.size()) : left.end();
    }
  }
  return passes;
}

Tensor tokens_of(const std::vector<std::int64_t>& all, std::int64_t rows) {
  return {all, {rows, std::ssize(all) / rows}};
}

// The encoder whose states are pooled: the model itself, or half of T5.
const Encoder* encoder_of(const Model& model) {
  const Encoder* encoder = model.parts().encoder;
  const bool is_whole = model.traits().fills;
  return encoder != nullptr && (is_whole || encoder->options().positions == Positions::t5) ? encoder : nullptr;
}

std::vector<double> normed(const std::vector<double>& vector, const EmbedOptions& options) {
  const Tensor one(vector, {1, std::ssize(vector)});
  return vector_of_states(one, {.width = options.width, .normalised = options.normalised});
}

// A vector for each of the texts: end to end for an encoder, of one length for others. The first `prompt` tokens take
// no part in the pooling.
std::vector<std::vector<double>> vectors_of(const Model& model, const Pass& pass, const EmbedOptions& options,
                                            std::int64_t prompt) {
  const ModelCall call{.dtype = options.dtype};
  std::vector<std::vector<double>> vectors;
  const std::int64_t B = std::ssize(pass.numbers);
  if (model.traits().is_pair) {
    const Tensor ids = tokens_of(pass.ids, B);
    const Variable embedded = model.result({.ids = ids}, call);
    for (std::int64_t b = 0; b < B; ++b) vectors.push_back(normed(embedded.value().select(0, b).to_vector(), options));
  } else if (model.traits().goes_on) {
    const Tensor ids = tokens_of(pass.ids, B);
    const Variable states = model.states({.ids = ids}, call);
    for (std::int64_t b = 0; b < B; ++b) {
      vectors.push_back(vector_of_states(states.value().select(0, b), options, prompt));
    }
  } else {
    const Encoder& encoder = *encoder_of(model);
    const Tensor types = encoder.options().types > 0 ? tokens_of(pass.types, 1) : Tensor();
    const Variable states =
        encoder.hidden_joined({.ids = tokens_of(pass.ids, 1), .lengths = pass.lengths, .types = types}, call);
    std::int64_t begin = 0;
    for (const std::int64_t length : pass.lengths) {
      const TensorView own = states.value().select(0, 0).slice(0, begin, begin + length);
      vectors.push_back(vector_of_states(own, options, prompt));
      begin += length;
    }
  }
  return vectors;
}

void require_finite(const Model& model, std::span<const double> vector, std::size_t number) {
  if (std::ranges::all_of(vector, [](double value) { return std::isfinite(value); })) return;
  fail_not_finite(model, kEmbed, "the numbers of " + text_number(number));
}

std::vector<std::int64_t> masks_in(const Tokenizer& tokenizer, const Encoding& encoding) {
  std::vector<std::int64_t> places;
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    if (is_mask_token(tokenizer.piece(encoding.ids[n]))) places.push_back(static_cast<std::int64_t>(n));
  }
  return places;
}

std::vector<MaskFilling> likeliest_of(const std::vector<double>& probabilities, std::int64_t count) {
  std::vector<std::int32_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min<std::ptrdiff_t>(count, std::ssize(order));
  const auto at = [&](std::int32_t token) { return probabilities[static_cast<std::size_t>(token)]; };
  std::ranges::partial_sort(order, end,
                            [&](std::int32_t a, std::int32_t b) { return at(a) != at(b) ? at(a) > at(b) : a < b; });
  std::vector<MaskFilling> fillings;
  for (auto token = order.begin(); token != end; ++token) fillings.push_back({*token, at(*token)});
  return fillings;
}

// An encoder with an output map.
void require_filler(const Model& model, std::int64_t count) {
  const Encoder* encoder = model.traits().fills ? model.parts().encoder : nullptr;
  if (encoder == nullptr || encoder->options().head == EncoderHead::none) {
    throw InvalidArgument(
        kFill, "model", "an encoder that says tokens",
        encoder == nullptr ? "one of kind " + std::string(name_of(model.kind())) : "one of states alone");
  }
  if (encoder->options().self_attention == SelfAttention::causal) {
    throw InvalidArgument(kFill, "model", "an encoder that sees what stands behind a gap",
                          "one that sees only what stands before, and says what comes next");
  }
  if (count < 1) throw InvalidArgument(kFill, "count", "1 or more", std::to_string(count));
}

}  // namespace

Tensor embed_texts(const Model& model, std::span<const std::string> texts, const EmbedOptions& options) {
  const bool joins = encoder_of(model) != nullptr;
  if (!joins && !model.traits().goes_on && !model.traits().is_pair) {
    throw InvalidArgument(kEmbed, "model", "an encoder, a decoder or two towers",
                          "one of kind " + std::string(name_of(model.kind())));
  }
  const NoGradient constant;
  const Tokenizer& tokenizer = options.tokenizer ? *options.tokenizer : tokenizer_of(model, kEmbed);
  const std::vector<Encoding> encodings = encodings_of(model, tokenizer, texts, options);
  const std::int64_t prompt = prompt_tokens(tokenizer, options);
  std::vector<std::vector<double>> vectors(texts.size());
  for (const Pass& pass : joins ? full_passes(encodings) : passes_of_one_length(encodings)) {
    std::vector<std::vector<double>> embedded = [&] {
      try {
        return vectors_of(model, pass, options, prompt);
      } catch (const InvalidArgument& error) {  // of its longest text, which is the first, or of its shortest
        if (error.function() == "threads") throw;
        const bool is_short = error.argument() == "begin";
        throw InvalidArgument(kEmbed, text_number(is_short ? pass.numbers.back() : pass.numbers.front()),
                              error.expected(), error.got());
      }
    }();
    for (std::size_t n = 0; n < embedded.size(); ++n) {
      require_finite(model, embedded[n], pass.numbers[n]);
      vectors[pass.numbers[n]] = std::move(embedded[n]);
    }
  }
  std::vector<double> all;
  for (const std::vector<double>& vector : vectors) all.insert(all.end(), vector.begin(), vector.end());
  const auto width = static_cast<std::int64_t>(vectors.empty() ? 0 : vectors.front().size());
  return Tensor(Tensor(all, {static_cast<std::int64_t>(texts.size()), width}), DType::f32);
}

std::vector<FilledMask> fill_places(const Model& model, std::span<const std::int32_t> tokens,
                                    std::span<const std::int64_t> places, std::int64_t count) {
  require_filler(model, count);
  const NoGradient constant;
  const Tensor ids(std::vector<std::int32_t>(tokens.begin(), tokens.end()), {1, std::ssize(tokens)});
  const Variable scores = model.forward({.ids = ids});
  std::vector<FilledMask> filled;
  for (const std::int64_t place : places) {
    const Tensor row(scores.value().select(0, 0).select(0, place), DType::f64);
    require_numbers(model, kFill, "the scores at token " + std::to_string(place), row.values<double>());
    filled.push_back({.place = place, .fillings = likeliest_of(softmax(row, -1).to_vector(), count)});
  }
  return filled;
}

std::vector<FilledMask> fill_masks(const Model& model, std::string_view text, std::int64_t count) {
  require_filler(model, count);
  const Tokenizer& tokenizer = tokenizer_of(model, kFill);
  const Encoding encoding = tokenizer.encode(text);
  const std::vector<std::int64_t> places = masks_in(tokenizer, encoding);
  if (places.empty()) throw InvalidArgument(kFill, "text", "a text with [MASK] or <mask>, as the model has it", "none");
  return fill_places(model, encoding.ids, places, count);
}

}  // namespace qkv
