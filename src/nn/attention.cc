#include "qkv/nn/attention.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/require.h"
#include "nn/shared_rotary.h"
#include "nn/tracing.h"
#include "nn/unseen.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/rotary.h"
#include "qkv/autograd/shape.h"
#include "qkv/decode.h"

namespace qkv {
namespace {

constexpr std::string_view kAttention = "MultiHeadAttention";

void require_sizes(const MultiHeadOptions& options) {
  nn::require_positive(kAttention, "d_model", options.d_model);
  nn::require_positive(kAttention, "heads", options.heads);
  if (!options.d_k && options.d_model % options.heads != 0) {
    throw InvalidArgument(kAttention, "heads",
                          "a divisor of `d_model`, " + std::to_string(options.d_model) + ", where `d_k` is not given",
                          std::to_string(options.heads));
  }
  if (options.kv_heads && (*options.kv_heads < 1 || options.heads % *options.kv_heads != 0)) {
    throw InvalidArgument(kAttention, "kv_heads", "a divisor of `heads`, " + std::to_string(options.heads),
                          std::to_string(*options.kv_heads));
  }
  if (options.d_k) nn::require_positive(kAttention, "d_k", *options.d_k);
  if (options.d_v) nn::require_positive(kAttention, "d_v", *options.d_v);
  if (options.d_context) nn::require_positive(kAttention, "d_context", *options.d_context);
  if (options.window) nn::require_positive(kAttention, "window", *options.window);
  if (is_centred(options.qk_norm_kind)) {
    throw InvalidArgument(kAttention, "qk_norm_kind", "rms or rms_plus_one", name_of(options.qk_norm_kind));
  }
}

void require_rotary(const MultiHeadOptions& options, std::int64_t d_k) {
  if (!options.rotary) return;
  static_cast<void>(rotary_frequencies(*options.rotary));
  if (options.rotary->dim > d_k) {
    throw InvalidArgument(kAttention, "rotary.dim", "at most `d_k`, " + std::to_string(d_k),
                          std::to_string(options.rotary->dim));
  }
}

void require_relative(const MultiHeadOptions& options) {
  const RelativeScores& relative = options.relative;
  if (relative.span < 0 || relative.span > (std::int64_t{1} << 24)) {
    throw InvalidArgument(kAttention, "relative.span", "from 0 to 2^24", std::to_string(relative.span));
  }
  if (relative.span == 0) return;
  if (relative.buckets > 0 && relative.longest <= relative.buckets / 2 + 1) {
    throw InvalidArgument(kAttention, "relative.longest", "more than half of the buckets and one",
                          std::to_string(relative.longest));
  }
  if (options.kv_heads.value_or(options.heads) != options.heads || options.d_context) {
    throw InvalidArgument(kAttention, "relative", "self-attention with as many heads of keys as of queries", "another");
  }
}

// Of distances, if `is_read` and they have one of their own.
std::optional<Linear> distance_map(const MultiHeadOptions& options, bool is_read, const Init& init, DType dtype) {
  const RelativeScores& relative = options.relative;
  if (relative.span == 0 || !relative.has_maps || !is_read) return std::nullopt;
  const std::int64_t width = options.heads * options.d_k.value_or(options.d_model / options.heads);
  return Linear({.in = options.d_model, .out = width, .bias = options.bias, .dtype = dtype}, init);
}

void require_latent(const MultiHeadOptions& options) {
  if (options.latent == LatentOptions{}) return;
  nn::require_positive(kAttention, "latent.kv_rank", options.latent.kv_rank);
  const bool has_others = options.d_context || options.qk_norm || options.relative.span > 0;
  if (!has_others && options.kv_heads.value_or(options.heads) == options.heads && options.rotary) return;
  throw InvalidArgument(kAttention, "latent",
                        "self-attention with rotary, as many key heads as heads, no qk_norm and no relative",
                        "another");
}

bool has_latent(const MultiHeadOptions& options) { return options.latent.kv_rank > 0; }

LatentSizes latent_sizes(const MultiHeadOptions& options) {
  const std::int64_t d_k = options.d_k.value_or(options.d_model / options.heads);
  return {.d_model = options.d_model,
          .heads = options.heads,
          .d_k = d_k,
          .d_v = options.d_v.value_or(d_k),
          .turned = options.rotary->dim,
          .bias = options.bias};
}

std::optional<LatentQueries> latent_queries(const MultiHeadOptions& options, const Init& init, DType dtype) {
  if (!options.latent.q_rank) return std::nullopt;
  return LatentQueries(options.latent, latent_sizes(options), init, dtype);
}

std::optional<LatentKeys> latent_keys(const MultiHeadOptions& options, const Init& init, DType dtype) {
  if (!has_latent(options)) return std::nullopt;
  return LatentKeys(options.latent, latent_sizes(options), init, dtype);
}

// Of keys or values, `width` numbers of each head.
std::optional<Linear> own_map(const MultiHeadOptions& options, std::int64_t width, bool bias, const Init& init,
                              DType dtype) {
  if (has_latent(options)) return std::nullopt;
  return Linear({.in = options.d_context.value_or(options.d_model),
                 .out = options.kv_heads.value_or(options.heads) * width,
                 .bias = bias,
                 .dtype = dtype},
                init);
}

MultiHeadOptions checked(MultiHeadOptions options) {
  require_sizes(options);
  require_relative(options);
  require_latent(options);
  require_rotary(options, options.d_k.value_or(options.d_model / options.heads));
  return options;
}

void require_sequence(std::string_view argument, std::int64_t width, const Variable& x) {
  if (!x.empty() && x.rank() == 3 && x.dim(2) == width) return;
  throw InvalidArgument(kAttention, argument, "[B, T, " + std::to_string(width) + "]",
                        x.empty() ? "an empty variable" : x.shape().to_string());
}

void require_positions(const TensorView& positions, const Variable& x) {
  const Shape& shape = positions.shape();
  if (shape == Shape{x.dim(1)} || shape == Shape{x.dim(0), x.dim(1)}) return;
  const std::string T = std::to_string(x.dim(1));
  throw InvalidArgument(kAttention, "positions", "[" + T + "] or [" + std::to_string(x.dim(0)) + ", " + T + "]",
                        shape.to_string());
}

// A cache keeps numbers alone: gradients would end there.
void require_unrecorded(std::initializer_list<const Variable*> values) {
  for (const Variable* value : values) {
    if (!value->requires_gradient()) continue;
    throw InvalidArgument(kAttention, "cache", "none while gradients are recorded", "a cache");
  }
}

// The position of the next token of sequence b.
std::int64_t position_after(const KvCache& cache, std::int64_t b) { return cache.forgotten(b) + cache.length(b); }

// Whether the next token of every sequence has the same position.
bool is_level(const KvCache& cache) {
  for (std::int64_t b = 1; b < cache.B(); ++b) {
    if (position_after(cache, b) != position_after(cache, 0)) return false;
  }
  return true;
}

// Positions of tokens that follow those in the cache.
Tensor positions_after(const KvCache& cache, std::int64_t T) {
  Tensor positions(DType::i64, {cache.B(), T});
  auto place = positions.values<std::int64_t>().begin();
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    for (std::int64_t t = 0; t < T; ++t) *place++ = position_after(cache, b) + t;
  }
  return positions;
}

// Of `heads` heads of queries, or of keys.
std::optional<Norm> head_norm(const MultiHeadOptions& options, std::int64_t heads, std::int64_t d_k, const Init& init,
                              DType dtype) {
  if (!options.qk_norm) return std::nullopt;
  const std::int64_t width = options.qk_norm_of_all ? heads * d_k : d_k;
  return Norm({.kind = options.qk_norm_kind, .width = width, .epsilon = *options.qk_norm, .dtype = dtype}, init);
}

bool has_forgotten(const KvCache& cache) {
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    if (cache.forgotten(b) > 0) return true;
  }
  return false;
}

