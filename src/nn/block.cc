#include "qkv/nn/block.h"

#include <array>
#include <string>
#include <utility>

#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/checkpoint.h"
#include "qkv/autograd/dropout.h"

namespace qkv {
namespace {

constexpr std::string_view kBlock = "TransformerBlock";

Variable dropped(const Variable& x, const std::optional<Dropout>& dropout, std::uint64_t place) {
  return dropout ? qkv::dropout(x, dropout_at(*dropout, place)) : x;
}

MultiHeadOptions cross_options(const BlockOptions& options) {
  MultiHeadOptions cross = options.attention;
  cross.d_context = options.d_context;
  cross.rotary.reset();
  cross.window.reset();
  cross.relative = {};
  return cross;
}

std::optional<MultiHeadAttention> cross_of(const BlockOptions& options, const Init& init, DType dtype) {
  if (!options.d_context) return std::nullopt;
  return MultiHeadAttention(cross_options(options), init, dtype);
}

FeedForwardOptions feed_forward_of(const BlockOptions& options, DType dtype) {
  return {.d_model = options.attention.d_model,
          .d_ff = options.d_ff,
          .activation = options.activation,
          .kind = options.feed_forward,
          .limit = options.feed_forward_limit,
          .bias = options.feed_forward_bias.value_or(options.attention.bias),
          .dtype = dtype};
}

std::variant<FeedForward, Experts> feed_forward_in(const BlockOptions& options, const Init& init, DType dtype) {
  const FeedForwardOptions layer = feed_forward_of(options, dtype);
  if (options.experts.count == 0) return FeedForward(layer, init);
  return Experts(options.experts, layer, init);
}

NormOptions norm_of(const BlockOptions& options, DType dtype) {
  return {.kind = options.norm, .width = options.attention.d_model, .epsilon = options.epsilon, .dtype = dtype};
}

// Draws nothing, so that its place among the parameters is free.
std::optional<Norm> norm_if(bool is_wanted, const BlockOptions& options, const Init& init, DType dtype) {
  return is_wanted ? std::optional<Norm>(Norm(norm_of(options, dtype), init)) : std::nullopt;
}

Variable factors_if(bool is_wanted, const BlockOptions& options, const Init& init, DType dtype) {
  return is_wanted ? init.constant({options.attention.d_model}, 1, dtype) : Variable();
}

}  // namespace

std::string_view name_of(NormOrder order) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"pre", "post", "both", "after", "parallel", "parallel_one"};
  return kNames[static_cast<std::size_t>(order)];
}

struct TransformerBlock::Inputs {
  Variable x;
  Variable context = {};        // empty if there is none
  BlockCache* cache = nullptr;  // used instead of context
};

TransformerBlock::TransformerBlock(const BlockOptions& options, const Init& init, DType dtype)
    : order_(options.order),
      attention_(options.attention, init, dtype),
      cross_(cross_of(options, init, dtype)),
      feed_forward_(feed_forward_in(options, init, dtype)),
      residual_scale_(options.residual_scale),
      ln1_(norm_if(order_ != NormOrder::after && options.first_norm, options, init, dtype)),
      ln_cross_(norm_if(cross_ && order_ != NormOrder::after, options, init, dtype)),
      ln2_(norm_if(order_ != NormOrder::after && order_ != NormOrder::parallel_one, options, init, dtype)),
      attention_norm_(norm_if(has_norms_after(order_), options, init, dtype)),
      cross_norm_(norm_if(has_norms_after(order_) && cross_, options, init, dtype)),
      feed_forward_norm_(norm_if(has_norms_after(order_), options, init, dtype)),
      attention_scale_(factors_if(options.layer_scale, options, init, dtype)),
      feed_forward_scale_(factors_if(options.layer_scale, options, init, dtype)) {
  if (!options.first_norm && order_ != NormOrder::pre) {
    throw InvalidArgument(kBlock, "first_norm", "true where norms do not stand before sublayers alone", "false");
  }
  if (is_parallel(order_) && cross_) {
    throw InvalidArgument(kBlock, "d_context", "none where sublayers are parallel", std::to_string(*options.d_context));
  }
  if (options.layer_scale && cross_) {
    throw InvalidArgument(kBlock, "layer_scale", "false where there is cross-attention", "true");
  }
  if (options.attention.d_context && options.d_context) {
    throw InvalidArgument(kBlock, "attention.d_context", "none if d_context is given",
                          std::to_string(*options.attention.d_context));
  }
}

