#include "attention/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "attention/ragged.h"
#include "kernels/cpu/forward.h"

namespace qkv {
namespace {

class Check {
 public:
  explicit Check(std::string_view function) : function_(function) {}

  void that(bool holds, std::string_view argument, const std::string& expected, const std::string& got) const {
    if (!holds) throw InvalidArgument(function_, argument, expected, got);
  }

  void tensor(std::string_view argument, const TensorView& view, std::string_view axes) const {
    that(view.rank() == 4, argument, "a shape " + std::string(axes), view.shape().to_string());
    that(is_floating(view.dtype()), argument, "f64, f32, f16 or bf16", std::string(name_of(view.dtype())));
  }

  void same_dtype(std::string_view argument, const TensorView& view, std::string_view other_argument,
                  const TensorView& other) const {
    that(view.dtype() == other.dtype(), argument,
         std::string(name_of(other.dtype())) + " as " + std::string(other_argument),
         std::string(name_of(view.dtype())));
  }

  void extent(std::string_view argument, const TensorView& view, int axis, std::string_view letter,
              std::string_view other_argument, const TensorView& other) const {
    that(view.dim(axis) == other.dim(axis), argument,
         std::string(letter) + " = " + fmt::to_string(other.dim(axis)) + " as in " + std::string(other_argument) + " " +
             other.shape().to_string(),
         view.shape().to_string());
  }

 private:
  std::string_view function_;
};

void check_shapes(const Check& check, const TensorView& q, const TensorView& k) {
  check.tensor("q", q, "[B, Hq, Tq, D]");
  check.tensor("k", k, "[B, Hk, Tk, D]");
  check.same_dtype("k", k, "q", q);
  check.that(q.dim(1) > 0, "q", "Hq >= 1 in [B, Hq, Tq, D]", q.shape().to_string());
  check.that(q.dim(3) > 0, "q", "D >= 1 in [B, Hq, Tq, D]", q.shape().to_string());
  check.extent("k", k, 0, "B", "q", q);
  check.extent("k", k, 3, "D", "q", q);
  check.that(k.dim(1) > 0, "k", "Hk >= 1 in [B, Hk, Tk, D]", k.shape().to_string());
  check.that(q.dim(1) % k.dim(1) == 0, "k", "Hk that divides Hq = " + fmt::to_string(q.dim(1)),
             "Hk = " + fmt::to_string(k.dim(1)));
}

void check_numbers(const Check& check, const AttentionOptions& options, std::int64_t Hq) {
  if (options.scale) {
    check.that(std::isfinite(*options.scale), "scale", "a finite number", fmt::to_string(*options.scale));
  }
  if (options.softcap) {
    check.that(std::isfinite(*options.softcap) && *options.softcap > 0, "softcap", "a finite number > 0",
               fmt::to_string(*options.softcap));
  }
  if (options.dropout) {
    const double p = options.dropout->p;
    check.that(p >= 0 && p < 1, "dropout", "0 <= p < 1", "p = " + fmt::to_string(p));
  }
  if (!options.sinks.empty()) {
    const auto count = static_cast<std::int64_t>(options.sinks.size());
    check.that(count == Hq, "sinks", fmt::format("{}, one for each query head", Hq), fmt::to_string(count));
    for (const double sink : options.sinks) {
      check.that(std::isfinite(sink), "sinks", "finite numbers", fmt::to_string(sink));
    }
  }
  if (options.threads) check.that(*options.threads >= 1, "threads", "1 or more", fmt::to_string(*options.threads));
}

void check_plan(const Check& check, const TilePlan& plan, const MaskShape& shape) {
  const auto text = [](const MaskShape& of, std::int64_t queries, std::int64_t keys) {
    return fmt::format("[{}, {}, {}, {}] in tiles of {} x {}", of.B, of.H, of.Tq, of.Tk, queries, keys);
  };
  // A plan's tiles are no larger than the matrix.
  const auto side = [](std::int64_t extent) { return std::clamp<std::int64_t>(extent, 1, kernels::cpu::kTile); };
  const std::string expected = text(shape, side(shape.Tq), side(shape.Tk));
  const std::string got = text(plan.shape(), plan.tile_size().queries, plan.tile_size().keys);
  check.that(expected == got, "plan", "one of " + expected, got);
}

void check_offsets(const Check& check, std::string_view argument, const std::vector<std::int64_t>& offsets,
                   std::string_view length, std::int64_t end) {
  check.that(!offsets.empty(), argument, "one offset more than there are documents", "none");
  check.that(offsets.front() == 0, argument, "offsets from 0 on", fmt::to_string(offsets.front()));
  const auto fall = std::ranges::is_sorted_until(offsets);
  if (fall != offsets.end()) {
    check.that(false, argument, "offsets that do not decrease", fmt::format("{} after {}", *fall, *std::prev(fall)));
  }
  check.that(offsets.back() == end, argument, fmt::format("{} = {} as the last offset", length, end),
             fmt::to_string(offsets.back()));
}

void check_ragged(const Check& check, const kernels::Problem& problem, const AttentionOptions& options) {
  const auto& [q_offsets, k_offsets] = *options.ragged;
  check.that(problem.shape.B == 1, "q", "B = 1 as ragged wants it", problem.q.shape().to_string());
  check_offsets(check, "ragged.q_offsets", q_offsets, "Tq", problem.shape.Tq);
  check_offsets(check, "ragged.k_offsets", k_offsets, "Tk", problem.shape.Tk);
  check.that(k_offsets.size() == q_offsets.size(), "ragged.k_offsets",
             fmt::format("{} offsets as in q_offsets", q_offsets.size()), fmt::to_string(k_offsets.size()));
  check.that(options.plan == nullptr, "plan", "none with ragged, whose documents have a plan each", "one");
  for (std::int64_t n = 0; n < documents_of(*options.ragged); ++n) {
    const MaskShape shape = document_problem(problem, *options.ragged, n).shape;
    options.mask.validate(shape);
    options.bias.validate(shape);
  }
}

}  // namespace

kernels::Problem validated_batch(std::string_view function, const TensorView& q, const TensorView& k,
                                 const AttentionOptions& options) {
  const Check check(function);
  check_shapes(check, q, k);
  check_numbers(check, options, q.dim(1));
  const MaskShape shape = {.B = q.dim(0), .H = q.dim(1), .Tq = q.dim(2), .Tk = k.dim(2)};
  const kernels::Problem problem = {.q = q,
                                    .k = k,
                                    .shape = shape,
                                    .group = q.dim(1) / k.dim(1),
                                    .scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3)))),
                                    .softcap = options.softcap,
                                    .bias = options.bias,
                                    .mask = options.mask,
                                    .dropout = options.dropout,
                                    .sinks = options.sinks};
  if (options.ragged) {
    check_ragged(check, problem, options);
  } else {
    options.mask.validate(shape);
    options.bias.validate(shape);
    if (options.plan != nullptr) check_plan(check, *options.plan, shape);
  }
  return problem;
}

kernels::Problem validated(std::string_view function, const TensorView& q, const TensorView& k,
                           const AttentionOptions& options) {
  Check(function).that(!options.ragged, "ragged", "none: ask for each document by itself", "one");
  return validated_batch(function, q, k, options);
}

void validate_values(std::string_view function, const TensorView& k, const TensorView& v) {
  const Check check(function);
  check.tensor("v", v, "[B, Hk, Tk, Dv]");
  check.same_dtype("v", v, "k", k);
  check.extent("v", v, 0, "B", "k", k);
  check.extent("v", v, 1, "Hk", "k", k);
  check.extent("v", v, 2, "Tk", "k", k);
}

}  // namespace qkv
