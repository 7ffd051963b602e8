#include "qkv/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "attention/check.h"
#include "attention/outputs.h"
#include "attention/validate.h"
#include "cache/decode_fused.h"
#include "cache/kv_gather.h"
#include "kernels/reference/attention.h"
#include "kernels/targets.h"

namespace qkv {
namespace {

DecodeCall validated_call(std::string_view function, const TensorView& q, const KvCacheView& cache,
                          const AttentionOptions& options) {
  const Check check(function);
  check.that(q.rank() == 4, "q", "a shape [B, Hq, Tq, D]", q.shape());
  check.that(is_floating(q.dtype()), "q", "f64, f32, f16 or bf16", q.dtype());
  check.that(q.dim(1) > 0, "q", "Hq >= 1 in [B, Hq, Tq, D]", q.shape());
  const auto agree = [&](std::string_view letter, std::int64_t wanted, std::int64_t got) {
    const auto expected = [&] { return fmt::format("{} = {} as in q {}", letter, wanted, q.shape().to_string()); };
    check.that(wanted == got, "cache", expected, got);
  };
  agree("B", q.dim(0), cache.B());
  agree("D", q.dim(3), cache.D());
  check.that(cache.dtype() != DType::f64 || q.dtype() == DType::f64, "cache", "f32, f16, bf16 or i8, unless q is f64",
             cache.dtype());
  check.that(
      q.dim(1) % cache.Hk() == 0, "cache", [&] { return fmt::format("Hk that divides Hq = {}", q.dim(1)); },
      [&] { return fmt::format("Hk = {}", cache.Hk()); });
  validate_numbers(function, options, q.dim(1));
  check.that(!options.ragged, "ragged", "none: each sequence has its own length", "one");
  check.that(options.plan == nullptr, "plan", "none: each sequence has its own length", "one");
  validate_windows(function, options, cache.B(), "sequences");
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    validate_entry(function, options, b, {.B = cache.B(), .H = q.dim(1), .Tq = q.dim(2), .Tk = cache.length(b)});
  }
  DecodeCall call = {.q = q,
                     .cache = cache,
                     .options = options,
                     .problem = {.q = q,
                                 .k = {},
                                 .shape = {.B = cache.B(), .H = q.dim(1), .Tq = q.dim(2)},
                                 .group = q.dim(1) / cache.Hk(),
                                 .scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3)))),
                                 .softcap = options.softcap,
                                 .dropout = options.dropout,
                                 .sinks = options.sinks}};
  set_mask_and_bias(options, call.problem);
  return call;
}

// Whether any query of any head sees any token of a column of tiles.
bool is_seen(const TilePlan& plan, std::int64_t column) {
  for (std::int64_t h = 0; h < plan.shape().H; ++h) {
    for (std::int64_t row = 0; row < plan.rows(); ++row) {
      if (plan.tile(0, h, row, column) != TileClass::skip) return true;
    }
  }
  return false;
}

void decode_on_reference(const DecodeCall& call, const MutableTensorView& out, const MutableTensorView& lse) {
  const SequencePlans plans(call);
  for (std::int64_t b = 0; b < call.cache.B(); ++b) {
    const MaskShape shape = call.shape(b);
    Tensor k(DType::f64, {1, call.cache.Hk(), shape.Tk, call.cache.D()});
    Tensor v(DType::f64, {1, call.cache.Hk(), shape.Tk, call.cache.Dv()});
    for (std::int64_t column = 0; column < plans[b].columns(); ++column) {
      if (!is_seen(plans[b], column)) continue;
      const std::int64_t first = column * plans[b].tile_size().keys;
      const KeyRange tokens = {first, std::min(first + plans[b].tile_size().keys, shape.Tk)};
      kv_detail::read_keys(call.cache, b, tokens, k);
      kv_detail::read_values(call.cache, b, tokens, v);
    }
    kernels::Problem problem = call.problem;
    problem.q = call.q.slice(0, b, b + 1);
    problem.k = k;
    problem.v = v;
    problem.shape = shape;
    problem.first_b = b;
    problem.window = window_of(call.options, b, shape);
    kernels::reference::forward(problem, out.slice(0, b, b + 1), lse.slice(0, b, b + 1));
  }
}

// The entries that the length of sequence b needs.
Reach reach_of_table(const KvCacheView& cache, std::int64_t b) {
  const std::int32_t* entries = cache.pages(b);
  if (entries == nullptr) return {};
  const std::int64_t tokens = cache.buffers().k.dim(2);
  const std::int64_t count = (cache.length(b) - 1) / tokens + 1;
  return reach_of(std::as_bytes(std::span(entries, static_cast<std::size_t>(count))));
}

void validate_memory(std::string_view function, const KvCacheView& cache, const OutputMemory& memory) {
  const auto& [k, v, k_scales, v_scales] = cache.buffers();
  const std::array<NamedReach, 5> inputs = {
      NamedReach{"q", reach_of(memory.q)}, NamedReach{"the cache's k", reach_of(k)},
      NamedReach{"the cache's v", reach_of(v)}, NamedReach{"the cache's k_scales", reach_of(k_scales)},
      NamedReach{"the cache's v_scales", reach_of(v_scales)}};
  validate_outputs(function, memory, inputs);
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    const NamedReach table = {"the cache's page_table", reach_of_table(cache, b)};
    validate_apart(function, memory, {&table, 1});
  }
}

void run(std::string_view function, const DecodeCall& call, const MutableTensorView& out,
         const MutableTensorView& lse) {
  const auto& [q, cache, options, problem] = call;
  const auto* target = kernels::cpu::find_target(kernels::target_for(function, q.dtype(), options.target));
  validate_memory(function, cache, {.q = q, .Dv = cache.Dv(), .out = out, .lse = lse, .scratch = options.scratch});
  if (target == nullptr) {
    decode_on_reference(call, out, lse);
  } else {
    decode_fused(function, call, *target, out, lse);
  }
}

}  // namespace

AttentionResult decode(const TensorView& q, const KvCacheView& cache, const AttentionOptions& options) {
  const DecodeCall call = validated_call("decode", q, cache, options);
  AttentionResult result = {.out = Tensor(q.dtype(), {q.dim(0), q.dim(1), q.dim(2), cache.Dv()}),
                            .lse = Tensor(lse_dtype(q.dtype()), {q.dim(0), q.dim(1), q.dim(2)})};
  run("decode", call, result.out, result.lse);
  return result;
}

void decode_into(const MutableTensorView& out, const MutableTensorView& lse, const TensorView& q,
                 const KvCacheView& cache, const AttentionOptions& options) {
  const DecodeCall call = validated_call("decode_into", q, cache, options);
  run("decode_into", call, out, lse);
}

std::size_t decode_scratch_bytes(const TensorView& q, const KvCacheView& cache, const AttentionOptions& options) {
  const DecodeCall call = validated_call("decode_scratch_bytes", q, cache, options);
  const std::string_view name = kernels::target_for("decode_scratch_bytes", q.dtype(), options.target);
  const auto* target = kernels::cpu::find_target(name);
  return target == nullptr ? 0 : decode_scratch_bytes(call, *target);
}

}  // namespace qkv
