#include "qkv/model/token_input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/counted.h"
#include "core/found.h"
#include "core/listed.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/dropout.h"
#include "qkv/autograd/embedding.h"
#include "qkv/nn/position.h"

namespace qkv {
namespace {

constexpr double kDeviation = 0.02;  // of embeddings at the start, as in GPT-2 and BERT
constexpr std::array<Positions, 6> kPositions = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                                 Positions::rotary, Positions::alibi,      Positions::t5};

T5Buckets buckets_of(const TokenInputOptions& options) {
  return {.buckets = options.t5_buckets,
          .max_distance = options.t5_max_distance,
          .bidirectional = options.self_attention == SelfAttention::full};
}

double deviation_of(const TokenInputOptions& options) {
  if (options.scale != EmbeddingScale::root_width) return kDeviation;
  return 1 / std::sqrt(static_cast<double>(options.d_model));
}

// Of the tables.
std::int64_t width_of(const TokenInputOptions& options) { return options.d_embedding.value_or(options.d_model); }

bool has_buckets(const TokenInputOptions& options) { return options.positions == Positions::t5 || options.t5_beside; }

std::int64_t position_rows(const TokenInputOptions& options) { return options.length + (options.placeless ? 1 : 0); }

std::optional<Embedding> position_table(const TokenInputOptions& options, const Init& init, DType dtype) {
  if (options.positions != Positions::learned) return std::nullopt;
  return Embedding(
      {.count = position_rows(options), .width = width_of(options), .deviation = deviation_of(options), .dtype = dtype},
      init);
}

std::optional<Embedding> type_table(const TokenInputOptions& options, const Init& init, DType dtype) {
  if (options.types == 0) return std::nullopt;
  return Embedding(
      {.count = options.types, .width = width_of(options), .deviation = deviation_of(options), .dtype = dtype}, init);
}

std::optional<Norm> input_norm(const TokenInputOptions& options, const Init& init, DType dtype) {
  if (options.scale != EmbeddingScale::normed) return std::nullopt;
  return Norm({.kind = options.norm, .width = width_of(options), .epsilon = options.epsilon, .dtype = dtype}, init);
}

std::optional<Linear> input_map(const TokenInputOptions& options, const Init& init, DType dtype) {
  if (!options.d_embedding) return std::nullopt;
  return Linear({.in = *options.d_embedding, .out = options.d_model, .dtype = dtype}, init);
}

Variable t5_table(const TokenInputOptions& options, const Init& init, DType dtype) {
  if (!has_buckets(options)) return {};
  return init.constant({options.t5_buckets, options.heads}, 0, dtype);
}

// [T, d_model] with the sines of each row before its cosines.
Tensor in_halves(const Tensor& sines) {
  const std::int64_t T = sines.dim(0);
  return Tensor(sines.view().reshape({T, sines.dim(1) / 2, 2}).transpose(1, 2)).reshape(sines.shape());
}

// As large as the embeddings are: a sine has the deviation 1 / sqrt(2), and the paper adds it as it is.
Variable sines(const Tensor& positions, std::int64_t length, const TokenInputOptions& options, DType dtype) {
  const Tensor side_by_side = sinusoidal(length, width_of(options), 10000.0, dtype);
  const Tensor table = options.sines_in_halves ? in_halves(side_by_side) : side_by_side;
  const Variable values = embedding(Variable(table), positions);
  const bool are_whole = options.scale == EmbeddingScale::root_width || options.sines_in_halves;
  return are_whole ? values : scale(values, kDeviation * std::numbers::sqrt2);
}

// One more than the last position.
std::int64_t length_of(const Tensor& positions) {
  const std::span<const std::int64_t> numbers = positions.values<std::int64_t>();
  return numbers.empty() ? 0 : std::ranges::max(numbers) + 1;
}

Tensor counted(std::int64_t first, std::int64_t length) {
  Tensor numbers(DType::i64, {length});
  std::int64_t next = first;
  for (std::int64_t& number : numbers.values<std::int64_t>()) number = next++;
  return numbers;
}

// 0 for the token that takes no place, and for each other one how many there are up to it, from each 0 of `positions`
// on; `positions` and one where there is no such token.
Tensor counted_without(std::int64_t placeless, const TensorView& ids, const Tensor& positions) {
  const Tensor tokens(ids, DType::i64);
  const std::span<const std::int64_t> token = tokens.values<std::int64_t>();
  const std::span<const std::int64_t> place = positions.values<std::int64_t>();
  const bool has_any = std::ranges::find(token, placeless) != token.end();
  Tensor rows(DType::i64, has_any ? ids.shape() : positions.shape());
  const std::span<std::int64_t> row = rows.values<std::int64_t>();
  if (!has_any) {
    std::ranges::transform(place, row.begin(), [](std::int64_t number) { return number + 1; });
    return rows;
  }
  std::int64_t count = 0;
  for (std::size_t n = 0; n < token.size(); ++n) {
    const std::int64_t number = place[n % place.size()];
    if (number == 0) count = 0;
    row[n] = token[n] == placeless ? 0 : ++count;
  }
  return rows;
}

// Rounded to the dtype of the table, as models of 16 bits were trained: 55.5 for 3072 in bf16.
double root_width(std::int64_t width, DType dtype) {
  return Tensor(std::vector<double>{std::sqrt(static_cast<double>(width))}, {1}).to(dtype).at({0});
}

}  // namespace