Variable TransformerBlock::forward(const Variable& x, const BlockCall& call) const {
  if (reads_context()) throw InvalidArgument(kBlock, "context", "one for the cross-attention", "none");
  return run({.x = x}, call);
}

Variable TransformerBlock::forward_cross(const Variable& x, const Variable& context, const BlockCall& call) const {
  if (!reads_context()) {
    throw InvalidArgument(kBlock, "context", "none without cross-attention", context.shape().to_string());
  }
  return run({.x = x, .context = context}, call);
}

Variable TransformerBlock::forward_cached(const Variable& x, BlockCache& cache, const BlockCall& call) const {
  if (cross_.has_value() != cache.context.has_value()) {
    throw InvalidArgument(kBlock, "cache", cross_ ? "one with a context" : "one without a context", "the other");
  }
  return run({.x = x, .cache = &cache}, call);
}

BlockCache TransformerBlock::make_cache(std::int64_t B, std::int64_t capacity, DType dtype,
                                        const Variable& context) const {
  const KvCacheOptions of_tokens{
      .format = attention_.cache_format(dtype), .B = B, .capacity = attention_.held_tokens(capacity)};
  BlockCache cache{.tokens = KvCache(of_tokens), .window = attention_.options().window};
  if (cross_.has_value() == context.empty()) {
    throw InvalidArgument(kBlock, "context", cross_ ? "one for the cross-attention" : "none without cross-attention",
                          context.empty() ? "none" : context.shape().to_string());
  }
  if (!cross_) return cache;
  cache.context.emplace(KvCacheOptions{.format = cross_->cache_format(dtype), .B = B, .capacity = context.dim(1)});
  cross_->read_context(context, *cache.context);
  return cache;
}

Variable TransformerBlock::run(const Inputs& inputs, const BlockCall& call) const {
  const nn::Tracing tracing(call.trace);
  if (call.memory == BlockMemory::keep) return tracing.result(compute(inputs, call));
  if (nn::is_traced()) throw InvalidArgument(kBlock, "memory", "keep if there is a trace", "recompute");
  // The second run may come after the caller's positions are gone, so it keeps a copy.
  std::optional<Tensor> positions;
  if (call.positions) positions.emplace(*call.positions);
  const auto block = [self = *this, call, positions](const std::vector<Variable>& again) {
    BlockCall second = call;
    if (positions) second.positions = positions->view();
    return self.compute({.x = again[0], .context = again.size() > 1 ? again[1] : Variable()}, second);
  };
  return checkpoint(block, inputs.context.empty() ? std::vector<Variable>{inputs.x}
                                                  : std::vector<Variable>{inputs.x, inputs.context});
}

// x and a sublayer's result of `read`, with its norms.
template <class Sublayer>
Variable TransformerBlock::with_residual(const Variable& x, const Variable& read, const Place& place,
                                         const Sublayer& sublayer) const {
  const auto normed = [&](const char* name, const Norm& norm, const Variable& input) {
    return nn::named(name, [&] { return norm.forward(input); });
  };
  const auto added = [&](const Variable& out) { return residual_scale_ ? x + scale(out, *residual_scale_) : x + out; };
  const auto inner = [&](const Variable& input) {
    const Variable out = nn::named(place.name, [&] { return sublayer(input); });
    if (place.factor.empty()) return out;
    return nn::named(place.scale_name, [&] { return out * cast(place.factor, out.dtype()); });
  };
  if (order_ == NormOrder::post) {
    return normed(place.norm_name, *place.norm, nn::traced(place.sum_name, added(inner(read))));
  }
  Variable out = inner(place.norm ? normed(place.norm_name, *place.norm, read) : read);
  if (place.after) out = normed(place.after_name, *place.after, out);
  return nn::traced(place.sum_name, added(out));
}

