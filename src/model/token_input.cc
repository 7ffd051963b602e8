#include "qkv/model/token_input.h"

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/watch.h"
#include "qkv/nn/position.h"

namespace qkv::learn {
namespace {

constexpr double kDeviation = 0.02;  // of embeddings at the start, as in GPT-2 and BERT
constexpr std::array<Positions, 6> kPositions = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                                 Positions::rotary, Positions::alibi,      Positions::t5};

T5Buckets buckets_of(Sight sight) { return {.buckets = 32, .max_distance = 128, .bidirectional = sight == Sight::all}; }

double deviation_of(const TokenInputOptions& options) {
  if (options.scale != EmbeddingScale::root_width) return kDeviation;
  return 1 / std::sqrt(static_cast<double>(options.d_model));
}

std::optional<Embedding> position_table(const TokenInputOptions& options, Generator& generator, DType dtype) {
  if (options.positions != Positions::learned) return std::nullopt;
  return Embedding(options.length, options.d_model, generator, deviation_of(options), dtype);
}

std::optional<Norm> input_norm(const TokenInputOptions& options, DType dtype) {
  if (options.scale != EmbeddingScale::normed) return std::nullopt;
  const Tensor ones(std::vector<double>(static_cast<std::size_t>(options.d_model), 1.0), {options.d_model});
  return Norm(LayerNorm({.normalized = {options.d_model}, .weight = Tensor(ones, dtype)}));
}

Variable t5_table(const TokenInputOptions& options, DType dtype) {
  if (options.positions != Positions::t5) return {};
  return Variable::parameter(Tensor(dtype, {buckets_of(options.sight).buckets, options.heads}));
}

// As large as the embeddings are: a sine has the deviation 1 / sqrt(2), and the paper adds it as it is.
Variable sines(std::int64_t length, const TokenInputOptions& options, DType dtype) {
  const Variable values(sinusoidal(length, options.d_model, 10000.0, dtype));
  return options.scale == EmbeddingScale::root_width ? values : scale(values, kDeviation * std::numbers::sqrt2);
}

Tensor counted_to(std::int64_t length) {
  Tensor numbers(DType::i64, {length});
  std::int64_t next = 0;
  for (std::int64_t& number : numbers.values<std::int64_t>()) number = next++;
  return numbers;
}

}  // namespace

std::string_view name_of(Positions positions) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"none", "sinusoidal", "learned", "rotary", "alibi", "t5"};
  return kNames[static_cast<std::size_t>(positions)];
}

Positions positions_named(std::string_view name) {
  std::string names;
  for (const Positions positions : kPositions) {
    if (name == name_of(positions)) return positions;
    names += (names.empty() ? "" : ", ") + std::string(name_of(positions));
  }
  throw InvalidArgument("positions_named", "name", "one of " + names, "\"" + std::string(name) + "\"");
}

std::string_view name_of(EmbeddingScale scale) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"small", "root_width", "normed"};
  return kNames[static_cast<std::size_t>(scale)];
}

TokenInput::TokenInput(std::string_view model, const TokenInputOptions& options, Generator& generator, DType dtype)
    : TokenInput(model, options,
                 Embedding(options.vocabulary, options.d_model, generator, deviation_of(options), dtype), generator) {}

TokenInput::TokenInput(std::string_view model, const TokenInputOptions& options, Embedding tokens, Generator& generator)
    : model_(model),
      options_(options),
      tokens_(std::move(tokens)),
      positions_(position_table(options, generator, dtype())),
      norm_(input_norm(options, dtype())),
      t5_(t5_table(options, dtype())) {
  const Shape& table = tokens_.shape();
  const Shape expected{options.vocabulary, options.d_model};
  if (!(table == expected)) {
    throw InvalidArgument(model, "vocabulary", "a table of " + expected.to_string(), table.to_string());
  }
}

Variable TokenInput::forward(const TensorView& ids, const ModelCall& call) const {
  const OperationScope scope("embedding");
  if (ids.rank() != 2) throw InvalidArgument(model_, "ids", "[B, T]", ids.shape().to_string());
  Variable x = tokens_.forward(ids, dtype());
  const std::int64_t length = ids.dim(1);
  if (positions_) {
    if (length > options_.length) {
      throw InvalidArgument(model_, "ids", "at most " + std::to_string(options_.length) + " learned positions",
                            std::to_string(length));
    }
    x = x + positions_->forward(counted_to(length), dtype());
  }
  if (options_.scale == EmbeddingScale::root_width) x = x * std::sqrt(static_cast<double>(options_.d_model));
  if (options_.positions == Positions::sinusoidal) x = x + sines(length, options_, dtype());
  if (norm_) x = norm_->forward(x);
  x = cast(x, call.dtype);
  return call.dropout ? dropout(x, dropout_at(*call.dropout, 0)) : x;
}

LearnedTerms TokenInput::learned_bias() const {
  if (t5_.empty()) return {};
  return {.bias = {LearnedT5Bias{.table = t5_, .buckets = buckets_of(options_.sight)}}};
}

Bias TokenInput::fixed_bias() const { return options_.positions == Positions::alibi ? alibi() : Bias(); }

Bias TokenInput::frozen_bias() const {
  return t5_.empty() ? fixed_bias() : t5_bias(t5_.value(), buckets_of(options_.sight));
}

Parameters TokenInput::parameters() const {
  Parameters all;
  append(all, "embedding", tokens_.parameters());
  if (positions_) append(all, "positions", positions_->parameters());
  if (norm_) append(all, "ln_embedding", norm_->parameters());
  if (!t5_.empty()) all.push_back({"t5.weight", t5_});
  return all;
}

std::int64_t parameter_count(const TokenInputOptions& options) {
  std::int64_t count = options.vocabulary * options.d_model;
  if (options.positions == Positions::learned) count += options.length * options.d_model;
  if (options.positions == Positions::t5) count += buckets_of(options.sight).buckets * options.heads;
  if (options.scale == EmbeddingScale::normed) count += 2 * options.d_model;
  return count;
}

}  // namespace qkv::learn