std::string_view name_of(Positions positions) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"none", "sinusoidal", "learned", "rotary", "alibi", "t5"};
  return kNames[static_cast<std::size_t>(positions)];
}

Positions positions_named(std::string_view name) {
  if (const auto* const found = core::found_in(kPositions, name, core::NameOf())) return *found;
  throw InvalidArgument("positions_named", "positions", "one of " + core::joined(kPositions, core::NameOf()),
                        "\"" + std::string(name) + "\"");
}

std::string_view name_of(SelfAttention self_attention) noexcept {
  return self_attention == SelfAttention::causal ? "causal" : "full";
}

std::string_view name_of(EmbeddingScale scale) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"small", "root_width", "normed"};
  return kNames[static_cast<std::size_t>(scale)];
}

TokenInput::TokenInput(std::string_view model, const TokenInputOptions& options, const Init& init, DType dtype)
    : TokenInput(model, options,
                 Embedding({.count = options.vocabulary,
                            .width = width_of(options),
                            .deviation = deviation_of(options),
                            .dtype = dtype},
                           init),
                 init) {}

TokenInput::TokenInput(std::string_view model, const TokenInputOptions& options, Embedding tokens, const Init& init)
    : model_(model),
      options_(options),
      tokens_(std::move(tokens)),
      positions_(position_table(options, init, dtype())),
      types_(type_table(options, init, dtype())),
      norm_(input_norm(options, init, dtype())),
      map_(input_map(options, init, dtype())),
      t5_(t5_table(options, init, dtype())) {
  const Shape& table = tokens_.weight().shape();
  const Shape expected{options.vocabulary, width_of(options)};
  if (!(table == expected)) {
    throw InvalidArgument(model, "vocabulary", "a table of " + expected.to_string(), table.to_string());
  }
}

Variable TokenInput::forward(const TensorView& ids, const ModelCall& call, std::int64_t first) const {
  return forward_typed(ids, {}, call, first);
}

Variable TokenInput::type_vectors(const TensorView& ids, const TensorView& types) const {
  const DType wide = ModelCall().dtype_for(dtype());
  if (types.data() == nullptr) return types_->forward(Tensor(DType::i64, ids.shape()), wide);
  if (types.shape() == ids.shape()) return types_->forward(types, wide);
  throw InvalidArgument(model_, "types", ids.shape().to_string() + ", as ids", types.shape().to_string());
}

Variable TokenInput::forward_typed(const TensorView& ids, const TensorView& types, const ModelCall& call,
                                   std::int64_t first) const {
  if (ids.rank() != 2) throw InvalidArgument(model_, "ids", "[B, T]", ids.shape().to_string());
  return vectors(ids, types, counted(first, ids.dim(1)), call);
}

Variable TokenInput::forward_joined(const JoinedTokens& tokens, const ModelCall& call) const {
  for (const std::int64_t length : tokens.lengths) {
    if (length < 1) throw InvalidArgument(model_, "lengths", "one token or more of each text", std::to_string(length));
  }
  const Tensor positions = joined_positions(tokens.lengths);
  const Shape expected{1, positions.size()};
  if (!(tokens.ids.shape() == expected)) {
    throw InvalidArgument(model_, "ids", expected.to_string() + ", the tokens of lengths",
                          tokens.ids.shape().to_string());
  }
  return vectors(tokens.ids, tokens.types, positions, call);
}

