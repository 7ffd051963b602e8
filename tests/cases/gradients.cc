#include "cases/gradients.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "cases/rounding.h"

namespace qkv::cases {
namespace {

// Writes the rows along the last axis of [B, H, T] or [B, H, T, D], each as make(index, row) leaves it.
template <class Make>
void each_row(const MutableTensorView& x, const Make& make) {
  std::vector<double> row(static_cast<std::size_t>(x.dim(-1)));
  const bool has_rows = x.rank() == 4;
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    for (std::int64_t h = 0; h < x.dim(1); ++h) {
      for (std::int64_t i = 0; i < (has_rows ? x.dim(2) : 1); ++i) {
        const std::array index = {b, h, i};
        const auto at = std::span(index).first(has_rows ? 3 : 2);
        make(at, row);
        x.store_row(at, row);
      }
    }
  }
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

double largest_error(const std::vector<double>& got, const std::vector<double>& expected) {
  double most = got.size() == expected.size() ? 0 : kInfinity;
  for (std::size_t n = 0; n < std::min(got.size(), expected.size()); ++n) {
    const double error = std::fabs(got[n] - expected[n]);
    most = std::isnan(error) ? kInfinity : std::max(most, error);
  }
  return most;
}

}  // namespace

Gradients named(const AttentionGradients& gradients) {
  Gradients all;
  const auto add = [&](std::string name, const Tensor& x) {
    all.push_back({.name = std::move(name), .dtype = x.dtype(), .values = x.to_vector()});
  };
  add("d_q", gradients.d_q);
  add("d_k", gradients.d_k);
  add("d_v", gradients.d_v);
  for (std::size_t n = 0; n < gradients.d_bias.size(); ++n) {
    add("d_bias[" + std::to_string(n) + "]", gradients.d_bias[n]);
  }
  if (!gradients.d_sinks.empty()) add("d_sinks", gradients.d_sinks);
  return all;
}

Upstream Upstream::of(const Case& one, const Inputs& inputs) {
  const Shape rows = {one.B, one.Hq(), one.Tq};
  const Shape outs = {one.B, one.Hq(), one.Tq, one.Dv};
  Upstream upstream = {.out = Placed(one.dtype, outs, one.out),
                       .lse = Placed(DType::f32, rows, one.out),
                       .exact_lse = {},
                       .d_out = Placed(one.dtype, outs, one.out),
                       .d_lse = Placed(DType::f32, rows, one.out),
                       .has_d_lse = one.seed % 2 == 0};
  const AttentionResult result = run_reference(inputs);
  upstream.exact_lse = result.lse;
  std::mt19937_64 engine(one.seed + 1);
  std::normal_distribution<double> draw;
  each_row(upstream.out.view(),
           [&](std::span<const std::int64_t> at, std::span<double> row) { result.out.view().load_row(at, row); });
  each_row(upstream.lse.view(),
           [&](std::span<const std::int64_t> at, std::span<double> row) { result.lse.view().load_row(at, row); });
  const auto fill_normal = [&](std::span<const std::int64_t>, std::span<double> row) {
    for (double& value : row) value = draw(engine);
  };
  each_row(upstream.d_out.view(), fill_normal);
  each_row(upstream.d_lse.view(), fill_normal);
  return upstream;
}

Gradients run_backward_on(std::string_view target, const Case& one, const Inputs& inputs, const Upstream& upstream,
                          int threads) {
  AttentionOptions options = inputs.options;
  options.threads = threads;
  options.target = target;
  std::optional<TilePlan> plan;
  if (one.seed % 2 == 1) options.plan = &plan.emplace(options.mask, one.shape(), TileSize{64, 64});
  if (one.seed % 4 == 2) options.plans = std::make_shared<MaskPlans>();
  BackwardOptions backward;
  if (upstream.has_d_lse) backward.d_lse = upstream.d_lse.view();
  return named(attention_backward(upstream.d_out.view(), inputs.q.view(), inputs.k.view(), inputs.v.view(),
                                  upstream.out.view(), upstream.lse.view(), options, backward));
}

Gradients run_reference_backward(const Inputs& inputs, const Upstream& upstream) {
  const auto wide = [](const Placed& x) { return Tensor(x.view(), DType::f64); };
  const Tensor d_lse = wide(upstream.d_lse);
  BackwardOptions backward;
  if (upstream.has_d_lse) backward.d_lse = d_lse;
  return named(attention_backward(wide(upstream.d_out), wide(inputs.q), wide(inputs.k), wide(inputs.v),
                                  wide(upstream.out), upstream.exact_lse, inputs.options, backward));
}

std::vector<std::uint32_t> bits_of(const Gradients& gradients) {
  std::vector<std::uint32_t> bits;
  for (const Gradient& gradient : gradients) {
    for (const double value : gradient.values) {
      // Every element is a float or narrower, so the conversion is exact.
      bits.push_back(std::isnan(value) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    }
  }
  return bits;
}

GradientVerdict judge_gradients(const Case& one) {
  return judge_gradients(one, [&one](std::string_view target, const Inputs& inputs, const Upstream& upstream) {
    return AllowedGradients{.gradients = run_backward_on(target, one, inputs, upstream, one.threads), .slack = {}};
  });
}

GradientVerdict judge_gradients(const Case& one, const GradientsOn& run) {
  const Inputs inputs = Inputs::of(one);
  const Upstream upstream = Upstream::of(one, inputs);
  const Gradients reference = run_reference_backward(inputs, upstream);
  const PlainGradients plain = run_plain_backward(one, inputs, upstream);
  const double times = one.softcap > 0 ? 3 : 2;
  // Below the smallest normal number each step of a sum is off by as much, however small its terms are.
  const double steps = 0x1p-150 * static_cast<double>(std::max(one.group * one.Tq, one.Tk));
  GradientVerdict verdict;
  for (const std::string& target : targets(one.dtype)) {
    const auto [got, slack] = run(target, inputs, upstream);
    double logs = 0;
    for (std::size_t n = 0; n < got.size(); ++n) {
      const std::vector<double>& expected = reference[n].values;
      const double plain_error = largest_error(plain.gradients[n].values, expected);
      const double bound = times * plain_error + plain.luck[n] + unit_of(got[n].dtype) * largest(expected) +
                           least_of(got[n].dtype) + steps + (slack.empty() ? 0 : slack[n]);
      const double error = largest_error(got[n].values, expected);
      const bool compared = n < 3 && plain_error > 0;
      if (compared) logs += std::log(std::clamp(error / plain_error, 1.0 / 8, 8.0)) / 3;
      if (error <= bound) continue;
      std::ostringstream text;
      text << target << ": " << got[n].name << " is off by " << error << " of at most " << bound;
      verdict.fault = text.str();
    }
    verdict.times = std::max(verdict.times, std::exp(logs));
  }
  return verdict;
}

std::string gradient_fault(const Case& one) {
  if (one.specials > 0) {
    // No weight is too small for f32: 0 times NaN is then as the products have it.
    Case plain = one;
    plain.values = Values::normal;
    plain.bias = "zero";
    plain.scale = Scale::usual;
    plain.sinks = Sinks::none;
    return spread_fault(plain);
  }
  const bool huge = one.values == Values::huge_q || one.values == Values::huge_k || one.values == Values::huge_v;
  // AMX takes what is smaller than bf16's smallest normal number for 0.
  const bool flushed = one.values == Values::tiny && one.dtype == DType::bf16;
  // Shared elements are raised once for each that shares them.
  const bool raised = one.values == Values::outlier && (one.k == Layout::one_batch || one.k == Layout::one_head);
  return huge || flushed || raised ? "" : judge_gradients(one).fault;
}

std::string spread_fault(const Case& one) {
  const Inputs inputs = Inputs::of(one);
  const Upstream upstream = Upstream::of(one, inputs);
  const Gradients reference = run_reference_backward(inputs, upstream);
  for (const std::string& target : targets(one.dtype)) {
    const Gradients got = run_backward_on(target, one, inputs, upstream, one.threads);
    for (std::size_t n = 0; n < got.size(); ++n) {
      for (std::size_t i = 0; i < got[n].values.size(); ++i) {
        const double value = got[n].values[i];
        const double expected = reference[n].values[i];
        if (std::isfinite(value) == std::isfinite(expected)) continue;
        std::ostringstream text;
        text << target << ": element " << i << " of " << got[n].name << " is " << value << ", the reference says "
             << expected;
        return text.str();
      }
    }
  }
  return {};
}

}  // namespace qkv::cases