Variable TransformerBlock::compute(const Inputs& inputs, const BlockCall& call) const {
  MultiHeadCall self{
      .attention = call.attention, .learned = call.learned, .positions = call.positions, .relative = call.relative};
  MultiHeadCall cross{.attention = call.cross_attention};
  if (inputs.cache != nullptr) {
    self.cache = &inputs.cache->tokens;
    self.forgets = inputs.cache->window.has_value();
    if (inputs.cache->context) cross.cache = &*inputs.cache->context;
  }
  const Variable x = nn::traced("resid_pre", inputs.x);
  const bool is_shared = order_ == NormOrder::parallel_one;
  const Variable first = is_shared ? nn::named("ln1", [&] { return ln1_->forward(x); }) : x;
  const std::optional<Norm> none;
  const Variable unscaled;
  const Place at_attention{"ln1",        is_shared ? none : ln1_, "attn",     "attn_norm", attention_norm_,
                           "attn_scale", attention_scale_,        "resid_mid"};
  Variable state = with_residual(x, first, at_attention, [&](const Variable& input) {
    const bool reads_own = !attention_.options().d_context;
    const Variable out =
        reads_own ? attention_.forward(input, self) : attention_.forward_cross(input, inputs.context, self);
    return dropped(out, call.dropout, 0);
  });
  if (cross_) {
    const Place at_cross{"ln_cross", ln_cross_, "cross", "cross_norm", cross_norm_, "", unscaled, "resid_cross"};
    state = with_residual(state, state, at_cross, [&](const Variable& input) {
      const Variable out = cross.cache != nullptr ? cross_->forward_remembered(input, cross)
                                                  : cross_->forward_cross(input, inputs.context, cross);
      return dropped(out, call.dropout, 1);
    });
  }
  // A post-norm block has its sum before the norm, and the norm's result is its output.
  const bool is_post = order_ == NormOrder::post;
  const Place at_feed_forward{"ln2",
                              ln2_,
                              "ffn",
                              "ffn_norm",
                              feed_forward_norm_,
                              "ffn_scale",
                              feed_forward_scale_,
                              is_post ? "resid_ffn" : "resid_post"};
  state = with_residual(state, is_parallel(order_) ? first : state, at_feed_forward, [&](const Variable& input) {
    return dropped(std::visit([&](const auto& layer) { return layer.forward(input); }, feed_forward_), call.dropout, 2);
  });
  return is_post ? nn::traced("resid_post", state) : state;
}

Parameters TransformerBlock::parameters() const {
  Parameters all;
  if (ln1_) append(all, "ln1", ln1_->parameters());
  append(all, "attn", attention_.parameters());
  if (!attention_scale_.empty()) all.push_back({"attn_scale.weight", attention_scale_});
  if (attention_norm_) append(all, "attn_norm", attention_norm_->parameters());
  if (cross_) {
    if (ln_cross_) append(all, "ln_cross", ln_cross_->parameters());
    append(all, "cross", cross_->parameters());
  }
  if (cross_norm_) append(all, "cross_norm", cross_norm_->parameters());
  if (ln2_) append(all, "ln2", ln2_->parameters());
  append(all, "ffn", std::visit([](const auto& layer) { return layer.parameters(); }, feed_forward_));
  if (!feed_forward_scale_.empty()) all.push_back({"ffn_scale.weight", feed_forward_scale_});
  if (feed_forward_norm_) append(all, "ffn_norm", feed_forward_norm_->parameters());
  return all;
}

}  // namespace qkv
