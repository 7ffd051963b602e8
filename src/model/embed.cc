#include "qkv/model/embed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/said_of.h"
#include "model/mask_token.h"
#include "qkv/error.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

constexpr const char* kEmbed = "embed_texts";
constexpr std::array<std::string_view, 4> kPoolings = {"mean", "first", "last", "max"};
constexpr std::size_t kTokensOfAPass = 4096;

const Tokenizer& tokenizer_of(const Model& model, const char* function) {
  if (model.tokenizers().tokens) return *model.tokenizers().tokens;
  throw InvalidArgument(function, "model", "one with a tokenizer", "one without");
}

/// Texts of the same number of tokens.
struct Alike {
  std::vector<std::size_t> numbers;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;
};

std::map<std::size_t, Alike> by_length(const Model& model, std::span<const std::string> texts) {
  const Tokenizer& tokenizer = tokenizer_of(model, kEmbed);
  std::map<std::size_t, Alike> all;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const std::string argument = "texts[" + std::to_string(n) + "]";
    Encoding encoding = tokenizer.encode(texts[n]);
    if (encoding.ids.empty()) throw InvalidArgument(kEmbed, argument, "a token or more", "none");
    encoding.ids = core::said_of(kEmbed, argument, [&] { return model.padded(std::move(encoding.ids)); });
    encoding.types.resize(encoding.ids.size());
    Alike& alike = all[encoding.ids.size()];
    alike.numbers.push_back(n);
    alike.ids.insert(alike.ids.end(), encoding.ids.begin(), encoding.ids.end());
    alike.types.insert(alike.types.end(), encoding.types.begin(), encoding.types.end());
  }
  return all;
}

void normalise(std::vector<double>& vector) {
  const double length = std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
  for (double& number : vector) number = length > 0 ? number / length : 0;
}

// A vector for each of the texts, [B, T] of ids.
std::vector<std::vector<double>> vectors_of(const Model& model, const Tensor& ids, const Tensor& types,
                                            const EmbedOptions& options) {
  const ModelCall call{.dtype = options.dtype};
  std::vector<std::vector<double>> vectors;
  if (const auto* towers = std::get_if<TwoTower>(&model.network())) {
    const Variable embedded = towers->embed_texts({.ids = ids}, call);
    for (std::int64_t b = 0; b < ids.dim(0); ++b) vectors.push_back(embedded.value().select(0, b).to_vector());
  } else {
    const auto& encoder = std::get<Encoder>(model.network());
    const Tensor none;
    const Variable states =
        encoder.hidden({.ids = ids, .types = encoder.options().types > 0 ? types.view() : none.view()}, call);
    for (std::int64_t b = 0; b < ids.dim(0); ++b) {
      vectors.push_back(pooled_states(states.value().select(0, b), options.pooling));
    }
  }
  for (std::vector<double>& vector : vectors) {
    if (options.normalised) normalise(vector);
  }
  return vectors;
}

Tensor part_of(const std::vector<std::int64_t>& all, std::size_t first, std::size_t rows, std::size_t length) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * length);
  return {std::vector<std::int64_t>(begin, begin + static_cast<std::ptrdiff_t>(rows * length)),
          {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(length)}};
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

}  // namespace

std::string_view name_of(Pooling pooling) noexcept { return kPoolings[static_cast<std::size_t>(pooling)]; }

std::vector<double> pooled_states(const TensorView& states, Pooling pooling) {
  const std::int64_t T = states.dim(0);
  if (pooling == Pooling::first || pooling == Pooling::last) {
    return states.select(0, pooling == Pooling::first ? 0 : T - 1).to_vector();
  }
  const bool is_mean = pooling == Pooling::mean;
  std::vector<double> all(static_cast<std::size_t>(states.dim(1)),
                          is_mean ? 0 : -std::numeric_limits<double>::infinity());
  for (std::int64_t t = 0; t < T; ++t) {
    const std::vector<double> row = states.select(0, t).to_vector();
    for (std::size_t n = 0; n < row.size(); ++n) {
      all[n] = is_mean ? all[n] + row[n] / static_cast<double>(T) : std::max(all[n], row[n]);
    }
  }
  return all;
}

Pooling pooling_named(std::string_view name) {
  const auto* const found = std::ranges::find(kPoolings, name);
  if (found != kPoolings.end()) return static_cast<Pooling>(found - kPoolings.begin());
  throw InvalidArgument("pooling_named", "name", "one of mean, first, last, max", "\"" + std::string(name) + "\"");
}

Tensor embed_texts(const Model& model, std::span<const std::string> texts, const EmbedOptions& options) {
  if (model.kind() != ModelKind::encoder && model.kind() != ModelKind::two_tower) {
    throw InvalidArgument(kEmbed, "model", "an encoder or two towers",
                          "one of kind " + std::string(name_of(model.kind())));
  }
  const NoGradient constant;
  std::vector<std::vector<double>> vectors(texts.size());
  for (const auto& of_length : by_length(model, texts)) {
    const std::size_t length = of_length.first;
    const auto& alike = of_length.second;
    const std::size_t most = std::max<std::size_t>(1, kTokensOfAPass / length);
    for (std::size_t first = 0; first < alike.numbers.size(); first += most) {
      const std::size_t rows = std::min(most, alike.numbers.size() - first);
      const auto embedded = [&] {
        try {
          return vectors_of(model, part_of(alike.ids, first, rows, length), part_of(alike.types, first, rows, length),
                            options);
        } catch (const InvalidArgument& error) {
          const std::string text = "texts[" + std::to_string(alike.numbers[first]) + "]";
          throw InvalidArgument(kEmbed, text, error.expected(), error.got());
        }
      }();
      for (std::size_t n = 0; n < rows; ++n) vectors[alike.numbers[first + n]] = embedded[n];
    }
  }
  std::vector<double> all;
  for (const std::vector<double>& vector : vectors) all.insert(all.end(), vector.begin(), vector.end());
  const auto width = static_cast<std::int64_t>(vectors.empty() ? 0 : vectors.front().size());
  return Tensor(Tensor(all, {static_cast<std::int64_t>(texts.size()), width}), DType::f32);
}

std::vector<FilledMask> fill_masks(const Model& model, std::string_view text, std::int64_t count) {
  constexpr const char* kFill = "fill_masks";
  const auto* encoder = std::get_if<Encoder>(&model.network());
  if (encoder == nullptr || encoder->options().head == EncoderHead::none) {
    throw InvalidArgument(
        kFill, "model", "an encoder that says tokens",
        encoder == nullptr ? "one of kind " + std::string(name_of(model.kind())) : "one of states alone");
  }
  if (count < 1) throw InvalidArgument(kFill, "count", "1 or more", std::to_string(count));
  const Tokenizer& tokenizer = tokenizer_of(model, kFill);
  const Encoding encoding = tokenizer.encode(text);
  const std::vector<std::int64_t> places = masks_in(tokenizer, encoding);
  if (places.empty()) throw InvalidArgument(kFill, "text", "a text with [MASK] or <mask>, as the model has it", "none");
  const NoGradient constant;
  const Tensor ids(encoding.ids, {1, static_cast<std::int64_t>(encoding.ids.size())});
  const Variable scores = model.forward({.ids = ids});
  std::vector<FilledMask> filled;
  for (const std::int64_t place : places) {
    const Tensor row(scores.value().select(0, 0).select(0, place), DType::f64);
    filled.push_back({.place = place, .fillings = likeliest_of(softmax(row, -1).to_vector(), count)});
  }
  return filled;
}

}  // namespace qkv
