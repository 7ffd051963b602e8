#include "attention/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>

#include "attention/check.h"
#include "attention/ragged.h"
#include "kernels/cpu/forward.h"
#include "mask/batch_entry.h"
#include "mask/within.h"

namespace qkv {
namespace {

void check_tensor(const Check& check, std::string_view argument, const TensorView& view, std::string_view axes) {
  check.that(view.rank() == 4, argument, [&] { return fmt::format("a shape {}", axes); }, view.shape());
  check.that(is_floating(view.dtype()), argument, "f64, f32, f16 or bf16", view.dtype());
}

void check_same_dtype(const Check& check, std::string_view argument, const TensorView& view,
                      std::string_view other_argument, const TensorView& other) {
  check.that(
      view.dtype() == other.dtype(), argument,
      [&] { return fmt::format("{} as {}", name_of(other.dtype()), other_argument); }, view.dtype());
}

void check_extent(const Check& check, std::string_view argument, const TensorView& view, int axis,
                  std::string_view letter, std::string_view other_argument, const TensorView& other) {
  const auto expected = [&] {
    return fmt::format("{} = {} as in {} {}", letter, other.dim(axis), other_argument, other.shape().to_string());
  };
  check.that(view.dim(axis) == other.dim(axis), argument, expected, view.shape());
}

void check_shapes(const Check& check, const TensorView& q, const TensorView& k) {
  check_tensor(check, "q", q, "[B, Hq, Tq, D]");
  check_tensor(check, "k", k, "[B, Hk, Tk, D]");
  check_same_dtype(check, "k", k, "q", q);
  check.that(q.dim(1) > 0, "q", "Hq >= 1 in [B, Hq, Tq, D]", q.shape());
  check.that(q.dim(3) > 0, "q", "D >= 1 in [B, Hq, Tq, D]", q.shape());
  check_extent(check, "k", k, 0, "B", "q", q);
  check_extent(check, "k", k, 3, "D", "q", q);
  check.that(k.dim(1) > 0, "k", "Hk >= 1 in [B, Hk, Tk, D]", k.shape());
  check.that(
      q.dim(1) % k.dim(1) == 0, "k", [&] { return fmt::format("Hk that divides Hq = {}", q.dim(1)); },
      [&] { return fmt::format("Hk = {}", k.dim(1)); });
}

void check_plan(const Check& check, const TilePlan& plan, const MaskShape& shape) {
  struct Tiling {
    MaskShape shape;
    TileSize size;

    [[nodiscard]] std::string text() const {
      return fmt::format("[{}, {}, {}, {}] in tiles of {} x {}", shape.B, shape.H, shape.Tq, shape.Tk, size.queries,
                         size.keys);
    }
  };
  // A plan's tiles are no larger than the matrix.
  const auto side = [](std::int64_t extent) { return std::clamp<std::int64_t>(extent, 1, kernels::kTile); };
  const Tiling wanted = {.shape = shape, .size = {.queries = side(shape.Tq), .keys = side(shape.Tk)}};
  const Tiling given = {.shape = plan.shape(), .size = plan.tile_size()};
  const auto numbers = [](const Tiling& tiling) {
    const auto& [of, size] = tiling;
    return std::array{of.B, of.H, of.Tq, of.Tk, size.queries, size.keys};
  };
  check.that(
      numbers(wanted) == numbers(given), "plan", [&] { return "one of " + wanted.text(); },
      [&] { return given.text(); });
}

void check_offsets(const Check& check, std::string_view argument, const std::vector<std::int64_t>& offsets,
                   std::string_view length, std::int64_t end) {
  check.that(!offsets.empty(), argument, "one offset more than there are documents", "none");
  check.that(offsets.front() == 0, argument, "offsets from 0 on", offsets.front());
  const auto fall = std::ranges::is_sorted_until(offsets);
  check.that(fall == offsets.end(), argument, "offsets that do not decrease",
             [&] { return fmt::format("{} after {}", *fall, *std::prev(fall)); });
  check.that(
      offsets.back() == end, argument, [&] { return fmt::format("{} = {} as the last offset", length, end); },
      offsets.back());
}

void check_ragged(const Check& check, const kernels::Problem& problem, const AttentionOptions& options) {
  const auto& [q_offsets, k_offsets] = *options.ragged;
  check.that(problem.shape.B == 1, "q", "B = 1 as ragged wants it", problem.q.shape());
  check_offsets(check, "ragged.q_offsets", q_offsets, "Tq", problem.shape.Tq);
  check_offsets(check, "ragged.k_offsets", k_offsets, "Tk", problem.shape.Tk);
  check.that(
      k_offsets.size() == q_offsets.size(), "ragged.k_offsets",
      [count = q_offsets.size()] { return fmt::format("{} offsets as in q_offsets", count); }, k_offsets.size());
  check.that(options.plan == nullptr, "plan", "none with ragged, whose documents have a plan each", "one");
  validate_windows(check.function(), options, documents_of(*options.ragged), "documents");
  for (std::int64_t n = 0; n < documents_of(*options.ragged); ++n) {
    validate_entry(check.function(), options, n, document_shape(problem, *options.ragged, n));
  }
}

}  // namespace

void validate_windows(std::string_view function, const AttentionOptions& options, std::int64_t count,
                      std::string_view what) {
  const auto given = static_cast<std::int64_t>(options.within.size());
  Check(function).that(
      given <= 1 || given == count, "within", [&] { return fmt::format("one, or one for each of {} {}", count, what); },
      given);
}

void validate_entry(std::string_view function, const AttentionOptions& options, std::int64_t b,
                    const MaskShape& shape) {
  const MatrixWindow window = window_of(options, b, shape);
  const std::string name = options.within.size() > 1 ? fmt::format("within[{}]", b) : "within";
  mask_detail::require_window_of(function, name, window, shape.Tq, shape.Tk);
  batch_entry(options.mask, b, shape.B).validate({.B = 1, .H = shape.H, .Tq = window.Tq, .Tk = window.Tk});
  options.bias.validate(mask_detail::whole_of(window, shape));
}

MatrixWindow window_of(const AttentionOptions& options, std::int64_t b, const MaskShape& shape) {
  if (options.within.empty()) return {.Tq = shape.Tq, .Tk = shape.Tk};
  return mask_detail::window_of(options.within, b);
}

void set_mask_and_bias(const AttentionOptions& options, kernels::Problem& problem) {
  const bool whole = options.within.empty();
  problem.mask = whole ? options.mask : mask_detail::within_each(options.mask, options.within);
  problem.bias = whole ? options.bias : mask_detail::within_each(options.bias, options.within);
}

void validate_numbers(std::string_view function, const AttentionOptions& options, std::int64_t Hq) {
  const Check check(function);
  if (options.scale) check.that(std::isfinite(*options.scale), "scale", "a finite number", *options.scale);
  if (options.softcap) {
    const double cap = *options.softcap;
    check.that(std::isfinite(cap) && cap > 0, "softcap", "a finite number > 0", cap);
  }
  if (options.dropout) {
    const double p = options.dropout->p;
    check.that(p >= 0 && p < 1, "dropout", "0 <= p < 1", [&] { return fmt::format("p = {}", p); });
  }
  if (!options.sinks.empty()) {
    const std::size_t count = options.sinks.size();
    check.that(
        static_cast<std::int64_t>(count) == Hq, "sinks", [&] { return fmt::format("{}, one for each query head", Hq); },
        count);
    for (const double sink : options.sinks) check.that(std::isfinite(sink), "sinks", "finite numbers", sink);
  }
  if (options.threads) check.that(*options.threads >= 1, "threads", "1 or more", *options.threads);
}

namespace {

kernels::Problem checked_scores(std::string_view function, const TensorView& q, const TensorView& k,
                                const AttentionOptions& options) {
  const Check check(function);
  check_shapes(check, q, k);
  validate_numbers(function, options, q.dim(1));
  const MaskShape shape = {.B = q.dim(0), .H = q.dim(1), .Tq = q.dim(2), .Tk = k.dim(2)};
  kernels::Problem problem = {.q = q,
                              .k = k,
                              .shape = shape,
                              .window = {.Tq = shape.Tq, .Tk = shape.Tk},
                              .group = q.dim(1) / k.dim(1),
                              .scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3)))),
                              .softcap = options.softcap,
                              .dropout = options.dropout,
                              .sinks = options.sinks};
  if (options.ragged) {
    check_ragged(check, problem, options);
    set_mask_and_bias(options, problem);
    return problem;
  }
  check.that(options.within.size() <= 1, "within", "one, or with ragged one for each document", options.within.size());
  problem.window = window_of(options, 0, shape);
  mask_detail::require_window_of(function, "within", problem.window, shape.Tq, shape.Tk);
  set_mask_and_bias(options, problem);
  problem.mask.validate(shape);
  problem.bias.validate(shape);
  if (options.plan != nullptr) check_plan(check, *options.plan, shape);
  return problem;
}

}  // namespace

kernels::Problem validated_batch(std::string_view function, const TensorView& q, const TensorView& k,
                                 const TensorView& v, const AttentionOptions& options) {
  kernels::Problem problem = checked_scores(function, q, k, options);
  validate_values(function, k, v);
  problem.v = v;
  return problem;
}

kernels::Problem validated(std::string_view function, const TensorView& q, const TensorView& k,
                           const AttentionOptions& options) {
  require_no_ragged(function, options);
  return checked_scores(function, q, k, options);
}

void require_no_ragged(std::string_view function, const AttentionOptions& options) {
  Check(function).that(!options.ragged, "ragged", "none: ask for each document by itself", "one");
}

void validate_values(std::string_view function, const TensorView& k, const TensorView& v) {
  const Check check(function);
  check_tensor(check, "v", v, "[B, Hk, Tk, Dv]");
  check_same_dtype(check, "v", v, "k", k);
  check_extent(check, "v", v, 0, "B", "k", k);
  check_extent(check, "v", v, 1, "Hk", "k", k);
  check_extent(check, "v", v, 2, "Tk", "k", k);
}

}  // namespace qkv
