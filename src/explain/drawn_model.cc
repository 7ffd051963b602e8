#include "explain/drawn_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/room.h"
#include "explain/target.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/nn/block.h"
#include "qkv/nn/embedding.h"
#include "qkv/nn/position.h"
#include "qkv/random.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kWidest = 4096;
constexpr std::int64_t kLargestMap = std::int64_t{1} << 24;  // numbers of a projection
constexpr std::int64_t kFeedForward = 4;                     // d_ff / d_model
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

Tensor looked_up(const Tensor& table, const std::vector<std::int64_t>& ids) {
  const Embedding rows{Variable(table)};
  return Tensor(rows.forward(Tensor(ids, {static_cast<std::int64_t>(ids.size())}), DType::f64).value());
}

Tensor sum_of(const Tensor& a, const Tensor& b) { return Tensor((Variable(a) + Variable(b)).value()); }

// One text is a batch of one.
Variable as_batch(const Tensor& x) { return Variable(Tensor(x.view().unsqueeze(0))); }

// The layers keep weights [outputs, inputs]; here they are drawn as the formulas have them.
void assign_map(const Parameters& parameters, const std::string& name, const Tensor& weight) {
  assign(parameters, name + ".weight", weight.view().transpose(0, 1));
}

void fill_norm(const Parameters& parameters, const std::string& name, std::int64_t width) {
  assign(parameters, name + ".weight", Tensor(std::vector<double>(static_cast<std::size_t>(width), 1.0), {width}));
}

}  // namespace

DrawnModel::DrawnModel(ExplainOptions options) : options_(std::move(options)) {
  tokens_ = split_words("text", options_.text);
  ids_ = vocabulary_.ids(tokens_);
  if (options_.context) {
    context_tokens_ = split_words("context", *options_.context);
    context_ids_ = vocabulary_.ids(context_tokens_);
  }
  resolve_widths();
  draw_parameters();
}

void DrawnModel::resolve_widths() {
  require_width("d_model", options_.d_model);
  require_width("heads", options_.heads);
  if (!options_.d_k && options_.d_model % options_.heads != 0) {
    const ExplainOptions usual;
    if (options_.heads == usual.heads && options_.d_model != usual.d_model) {
      throw InvalidArgument("explain", "d_model",
                            fmt::format("a multiple of `heads`, {} (or a `d_k` of your own)", options_.heads),
                            fmt::format("{}", options_.d_model));
    }
    throw InvalidArgument("explain", "heads",
                          fmt::format("a divisor of `d_model` = {} (or a `d_k` of your own)", options_.d_model),
                          fmt::format("{}", options_.heads));
  }
  kv_heads_ = options_.kv_heads.value_or(options_.heads);
  if (kv_heads_ < 1 || options_.heads % kv_heads_ != 0) {
    throw InvalidArgument("explain", "kv_heads", fmt::format("a divisor of `heads`, {}", options_.heads),
                          fmt::format("{}", kv_heads_));
  }
  d_k_ = options_.d_k.value_or(options_.d_model / options_.heads);
  d_v_ = options_.d_v.value_or(d_k_);
  require_width("d_k", d_k_);
  require_width("d_v", d_v_);
  const std::int64_t most = kLargestMap / (options_.d_model * std::max(d_k_, d_v_));
  if (options_.heads > most) {
    throw InvalidArgument(
        "explain", "heads",
        fmt::format("at most {} of that width: `d_model` × `heads` × `d_k` is at most {}", most, kLargestMap),
        fmt::format("{}", options_.heads));
  }
  const auto queries = static_cast<std::int64_t>(tokens_.size());
  require_few_weights(options_.heads, queries,
                      is_cross() ? static_cast<std::int64_t>(context_tokens_.size()) : queries);
  if (options_.position == Positions::rotary && d_k_ % 2 != 0) {
    throw InvalidArgument("explain", "d_k", "an even width, because rotary positions turn pairs",
                          fmt::format("{}", d_k_));
  }
}