// Where what the cache holds lies in each sequence, of which Tq queries are the last.
std::vector<MatrixWindow> windows_of(const KvCache& cache, std::int64_t Tq) {
  std::vector<MatrixWindow> windows;
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    windows.push_back({.Tq = Tq, .Tk = position_after(cache, b), .first_j = cache.forgotten(b)});
  }
  return windows;
}

// [B, Hk, T, width] of a cache whose sequences are of one length.
template <class Rows>
Variable whole(const KvCache& cache, const Rows& rows_of) {
  if (!is_level(cache)) {
    throw InvalidArgument("Trace", "cache", "sequences of equal length, to trace their attention", "different lengths");
  }
  std::vector<Variable> parts;
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    const Tensor rows = rows_of(b);
    parts.push_back(reshape(Variable(rows), rows.shape().inserted(0, 1)));
  }
  return concat(parts, 0);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options, const Init& init, DType dtype)
    : options_(checked(options)),
      rotary_(options.rotary ? nn::SharedRotary::of(*options.rotary) : nullptr),
      q_latent_(latent_queries(options, init, dtype)),
      q_({.in = options.latent.q_rank.value_or(options.d_model),
          .out = heads() * d_k(),
          .bias = options.bias && !has_latent(options),
          .dtype = dtype},
         init),
      k_(own_map(options, d_k(), options.bias && options.key_bias, init, dtype)),
      v_(own_map(options, d_v(), options.bias, init, dtype)),
      latent_(latent_keys(options, init, dtype)),
      q_norm_(head_norm(options, heads(), d_k(), init, dtype)),
      k_norm_(head_norm(options, kv_heads(), d_k(), init, dtype)),
      relative_k_(distance_map(options, options.relative.of_queries, init, dtype)),
      relative_q_(distance_map(options, options.relative.of_keys, init, dtype)),
      out_({.in = heads() * d_v(),
            .out = options.d_model,
            .bias = options.out_bias.value_or(options.bias),
            .dtype = dtype},
           init) {
  if (options.sinks) sinks_ = init.constant({heads()}, 0, dtype);
}

