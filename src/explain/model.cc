#include "explain/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/target.h"
#include "qkv/nn/activation.h"
#include "qkv/nn/embedding.h"
#include "qkv/nn/matmul.h"
#include "qkv/nn/norm.h"
#include "qkv/nn/position.h"
#include "qkv/random.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kWidest = 4096;
constexpr std::int64_t kFeedForward = 4;  // d_ff / d_model
constexpr T5Buckets kT5;

void require_width(std::string_view argument, std::int64_t value) {
  if (value >= 1 && value <= kWidest) return;
  throw InvalidArgument("explain", argument, fmt::format("1 to {}", kWidest), fmt::format("{}", value));
}

Tensor draw(Generator& generator, const Shape& shape, double factor) {
  Tensor values = generator.randn(shape).to(DType::f64);
  for (double& value : values.values<double>()) value *= factor;
  return values;
}

Tensor projection(Generator& generator, std::int64_t in, std::int64_t out) {
  return draw(generator, {in, out}, 1.0 / std::sqrt(static_cast<double>(in)));
}

Tensor sum_of(const TensorView& a, const TensorView& b) {
  Tensor sum(a, DType::f64);
  const std::vector<double> right = b.to_vector();
  std::size_t i = 0;
  for (double& value : sum.values<double>()) value += right[i++];
  return sum;
}

// The layers keep weights [outputs, inputs]; here they are drawn as the formulas have them.
Linear linear(const Tensor& weight) { return Linear(Tensor(weight.view().transpose(0, 1))); }

Tensor layer_norm(const TensorView& x) { return LayerNorm({.normalized = {x.dim(-1)}}).forward(x); }

}  // namespace

Model::Model(ExplainOptions options) : options_(std::move(options)) {
  tokens_ = split_words("text", options_.text);
  ids_ = vocabulary_.ids(tokens_);
  if (options_.context) {
    context_tokens_ = split_words("context", *options_.context);
    context_ids_ = vocabulary_.ids(context_tokens_);
  }
  resolve_widths();
  draw_parameters();
}

void Model::resolve_widths() {
  require_width("d_model", options_.d_model);
  require_width("heads", options_.heads);
  if (!options_.d_k && options_.d_model % options_.heads != 0) {
    throw InvalidArgument("explain", "heads",
                          fmt::format("a divisor of d_model = {} (or a d_k of your own)", options_.d_model),
                          fmt::format("{}", options_.heads));
  }
  d_k_ = options_.d_k.value_or(options_.d_model / options_.heads);
  d_v_ = options_.d_v.value_or(d_k_);
  require_width("d_k", d_k_);
  require_width("d_v", d_v_);
  if (options_.position == Position::rotary && d_k_ % 2 != 0) {
    throw InvalidArgument("explain", "d_k", "an even width, because rotary positions turn pairs",
                          fmt::format("{}", d_k_));
  }
}

void Model::draw_parameters() {
  const std::int64_t width = options_.d_model;
  Generator generator(options_.seed);
  parameters_.embedding = draw(generator, {static_cast<std::int64_t>(vocabulary_.words().size()), width}, 1.0);
  parameters_.w_q = projection(generator, width, options_.heads * d_k_);
  parameters_.w_k = projection(generator, width, options_.heads * d_k_);
  parameters_.w_v = projection(generator, width, options_.heads * d_v_);
  parameters_.w_o = projection(generator, options_.heads * d_v_, width);
  if (options_.surroundings != Surroundings::attention_only) {
    parameters_.w_1 = projection(generator, width, kFeedForward * width);
    parameters_.w_2 = projection(generator, kFeedForward * width, width);
  }
  Generator positions(options_.seed + 1);
  const auto longest = static_cast<std::int64_t>(std::max(tokens_.size(), context_tokens_.size()));
  if (options_.position == Position::learned) parameters_.learned = draw(positions, {longest, width}, 1.0);
  if (options_.position == Position::t5) parameters_.t5 = draw(positions, {kT5.buckets, options_.heads}, 1.0);
}

Side Model::side_of(const std::vector<std::string>& tokens, const std::vector<std::int64_t>& ids) const {
  Side side;
  side.tokens = tokens;
  side.ids = ids;
  const auto count = static_cast<std::int64_t>(ids.size());
  side.embedded = gather_rows(parameters_.embedding, Tensor(ids, {count}), "explain", "text");
  if (options_.position == Position::sinusoidal) side.encoding = sinusoidal(count, options_.d_model);
  if (options_.position == Position::learned) side.encoding = LearnedPositions(parameters_.learned).forward(count);
  side.x = side.encoding.empty() ? side.embedded : sum_of(side.embedded, side.encoding);
  return side;
}