void DrawnModel::draw_parameters() {
  const std::int64_t width = options_.d_model;
  Generator generator(options_.seed);
  parameters_.embedding = draw(generator, {static_cast<std::int64_t>(vocabulary_.words().size()), width}, 1.0);
  parameters_.w_q = projection(generator, width, options_.heads * d_k_);
  parameters_.w_k = projection(generator, width, kv_heads_ * d_k_);
  parameters_.w_v = projection(generator, width, kv_heads_ * d_v_);
  parameters_.w_o = projection(generator, options_.heads * d_v_, width);
  if (options_.surroundings != Surroundings::attention_only) {
    parameters_.w_1 = projection(generator, width, kFeedForward * width);
    parameters_.w_2 = projection(generator, kFeedForward * width, width);
  }
  Generator positions(options_.seed + 1);
  const auto longest = static_cast<std::int64_t>(std::max(tokens_.size(), context_tokens_.size()));
  if (options_.position == Positions::learned) parameters_.learned = draw(positions, {longest, width}, 1.0);
  if (options_.position == Positions::t5) parameters_.t5 = draw(positions, {kT5.buckets, options_.heads}, 1.0);
}

Side DrawnModel::side_of(const std::vector<std::string>& tokens, const std::vector<std::int64_t>& ids) const {
  Side side;
  side.tokens = tokens;
  side.ids = ids;
  side.embedded = looked_up(parameters_.embedding, ids);
  if (options_.position == Positions::sinusoidal) {
    side.encoding = sinusoidal(static_cast<std::int64_t>(ids.size()), options_.d_model);
  }
  if (options_.position == Positions::learned) {
    std::vector<std::int64_t> places(ids.size());
    std::iota(places.begin(), places.end(), 0);
    side.encoding = looked_up(parameters_.learned, places);
  }
  side.x = side.encoding.empty() ? side.embedded : sum_of(side.embedded, side.encoding);
  return side;
}

AttentionOptions DrawnModel::attention_options() const {
  AttentionOptions attention = {.target = kTarget};
  attention.scale = options_.scale;
  attention.softcap = options_.softcap;
  attention.dropout = options_.dropout;
  attention.mask = options_.mask;
  attention.bias = options_.bias;
  // ALiBi and T5 count from the diagonal that the mask counts from; the default of both is bottom_right.
  if (options_.position == Positions::alibi) attention.bias = attention.bias + alibi();
  if (options_.position == Positions::t5) attention.bias = attention.bias + t5_bias(parameters_.t5, kT5);
  return attention;
}

MultiHeadOptions DrawnModel::layer_options(Encoding encoding) const {
  MultiHeadOptions layer;
  layer.d_model = options_.d_model;
  layer.heads = options_.heads;
  layer.kv_heads = kv_heads_;
  layer.d_k = d_k_;
  layer.d_v = d_v_;
  layer.bias = false;
  if (is_cross()) layer.d_context = options_.d_model;
  if (options_.position == Positions::rotary && encoding == Encoding::as_chosen) {
    layer.rotary.emplace();
    layer.rotary->dim = d_k_;
    layer.rotary->layout = RotaryLayout::interleaved;
  }
  return layer;
}

void DrawnModel::assign_attention(const Parameters& parameters, const std::string& scope) const {
  assign_map(parameters, scope + "q", parameters_.w_q);
  assign_map(parameters, scope + "k", parameters_.w_k);
  assign_map(parameters, scope + "v", parameters_.w_v);
  assign_map(parameters, scope + "out", parameters_.w_o);
}

MultiHeadAttention DrawnModel::layer(Encoding encoding) const {
  MultiHeadAttention made(layer_options(encoding), Init::undrawn(), DType::f64);
  assign_attention(made.parameters(), "");
  return made;
}