Variable MultiHeadAttention::normed(Side side, const Variable& packed) const {
  const std::optional<Norm>& norm = side == Side::queries ? q_norm_ : k_norm_;
  const std::int64_t count = side == Side::queries ? heads() : kv_heads();
  if (norm && options_.qk_norm_of_all) return split_heads(norm->forward(packed), count);
  const Variable split = split_heads(packed, count);
  return norm ? norm->forward(split) : split;
}

Variable MultiHeadAttention::turned(Side side, const Variable& heads_of,
                                    const std::optional<RotaryTables>& tables) const {
  if (!tables) return heads_of;
  const std::int64_t still = latent_ ? d_k() - options_.rotary->dim : 0;
  const Variable all =
      still == 0 ? rotary(heads_of, *tables)
                 : concat({slice(heads_of, 3, 0, still), rotary(slice(heads_of, 3, still, d_k()), *tables)}, 3);
  return nn::traced(side == Side::queries ? "q_rotated" : "k_rotated", all);
}

Variable MultiHeadAttention::queries_of(const Variable& x, const std::optional<RotaryTables>& tables) const {
  const Variable read = q_latent_ ? q_latent_->forward(x) : x;
  return turned(Side::queries, nn::named("q", [&] { return normed(Side::queries, q_.forward(read)); }), tables);
}

LatentKeys::KeysAndValues MultiHeadAttention::keys_and_values(const Variable& context,
                                                              const std::optional<RotaryTables>& tables) const {
  if (latent_) {
    const LatentKeys::KeysAndValues read = latent_->forward(context);
    return {.k = turned(Side::keys, nn::traced("k", read.k), tables), .v = nn::traced("v", read.v)};
  }
  const Variable k = nn::named("k", [&] { return normed(Side::keys, k_->forward(context)); });
  return {.k = turned(Side::keys, k, tables),
          .v = nn::named("v", [&] { return split_heads(v_->forward(context), kv_heads()); })};
}

AttentionOptions MultiHeadAttention::own_options(const AttentionOptions& call) const {
  AttentionOptions all = call;
  if (!all.scale) all.scale = options_.scale;
  if (!all.softcap) all.softcap = options_.softcap;
  if (options_.window) all.mask = all.mask & window(*options_.window);
  return all;
}