AttentionOptions Model::attention_options() const {
  AttentionOptions attention = {.target = kTarget};
  attention.scale = options_.scale;
  attention.softcap = options_.softcap;
  attention.mask = options_.mask;
  attention.bias = options_.bias;
  // ALiBi and T5 count from the diagonal that the mask counts from; the default of both is bottom_right.
  if (options_.position == Position::alibi) attention.bias = attention.bias + alibi();
  if (options_.position == Position::t5) attention.bias = attention.bias + t5_bias(parameters_.t5, kT5);
  return attention;
}

MultiHeadAttention Model::layer(Encoding encoding) const {
  MultiHeadOptions layer;
  layer.d_model = options_.d_model;
  layer.heads = options_.heads;
  layer.d_k = d_k_;
  layer.d_v = d_v_;
  layer.bias = false;
  if (options_.position == Position::rotary && encoding == Encoding::as_chosen) {
    layer.rotary.emplace();
    layer.rotary->dim = d_k_;
    layer.rotary->layout = RotaryLayout::interleaved;
  }
  return {layer, {linear(parameters_.w_q), linear(parameters_.w_k), linear(parameters_.w_v), linear(parameters_.w_o)}};
}

void Model::attend(Run& run, const TensorView& query_input, const TensorView& key_input) const {
  Taps taps;
  MultiHeadForward call;
  call.attention = run.attention;
  call.taps = &taps;
  run.output = layer(Encoding::as_chosen).forward_cross(query_input, key_input, call);
  run.q = taps["q"];
  run.k = taps["k"];
  run.v = taps["v"];
  if (taps.contains("q_rotated")) {
    run.q_plain = run.q;
    run.k_plain = run.k;
    run.q = taps["q_rotated"];
    run.k = taps["k_rotated"];
  }
  run.out = taps["heads"];
  run.concat = Tensor(taps["concat"].view().select(0, 0));
}

Run Model::run() const {
  Run run;
  run.heads = options_.heads;
  run.kv_heads = options_.heads;
  run.d_k = d_k_;
  run.d_v = d_v_;
  run.queries = side_of(tokens_, ids_);
  run.keys = is_cross() ? side_of(context_tokens_, context_ids_) : run.queries;
  run.attention = attention_options();
  if (options_.surroundings == Surroundings::pre_norm_block) {
    run.block.emplace();
    run.block->norm_1 = layer_norm(run.queries.x);
    attend(run, run.block->norm_1, is_cross() ? run.keys.x : run.block->norm_1);
  } else {
    attend(run, run.queries.x, run.keys.x);
  }
  if (options_.surroundings != Surroundings::attention_only) add_block_after(run);
  return run;
}

void Model::add_block_after(Run& run) const {
  if (!run.block) run.block.emplace();
  BlockRun& block = *run.block;
  const bool is_pre = options_.surroundings == Surroundings::pre_norm_block;
  block.residual_1 = sum_of(run.queries.x, run.output);
  if (is_pre) block.norm_2 = layer_norm(block.residual_1);
  if (!is_pre) block.norm_1 = layer_norm(block.residual_1);
  const Tensor& feed_forward_input = is_pre ? block.norm_2 : block.norm_1;
  block.up = matmul(feed_forward_input, parameters_.w_1);
  block.activated = activate(Activation::gelu, block.up);
  block.down = matmul(block.activated, parameters_.w_2);
  block.residual_2 = sum_of(is_pre ? block.residual_1 : block.norm_1, block.down);
  if (!is_pre) block.norm_2 = layer_norm(block.residual_2);
  block.result = is_pre ? block.residual_2 : block.norm_2;
}

Tensor Model::output_in_order(const std::vector<std::int64_t>& order, Encoding encoding) const {
  MultiHeadForward call;
  call.attention = attention_options();
  call.attention.mask = Mask();
  if (encoding == Encoding::left_out) call.attention.bias = Bias();
  std::vector<std::int64_t> ids;
  ids.reserve(order.size());
  for (const std::int64_t place : order) ids.push_back(ids_[static_cast<std::size_t>(place)]);
  const Side side = side_of(tokens_, ids);
  return layer(encoding).forward(encoding == Encoding::left_out ? side.embedded : side.x, call);
}

}  // namespace qkv::explain_detail