TransformerBlock DrawnModel::block() const {
  BlockOptions options{.attention = layer_options(Encoding::as_chosen), .d_ff = kFeedForward * options_.d_model};
  options.order = options_.surroundings == Surroundings::pre_norm_block ? NormOrder::pre : NormOrder::post;
  TransformerBlock made(options, Init::undrawn(), DType::f64);
  const Parameters parameters = made.parameters();
  assign_attention(parameters, "attn.");
  assign_map(parameters, "ffn.up", parameters_.w_1);
  assign_map(parameters, "ffn.down", parameters_.w_2);
  fill_norm(parameters, "ln1", options_.d_model);
  fill_norm(parameters, "ln2", options_.d_model);
  return made;
}

// Everything that is shown is what the layers computed.
void DrawnModel::read_attention(Run& run, const Trace& trace, const std::string& scope) {
  run.q = trace[scope + "q"];
  run.k = trace[scope + "k"];
  run.v = trace[scope + "v"];
  if (trace.contains(scope + "q_rotated")) {
    run.q_plain = run.q;
    run.k_plain = run.k;
    run.q = trace[scope + "q_rotated"];
    run.k = trace[scope + "k_rotated"];
  }
  run.out = trace[scope + "heads"];
  run.concat = Tensor(trace[scope + "concat"].view().select(0, 0));
  run.output = Tensor(trace[scope + "out"].view().select(0, 0));
}

void DrawnModel::run_attention(Run& run) const {
  Trace trace;
  const MultiHeadAttention attention = layer(Encoding::as_chosen);
  const MultiHeadCall call{.attention = run.attention, .trace = &trace};
  const Variable x = as_batch(run.queries.x);
  if (is_cross()) {
    static_cast<void>(attention.forward_cross(x, as_batch(run.keys.x), call));
  } else {
    static_cast<void>(attention.forward(x, call));
  }
  read_attention(run, trace, "");
}

void DrawnModel::run_block(Run& run) const {
  Trace trace;
  const BlockCall call{.attention = run.attention, .trace = &trace};
  const Variable x = as_batch(run.queries.x);
  if (is_cross()) {
    static_cast<void>(block().forward_cross(x, as_batch(run.keys.x), call));
  } else {
    static_cast<void>(block().forward(x, call));
  }
  read_attention(run, trace, "attn.");
  const bool is_pre = options_.surroundings == Surroundings::pre_norm_block;
  const auto value = [&](const char* name) { return Tensor(trace[name].view().select(0, 0)); };
  run.block = BlockRun{.norm_1 = value("ln1"),
                       .residual_1 = value("resid_mid"),
                       .norm_2 = value("ln2"),
                       .up = value("ffn.up"),
                       .activated = value("ffn.activated"),
                       .down = value("ffn.down"),
                       .residual_2 = value(is_pre ? "resid_post" : "resid_ffn"),
                       .result = value("resid_post")};
}

Run DrawnModel::run() const {
  const NoGradient constant;
  Run run;
  run.heads = options_.heads;
  run.kv_heads = kv_heads_;
  run.d_k = d_k_;
  run.d_v = d_v_;
  run.queries = side_of(tokens_, ids_);
  run.keys = is_cross() ? side_of(context_tokens_, context_ids_) : run.queries;
  run.attention = attention_options();
  if (options_.surroundings == Surroundings::attention_only) {
    run_attention(run);
  } else {
    run_block(run);
  }
  return run;
}

Tensor DrawnModel::output_in_order(const std::vector<std::int64_t>& order, Encoding encoding) const {
  const NoGradient constant;
  MultiHeadCall call;
  call.attention = attention_options();
  call.attention.mask = Mask();
  call.attention.dropout = std::nullopt;
  if (encoding == Encoding::left_out) call.attention.bias = Bias();
  std::vector<std::int64_t> ids;
  ids.reserve(order.size());
  for (const std::int64_t place : order) ids.push_back(ids_[static_cast<std::size_t>(place)]);
  const Side side = side_of(tokens_, ids);
  const Tensor& x = encoding == Encoding::left_out ? side.embedded : side.x;
  return Tensor(layer(encoding).forward(as_batch(x), call).value().select(0, 0));
}

}  // namespace qkv::explain_detail
