#include "qkv/model/embed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/said_of.h"
#include "model/mask_token.h"
#include "model/require_finite.h"
#include "qkv/error.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

constexpr const char* kEmbed = "embed_texts";
constexpr const char* kFill = "fill_masks";
constexpr std::array<std::string_view, 4> kPoolings = {"mean", "first", "last", "max"};
constexpr std::size_t kTokensOfAPass = 4096;
// Of an encoder: enough rows for products at their full rate, and few enough for states to stay in a cache.
constexpr std::size_t kJoinedTokens = 256;

const Tokenizer& tokenizer_of(const Model& model, const char* function) {
  if (model.tokenizers().tokens) return *model.tokenizers().tokens;
  throw InvalidArgument(function, "model", "one with a tokenizer", "one without");
}

std::string text_number(std::size_t n) { return "texts[" + std::to_string(n) + "]"; }

// Leaves out the last tokens of the text itself, so that those of a template stay.
void shorten(Encoding& encoding, std::int64_t length) {
  for (std::size_t n = encoding.ids.size(); n-- > 0 && std::ssize(encoding.ids) > length;) {
    if (encoding.sources[n] == TokenSource::added) continue;
    const auto place = static_cast<std::ptrdiff_t>(n);
    encoding.ids.erase(encoding.ids.begin() + place);
    if (n < encoding.types.size()) encoding.types.erase(encoding.types.begin() + place);
  }
}

std::vector<Encoding> encodings_of(const Model& model, std::span<const std::string> texts,
                                   const EmbedOptions& options) {
  const Tokenizer& tokenizer = tokenizer_of(model, kEmbed);
  std::vector<Encoding> encodings;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    Encoding& encoding = encodings.emplace_back(tokenizer.encode(texts[n]));
    const std::int64_t tokens = std::ssize(encoding.ids);
    if (options.length && tokens > *options.length) {
      shorten(encoding, *options.length);
      if (options.cut) options.cut(n, tokens);
    }
    if (encoding.ids.empty()) throw InvalidArgument(kEmbed, text_number(n), "a token or more", "none");
    encoding.ids = core::said_of(kEmbed, text_number(n), [&] { return model.padded(std::move(encoding.ids)); });
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

void normalise(std::vector<double>& vector) {
  const double length = std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
  for (double& number : vector) number = length > 0 ? number / length : 0;
}

Tensor tokens_of(const std::vector<std::int64_t>& all, std::int64_t rows) {
  return {all, {rows, std::ssize(all) / rows}};
}

// A vector for each of the texts: end to end for an encoder, of one length for others.
std::vector<std::vector<double>> vectors_of(const Model& model, const Pass& pass, const EmbedOptions& options) {
  const ModelCall call{.dtype = options.dtype};
  std::vector<std::vector<double>> vectors;
  if (const auto* towers = std::get_if<TwoTower>(&model.network())) {
    const std::int64_t B = std::ssize(pass.numbers);
    const Variable embedded = towers->embed_texts({.ids = tokens_of(pass.ids, B)}, call);
    for (std::int64_t b = 0; b < B; ++b) vectors.push_back(embedded.value().select(0, b).to_vector());
  } else if (const auto* decoder = std::get_if<Decoder>(&model.network())) {
    const std::int64_t B = std::ssize(pass.numbers);
    const Variable states = decoder->hidden(tokens_of(pass.ids, B), call);
    for (std::int64_t b = 0; b < B; ++b) {
      vectors.push_back(pooled_states(states.value().select(0, b), options.pooling));
    }
  } else {
    const auto& encoder = std::get<Encoder>(model.network());
    const Tensor types = encoder.options().types > 0 ? tokens_of(pass.types, 1) : Tensor();
    const Variable states =
        encoder.hidden_joined({.ids = tokens_of(pass.ids, 1), .lengths = pass.lengths, .types = types}, call);
    std::int64_t begin = 0;
    for (const std::int64_t length : pass.lengths) {
      vectors.push_back(pooled_states(states.value().select(0, 0).slice(0, begin, begin + length), options.pooling));
      begin += length;
    }
  }
  for (std::vector<double>& vector : vectors) {
    if (options.normalised) normalise(vector);
  }
  return vectors;
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
  const auto* encoder = std::get_if<Encoder>(&model.network());
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

std::string_view name_of(Pooling pooling) noexcept { return kPoolings[static_cast<std::size_t>(pooling)]; }

std::vector<double> pooled_states(const TensorView& states, Pooling pooling) {
  const std::int64_t T = states.dim(0);
  if (pooling == Pooling::first || pooling == Pooling::last) {
    return states.select(0, pooling == Pooling::first ? 0 : T - 1).to_vector();
  }
  const bool is_mean = pooling == Pooling::mean;
  std::vector<double> row(static_cast<std::size_t>(states.dim(1)));
  std::vector<double> all(row.size(), is_mean ? 0 : -std::numeric_limits<double>::infinity());
  for (std::int64_t t = 0; t < T; ++t) {
    states.load_row(std::array{t}, row);
    for (std::size_t n = 0; n < row.size(); ++n) {
      all[n] = is_mean ? all[n] + row[n] / static_cast<double>(T) : std::max(all[n], row[n]);
    }
  }
  return all;
}

Pooling pooling_named(std::string_view name) {
  const auto found = std::ranges::find(kPoolings, name);
  if (found != kPoolings.end()) return static_cast<Pooling>(found - kPoolings.begin());
  throw InvalidArgument("pooling_named", "name", "one of mean, first, last, max", "\"" + std::string(name) + "\"");
}

Tensor embed_texts(const Model& model, std::span<const std::string> texts, const EmbedOptions& options) {
  if (model.kind() == ModelKind::encoder_decoder || model.kind() == ModelKind::captioner) {
    throw InvalidArgument(kEmbed, "model", "an encoder, a decoder or two towers",
                          "one of kind " + std::string(name_of(model.kind())));
  }
  const NoGradient constant;
  const std::vector<Encoding> encodings = encodings_of(model, texts, options);
  std::vector<std::vector<double>> vectors(texts.size());
  const bool is_encoder = model.kind() == ModelKind::encoder;
  for (const Pass& pass : is_encoder ? full_passes(encodings) : passes_of_one_length(encodings)) {
    std::vector<std::vector<double>> embedded = [&] {
      try {
        return vectors_of(model, pass, options);
      } catch (const InvalidArgument& error) {  // of its longest text, which is the first
        throw InvalidArgument(kEmbed, text_number(pass.numbers.front()), error.expected(), error.got());
      }
    }();
    for (std::size_t n = 0; n < embedded.size(); ++n) {
      require_numbers(model, kEmbed, "the numbers of " + text_number(pass.numbers[n]), embedded[n]);
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
  const Variable scores = core::said_of(kFill, "text", [&] { return model.forward({.ids = ids}); });
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