// Rows of the table of learned positions: [T], or [B, T] where a token takes no place.
Tensor TokenInput::rows_of(const TensorView& ids, const Tensor& positions) const {
  const bool has_row = options_.placeless.has_value();
  Tensor rows = has_row ? counted_without(*options_.placeless, ids, positions) : positions;
  if (const std::int64_t length = length_of(rows) - (has_row ? 1 : 0); length > options_.length) {
    throw InvalidArgument(
        model_, "ids",
        "a text of at most " + core::counted(options_.length, "token") + ", for which there are learned positions",
        core::counted(length, "token"));
  }
  return rows;
}

Variable TokenInput::vectors(const TensorView& ids, const TensorView& types, const Tensor& positions,
                             const ModelCall& call) const {
  const DType wide = ModelCall().dtype_for(dtype());  // so that a sum is rounded once
  Variable x = nn::named("embedding", [&] { return tokens_.forward(ids, wide); });
  if (options_.factor) x = qkv::scale(x, *options_.factor);
  const std::int64_t length = length_of(positions);
  if (positions_) {
    const Tensor rows = rows_of(ids, positions);
    x = x + nn::named("positions", [&] { return positions_->forward(rows, wide); });
  }
  if (types_) x = x + nn::named("types", [&] { return type_vectors(ids, types); });
  if (!types_ && types.data() != nullptr) throw InvalidArgument(model_, "types", "none, without token types", "some");
  if (options_.scale == EmbeddingScale::root_width) x = x * root_width(width_of(options_), dtype());
  if (options_.positions == Positions::sinusoidal) {
    // Marian's files have its sines as weights, rounded as these are.
    const DType kept = options_.sines_in_halves ? dtype() : wide;
    x = x + nn::traced("positions", cast(sines(positions, length, options_, kept), wide));
  }
  if (norm_) x = nn::named("ln_embedding", [&] { return norm_->forward(x); });
  if (map_) x = nn::named("embedding_map", [&] { return map_->forward(x); });
  x = cast(x, call.dtype_for(dtype()));
  return call.dropout ? dropout(x, dropout_at(*call.dropout, 0)) : x;
}

LearnedTerms TokenInput::learned_bias() const {
  if (t5_.empty()) return {};
  return {.bias = {LearnedT5Bias{.table = t5_, .buckets = buckets_of(options_)}}};
}

Bias TokenInput::fixed_bias() const {
  if (options_.positions != Positions::alibi) return {};
  return options_.alibi_slopes.empty() ? alibi() : alibi(options_.alibi_slopes);
}

Tensor joined_positions(const std::vector<std::int64_t>& lengths) {
  Tensor positions(DType::i64, {std::reduce(lengths.begin(), lengths.end())});
  auto place = positions.values<std::int64_t>().begin();
  for (const std::int64_t length : lengths) {
    std::iota(place, place + length, std::int64_t{0});
    place += length;
  }
  return positions;
}

Parameters TokenInput::parameters() const {
  Parameters all;
  append(all, "embedding", tokens_.parameters());
  if (positions_) append(all, "positions", positions_->parameters());
  if (types_) append(all, "types", types_->parameters());
  if (norm_) append(all, "ln_embedding", norm_->parameters());
  if (map_) append(all, "embedding_map", map_->parameters());
  if (!t5_.empty()) all.push_back({"t5.weight", t5_});
  return all;
}

std::int64_t parameter_count(const TokenInputOptions& options) {
  const std::int64_t width = width_of(options);
  std::int64_t count = (options.vocabulary + options.types) * width;
  if (options.positions == Positions::learned) count += position_rows(options) * width;
  if (has_buckets(options)) count += options.t5_buckets * options.heads;
  if (options.scale == EmbeddingScale::normed) count += (options.norm == NormKind::layer ? 2 : 1) * width;
  if (options.d_embedding) count += options.d_model * (width + 1);
  return count;
}

}  // namespace qkv
