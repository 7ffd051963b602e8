#include "qkv/model/decoder.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/watch.h"
#include "qkv/nn/position.h"

namespace qkv::learn {
namespace {

constexpr const char* kFunction = "Decoder";
constexpr double kDeviation = 0.02;  // of embeddings at the start, as in GPT-2
constexpr T5Buckets kBuckets = {.buckets = 32, .max_distance = 128, .bidirectional = false};

DecoderOptions checked(const DecoderOptions& options) {
  const auto require = [](bool holds, std::string_view argument, std::string_view expected, std::int64_t got) {
    if (!holds) throw InvalidArgument(kFunction, argument, expected, std::to_string(got));
  };
  require(options.vocabulary > 0, "vocabulary", "more than 0", options.vocabulary);
  require(options.layers > 0, "layers", "more than 0", options.layers);
  require(options.d_model > 0, "d_model", "more than 0", options.d_model);
  require(options.heads > 0, "heads", "more than 0", options.heads);
  require(options.d_ff.value_or(1) > 0, "d_ff", "more than 0", options.d_ff.value_or(1));
  const std::string width = std::to_string(options.d_model);
  require(options.d_model % options.heads == 0, "heads",
          "a divisor of d_model, " + width + ", since each head has d_model / heads of it", options.heads);
  if (options.positions == Positions::rotary) {
    require(options.d_model / options.heads % 2 == 0, "heads",
            "heads of even width, which rotary positions turn in pairs; d_model is " + width, options.heads);
  }
  if (options.positions == Positions::learned) {
    require(options.length > 0, "length", "more than 0, for learned positions", options.length);
  }
  return options;
}

StackOptions stack_options(const DecoderOptions& options) {
  StackOptions stack{.kind = StackKind::decoder, .layers = options.layers};
  stack.block.attention.d_model = options.d_model;
  stack.block.attention.heads = options.heads;
  stack.block.d_ff = options.d_ff;
  if (options.positions == Positions::rotary) {
    stack.block.attention.rotary = RotaryOptions{.dim = options.d_model / options.heads};
  }
  return stack;
}

std::optional<Embedding> position_table(const DecoderOptions& options, Generator& generator) {
  if (options.positions != Positions::learned) return std::nullopt;
  return Embedding(options.length, options.d_model, generator, kDeviation);
}

Variable t5_table(const DecoderOptions& options) {
  if (options.positions != Positions::t5) return {};
  return Variable::parameter(Tensor(DType::f32, {kBuckets.buckets, options.heads}));
}

std::optional<Linear> output_map(const DecoderOptions& options, Generator& generator) {
  if (options.tied) return std::nullopt;
  return Linear({.in = options.d_model, .out = options.vocabulary, .bias = false}, generator);
}

// As large as the embeddings are at the start: a sine has the deviation 1 / sqrt(2).
Variable sines(std::int64_t length, std::int64_t d_model) {
  return scale(Variable(sinusoidal(length, d_model, 10000.0, DType::f32)), kDeviation * std::numbers::sqrt2);
}

Tensor counted_to(std::int64_t length) {
  Tensor numbers(DType::i64, {length});
  std::int64_t next = 0;
  for (std::int64_t& number : numbers.values<std::int64_t>()) number = next++;
  return numbers;
}

}  // namespace

Decoder::Decoder(const DecoderOptions& options, Generator& generator)
    : options_(checked(options)),
      embedding_(options.vocabulary, options.d_model, generator, kDeviation),
      positions_(position_table(options, generator)),
      t5_(t5_table(options)),
      stack_(stack_options(options), generator),
      output_(output_map(options, generator)) {}

Variable Decoder::embedded(const TensorView& ids, const DecoderCall& call) const {
  const OperationScope scope("embedding");
  if (ids.rank() != 2) throw InvalidArgument(kFunction, "ids", "[B, T]", ids.shape().to_string());
  Variable x = embedding_.forward(ids);
  const std::int64_t length = ids.dim(1);
  if (positions_) {
    if (length > options_.length) {
      throw InvalidArgument(kFunction, "ids", "at most " + std::to_string(options_.length) + " learned positions",
                            std::to_string(length));
    }
    x = x + positions_->forward(counted_to(length));
  }
  if (options_.positions == Positions::sinusoidal) x = x + sines(length, options_.d_model);
  x = cast(x, call.dtype);
  return call.dropout ? dropout(x, dropout_at(*call.dropout, 0)) : x;
}

Variable Decoder::forward(const TensorView& ids, const DecoderCall& call) const {
  BlockCall inner{.memory = call.memory};
  if (options_.positions == Positions::alibi) inner.attention.bias = alibi();
  if (!t5_.empty()) inner.learned.bias.push_back(LearnedT5Bias{.table = t5_, .buckets = kBuckets});
  if (call.dropout) inner.dropout = dropout_at(*call.dropout, 1);
  const Variable x = stack_.forward(embedded(ids, call), inner);
  const OperationScope scope("output");
  return output_ ? output_->forward(x) : embedding_.logits(x);
}

std::vector<Tensor> Decoder::weights(const TensorView& ids) const {
  const NoGradient constant;
  Taps taps({"*.attn.weights"});
  BlockForward call{.taps = &taps};
  if (options_.positions == Positions::alibi) call.attention.bias = alibi();
  if (!t5_.empty()) call.attention.bias = t5_bias(t5_.value(), kBuckets);
  static_cast<void>(stack_.frozen().forward(embedded(ids, {}).value(), call));
  std::vector<Tensor> all;
  for (std::int64_t n = 0; n < options_.layers; ++n) {
    all.push_back(taps["blocks." + std::to_string(n) + ".attn.weights"]);
  }
  return all;
}

Parameters Decoder::parameters() const {
  Parameters all;
  append(all, "embedding", embedding_.parameters());
  if (positions_) append(all, "positions", positions_->parameters());
  if (!t5_.empty()) all.push_back({"t5.weight", t5_});
  for (const Parameter& parameter : stack_.parameters()) all.push_back(parameter);
  if (output_) append(all, "output", output_->parameters());
  return all;
}

std::int64_t parameter_count(const DecoderOptions& options) {
  const DecoderOptions o = checked(options);
  const std::int64_t d = o.d_model;
  const std::int64_t d_ff = o.d_ff.value_or(4 * d);
  const std::int64_t norm = 2 * d;
  const std::int64_t attention = 4 * (d * d + d);
  const std::int64_t feed_forward = (d * d_ff + d_ff) + (d_ff * d + d);
  std::int64_t count = o.vocabulary * d + o.layers * (2 * norm + attention + feed_forward) + norm;
  if (o.positions == Positions::learned) count += o.length * d;
  if (o.positions == Positions::t5) count += kBuckets.buckets * o.heads;
  return o.tied ? count : count + o.vocabulary * d;
}

}  // namespace qkv::learn