LearnedTerms MultiHeadAttention::own_terms(const MultiHeadCall& call) const {
  LearnedTerms all = call.learned;
  if (all.sinks.empty() && call.attention.sinks.empty()) all.sinks = sinks_;
  return all;
}

Variable MultiHeadAttention::joined(const Variable& heads_of) const {
  const Variable merged = nn::traced("concat", merge_heads(nn::traced("heads", heads_of)));
  return nn::named("out", [&] { return out_.forward(merged); });
}

// Those of the call, and the scores of distances, which are as any learned bias.
LearnedTerms MultiHeadAttention::learned_terms(const Variable& q, const Variable& k, const MultiHeadCall& call) const {
  const RelativeScores& relative = options_.relative;
  const bool has_scores = relative.span > 0 && (relative.of_queries || relative.of_keys);
  if (!has_scores) return own_terms(call);
  const Shape expected{2 * relative.span, options_.d_model};
  if (call.relative.empty() || !(call.relative.shape() == expected) || call.cache != nullptr) {
    throw InvalidArgument(kAttention, "relative", "a table " + expected.to_string() + ", and no cache",
                          call.relative.empty() ? "none" : call.relative.shape().to_string());
  }
  const std::int64_t T = q.dim(2);
  const auto rows = [&](const std::optional<Linear>& own, const Linear& other, DistanceOrder order) {
    const Variable read = relative_rows(relative, call.relative, T, order);
    return split_heads(cast((own ? *own : other).forward(read), q.dtype()), heads());
  };
  Variable scores;
  if (relative.of_queries) scores = scores_of_distances(q, rows(relative_k_, *k_, DistanceOrder::falling));
  if (relative.of_keys) {
    const Variable of_keys = transpose(scores_of_distances(k, rows(relative_q_, q_, DistanceOrder::rising)), 2, 3);
    scores = scores.empty() ? of_keys : scores + of_keys;
  }
  const double factor = options_.scale.value_or(1 / std::sqrt(static_cast<double>(d_k())));
  LearnedTerms terms = own_terms(call);
  terms.bias.emplace_back(LearnedDenseBias{nn::traced("relative", scale(scores, factor))});
  return terms;
}

Variable MultiHeadAttention::attend_over_cache(const Variable& q, const MultiHeadCall& call) const {
  AttentionOptions options = options_with(own_options(call.attention), own_terms(call));
  if (has_forgotten(*call.cache)) options.within = windows_of(*call.cache, q.dim(2));
  const KvCacheView view = call.cache->view();
  AttentionResult result = decode(q.value(), view, options);
  const Variable out(std::move(result.out));
  if (!nn::is_traced()) return joined(out);
  const DType dtype = q.dtype();
  const Variable k = whole(*call.cache, [&](std::int64_t b) { return view.keys(b, dtype); });
  const Variable v = whole(*call.cache, [&](std::int64_t b) { return view.values(b, dtype); });
  if (!options.within.empty()) options.within.resize(1);  // attention() has one for all
  return joined(nn::traced_call(q, k, v, {.out = out, .lse = Variable(std::move(result.lse)), .options = options}));
}

Variable MultiHeadAttention::attend(const Variable& x, const Variable& context, const MultiHeadCall& call,
                                    const std::optional<RotaryTables>& tables) const {
  const Variable q = queries_of(x, tables);
  const auto [k, v] = keys_and_values(context, tables);
  if (call.cache != nullptr) {
    if (q.requires_gradient()) {
      throw InvalidArgument(kAttention, "cache", "none while gradients are recorded", "a cache");
    }
    if (call.forgets) nn::make_room(*call.cache, x.dim(1));
    call.cache->append(k.value(), v.value());
    Variable out = attend_over_cache(q, call);
    if (call.forgets && options_.window && !nn::is_traced()) nn::forget_unseen(*call.cache, *options_.window);
    return out;
  }
  return joined(nn::traced_attention(q, k, v, own_options(call.attention), learned_terms(q, k, call)));
}

