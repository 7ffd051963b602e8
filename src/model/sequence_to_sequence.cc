#include "qkv/model/sequence_to_sequence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "nn/require.h"
#include "qkv/attention.h"
#include "qkv/autograd/attention.h"
#include "qkv/autograd/shape.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

constexpr const char* kSequences = "SequenceToSequence";

std::vector<Linear> qkv_projections(const SequenceToSequenceOptions& options, const Init& init) {
  std::vector<Linear> all;
  if (options.recall == Recall::last_state) return all;
  nn::require_positive(kSequences, "d_k", options.d_k);
  for (int n = 0; n < 3; ++n) {
    all.emplace_back(LinearOptions{.in = options.width, .out = options.d_k, .bias = false, .dtype = options.dtype},
                     init);
  }
  return all;
}

std::int64_t known_width(const SequenceToSequenceOptions& options) {
  return options.width + (options.recall == Recall::all_states ? options.d_k : 0);
}

std::int64_t table_rows(const SequenceToSequenceOptions& options) {
  nn::require_positive(kSequences, "tokens", options.tokens);
  return options.tokens + 1;
}

void require_texts(std::string_view argument, const TensorView& ids) {
  nn::require_integers(kSequences, argument, ids.dtype());
  if (ids.rank() != 2 || ids.dim(1) < 1) {
    throw InvalidArgument(kSequences, std::string(argument), "[B, T], T at least 1", ids.shape().to_string());
  }
}

// States of T steps, [B, H] each -> [B, T, H].
Variable joined_steps(const std::vector<Variable>& states) {
  std::vector<Variable> rows;
  rows.reserve(states.size());
  for (const Variable& state : states) rows.push_back(reshape(state, {state.dim(0), 1, state.dim(1)}));
  return concat(rows, 1);
}

Tensor tokens_at(const TensorView& ids, std::int64_t t) { return Tensor(ids.slice(1, t, t + 1)).reshape({ids.dim(0)}); }

}  // namespace

std::string_view name_of(Recall recall) noexcept { return recall == Recall::last_state ? "last-state" : "all-states"; }

SequenceToSequence::SequenceToSequence(const SequenceToSequenceOptions& options, const Init& init)
    : options_(options),
      embedding_({.count = table_rows(options), .width = options.embedding, .deviation = 1, .dtype = options.dtype},
                 init),
      encoder_({.in = options.embedding, .width = options.width, .dtype = options.dtype}, init),
      decoder_({.in = options.embedding, .width = options.width, .dtype = options.dtype}, init),
      attention_(qkv_projections(options, init)),
      out_({.in = known_width(options), .out = options.tokens, .dtype = options.dtype}, init) {}

std::vector<Variable> SequenceToSequence::encode(const TensorView& ids) const {
  require_texts("ids", ids);
  std::vector<Variable> states;
  Variable state(Tensor(options_.dtype, {ids.dim(0), options_.width}));
  for (std::int64_t t = 0; t < ids.dim(1); ++t) {
    state = encoder_.forward(embedding_.forward(tokens_at(ids, t), options_.dtype), state);
    states.push_back(state);
  }
  return states;
}

SequenceToSequence::Memory SequenceToSequence::remembered(const std::vector<Variable>& states) const {
  if (!attends()) return {};
  const Variable all = joined_steps(states);
  return {.k = split_heads(attention_[1].forward(all), 1), .v = split_heads(attention_[2].forward(all), 1)};
}

Variable SequenceToSequence::query(const Variable& states) const {
  return split_heads(attention_[0].forward(states), 1);
}

// States of the decoder [B, T, H], and what they recall, to scores.
Variable SequenceToSequence::scores(const Variable& states, const Memory& memory) const {
  if (!attends()) return out_.forward(states);
  return out_.forward(concat({states, merge_heads(attention(query(states), memory.k, memory.v))}, 2));
}

Variable SequenceToSequence::forward(const TensorView& ids, const TensorView& answer) const {
  require_texts("answer", answer);
  const std::vector<Variable> read = encode(ids);
  Tensor before(std::vector<std::int64_t>(static_cast<std::size_t>(answer.dim(0)), options_.tokens), {answer.dim(0)});
  Variable state = read.back();
  std::vector<Variable> states;
  for (std::int64_t t = 0; t < answer.dim(1); ++t) {
    state = decoder_.forward(embedding_.forward(before, options_.dtype), state);
    states.push_back(state);
    before = tokens_at(answer, t);
  }
  return scores(joined_steps(states), remembered(read));
}

Written SequenceToSequence::write(const TensorView& ids) const {
  const NoGradient constant;
  const std::vector<Variable> read = encode(ids);
  const Memory memory = remembered(read);
  const std::int64_t batch = ids.dim(0);
  const std::int64_t length = ids.dim(1);
  Written written{.tokens = Tensor(DType::i64, {batch, length}),
                  .probabilities = Tensor(DType::f64, {batch, length, options_.tokens}),
                  .weights = Tensor(DType::f64, {batch, attends() ? length : 0, length})};
  Tensor before(std::vector<std::int64_t>(static_cast<std::size_t>(batch), options_.tokens), {batch});
  Variable state = read.back();
  for (std::int64_t t = 0; t < length; ++t) {
    state = decoder_.forward(embedding_.forward(before, options_.dtype), state);
    const Variable row = reshape(state, {batch, 1, options_.width});
    const Tensor shares = softmax(Tensor(scores(row, memory).value(), DType::f64), -1);
    const std::span<const double> all = shares.values<double>();
    for (std::int64_t b = 0; b < batch; ++b) {
      const auto one =
          all.subspan(static_cast<std::size_t>(b * options_.tokens), static_cast<std::size_t>(options_.tokens));
      const std::int64_t best = std::ranges::max_element(one) - one.begin();
      before.values<std::int64_t>()[static_cast<std::size_t>(b)] = best;
      written.tokens.values<std::int64_t>()[static_cast<std::size_t>(b * length + t)] = best;
      std::ranges::copy(one, written.probabilities.values<double>().begin() + (b * length + t) * options_.tokens);
    }
    if (!attends()) continue;
    const Tensor weights = attention_stage(query(row).value(), memory.k.value(), {}, Stage::weights);
    for (std::int64_t b = 0; b < batch; ++b) {
      std::ranges::copy(
          weights.values<double>().subspan(static_cast<std::size_t>(b * length), static_cast<std::size_t>(length)),
          written.weights.values<double>().begin() + (b * length + t) * length);
    }
  }
  return written;
}

Parameters SequenceToSequence::parameters() const {
  constexpr std::array<const char*, 3> kNames = {"q", "k", "v"};
  Parameters all;
  append(all, "embedding", embedding_.parameters());
  append(all, "encoder", encoder_.parameters());
  append(all, "decoder", decoder_.parameters());
  for (std::size_t n = 0; n < attention_.size(); ++n) append(all, kNames.at(n), attention_[n].parameters());
  append(all, "out", out_.parameters());
  return all;
}

}  // namespace qkv
