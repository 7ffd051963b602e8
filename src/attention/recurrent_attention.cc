#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/validate.h"
#include "kernels/linear/linear.h"
#include "qkv/linear_attention.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::linear::Recurrence;

constexpr std::string_view kRecurrent = "recurrent_attention";

bool decays(UpdateRule rule) { return rule == UpdateRule::gated || rule == UpdateRule::gated_delta; }
bool corrects(UpdateRule rule) { return rule == UpdateRule::delta || rule == UpdateRule::gated_delta; }

std::string_view name_of(UpdateRule rule) {
  switch (rule) {
    case UpdateRule::linear:
      return "linear";
    case UpdateRule::gated:
      return "gated";
    case UpdateRule::delta:
      return "delta";
    case UpdateRule::gated_delta:
      return "gated_delta";
  }
  __builtin_unreachable();
}

void require(bool holds, std::string_view argument, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument(kRecurrent, argument, expected, got);
}

// A rule needs an option or refuses it.
void require_wanted(std::string_view argument, UpdateRule rule, bool wanted, const std::optional<TensorView>& given) {
  const std::string by = fmt::format("by the rule {}", name_of(rule));
  require(!wanted || given, argument, "a tensor, wanted " + by, "none");
  require(wanted || !given, argument, "none, not used " + by, given ? given->shape().to_string() : "");
}

void require_one_of(std::string_view argument, const TensorView& given, DType dtype, const Shape& shape,
                    const Shape& other) {
  require(given.dtype() == dtype, argument, fmt::format("{} as q", qkv::name_of(dtype)),
          std::string(qkv::name_of(given.dtype())));
  require(given.shape() == shape || given.shape() == other, argument,
          fmt::format("{} or {}", shape.to_string(), other.to_string()), given.shape().to_string());
}

Recurrence validated_recurrence(const TensorView& q, const TensorView& k, const RecurrentAttentionOptions& options) {
  require_wanted("decay", options.rule, decays(options.rule), options.decay);
  require_wanted("beta", options.rule, corrects(options.rule), options.beta);
  const Shape rows = {k.dim(0), k.dim(1), k.dim(2)};
  if (options.decay) {
    require_one_of("decay", *options.decay, q.dtype(), rows.inserted(3, k.dim(3)), rows.inserted(3, 1));
  }
  if (options.beta) require_one_of("beta", *options.beta, q.dtype(), rows, {rows[0], 1, rows[2]});
  Recurrence recurrence = {.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3)))),
                           .decay = options.decay,
                           .beta = std::nullopt};
  if (options.beta) recurrence.beta = options.beta->unsqueeze(3);
  return recurrence;
}

void validate_past(const TensorView& past, const Shape& shape) {
  require(is_floating(past.dtype()), "past_state", "f64, f32, f16 or bf16", std::string(qkv::name_of(past.dtype())));
  require(past.shape() == shape, "past_state", fmt::format("a shape [B, Hk, D, Dv] = {}", shape.to_string()),
          past.shape().to_string());
}

}  // namespace

RecurrentAttentionResult recurrent_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                                             const RecurrentAttentionOptions& options) {
  static_cast<void>(validated(kRecurrent, q, k, {.scale = options.scale, .threads = options.threads}));
  validate_values(kRecurrent, k, v);
  require(k.dim(2) == q.dim(2), "k", fmt::format("T = {} as in q {}", q.dim(2), q.shape().to_string()),
          k.shape().to_string());
  const Recurrence recurrence = validated_recurrence(q, k, options);
  const Shape shape = {k.dim(0), k.dim(1), k.dim(3), v.dim(3)};
  if (options.past_state) validate_past(*options.past_state, shape);

  const DType dtype = kernels::linear::state_dtype(q.dtype());
  Tensor state = options.past_state ? Tensor(*options.past_state, dtype) : Tensor(dtype, shape);
  Tensor out(q.dtype(), {q.dim(0), q.dim(1), q.dim(2), v.dim(3)});
  const std::int64_t heads = std::max<std::int64_t>(shape[0] * shape[1], 1);
  const std::int64_t threads = std::min<std::int64_t>(options.threads.value_or(qkv::threads()), heads);
  kernels::linear::recur({.q = q, .k = k, .v = v, .threads = static_cast<int>(threads)}, recurrence, state, out);
  return {.out = std::move(out), .state = state.to(options.past_state ? options.past_state->dtype() : q.dtype())};
}

}  // namespace qkv