// Keys that a cache holds have turned as those of its text so far.
void MultiHeadAttention::require_one_turn(const KvCache& cache, std::int64_t T) const {
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    const std::int64_t before = position_after(cache, b);
    const RotaryScaling& scaling = options_.rotary->scaling;
    if (before == 0 || is_turned_as_long(scaling, before) == is_turned_as_long(scaling, before + T)) continue;
    throw InvalidArgument(kAttention, "cache",
                          "none where a text grows beyond " +
                              std::to_string(std::get<LongRopeScaling>(scaling).original_max) +
                              " tokens, since all of it turns otherwise then",
                          "one of " + std::to_string(before) + " tokens");
  }
}

std::optional<RotaryTables> MultiHeadAttention::tables_of(const Variable& x, const MultiHeadCall& call) const {
  if (!options_.rotary) {
    if (!call.positions) return std::nullopt;
    throw InvalidArgument(kAttention, "positions", "none without rotary", call.positions->shape().to_string());
  }
  if (call.cache != nullptr) require_one_turn(*call.cache, x.dim(1));
  if (call.positions) {
    require_positions(*call.positions, x);
    return rotary_tables(*options_.rotary, *call.positions);
  }
  if (call.cache != nullptr && !is_level(*call.cache)) {
    return rotary_tables(*options_.rotary, positions_after(*call.cache, x.dim(1)));
  }
  const std::int64_t begin = call.cache == nullptr || call.cache->B() == 0 ? 0 : position_after(*call.cache, 0);
  return rotary_->tables(begin, begin + x.dim(1), x.dtype());
}

Variable MultiHeadAttention::forward(const Variable& x, const MultiHeadCall& call) const {
  require_sequence("x", options_.d_model, x);
  const nn::Tracing tracing(call.trace);
  return tracing.result(attend(x, x, call, tables_of(x, call)));
}

Variable MultiHeadAttention::forward_cross(const Variable& x, const Variable& context,
                                           const MultiHeadCall& call) const {
  require_sequence("x", options_.d_model, x);
  require_sequence("context", d_context(), context);
  const nn::Tracing tracing(call.trace);
  return tracing.result(attend(x, context, call, std::nullopt));
}

Variable MultiHeadAttention::forward_remembered(const Variable& x, const MultiHeadCall& call) const {
  require_sequence("x", options_.d_model, x);
  if (call.cache == nullptr) throw InvalidArgument(kAttention, "cache", "one that read_context() has filled", "none");
  const nn::Tracing tracing(call.trace);
  const Variable q = queries_of(x, std::nullopt);
  require_unrecorded({&q});
  return tracing.result(attend_over_cache(q, call));
}

void MultiHeadAttention::read_context(const Variable& context, KvCache& cache) const {
  require_sequence("context", d_context(), context);
  const auto [k, v] = keys_and_values(context, std::nullopt);
  require_unrecorded({&k, &v});
  cache.append(k.value(), v.value());
}

std::int64_t MultiHeadAttention::held_tokens(std::int64_t tokens) const {
  return options_.window ? std::min(tokens, nn::most_held(*options_.window)) : tokens;
}

KvFormat MultiHeadAttention::cache_format(DType dtype) const {
  return {.Hk = kv_heads(), .D = d_k(), .Dv = d_v(), .dtype = dtype};
}

Parameters MultiHeadAttention::parameters() const {
  Parameters all;
  if (q_latent_) all = q_latent_->parameters();
  append(all, "q", q_.parameters());
  if (k_) append(all, "k", k_->parameters());
  if (v_) append(all, "v", v_->parameters());
  if (latent_) std::ranges::copy(latent_->parameters(), std::back_inserter(all));
  if (q_norm_) append(all, "q_norm", q_norm_->parameters());
  if (k_norm_) append(all, "k_norm", k_norm_->parameters());
  if (relative_k_) append(all, "relative_k", relative_k_->parameters());
  if (relative_q_) append(all, "relative_q", relative_q_->parameters());
  append(all, "out", out_.parameters());
  if (!sinks_.empty()) all.push_back({"sinks", sinks_});
  return all;
}

}  // namespace qkv
