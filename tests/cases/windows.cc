#include "cases/windows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <sstream>
#include <vector>

#include "cases/gradients.h"
#include "cases/judge.h"
#include "cases/scores.h"
#include "qkv/backward.h"

namespace qkv::cases {
namespace {

// Rows first, first + step, … of an axis.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

std::vector<Stretch> stretches_of(std::int64_t extent, std::mt19937_64& engine) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n));
  };
  std::vector<Stretch> all;
  const std::int64_t way = below(4);
  if (way == 0) return {{.count = extent}};
  if (way == 1) {
    const std::int64_t step = 2 + below(2);
    for (std::int64_t first = 0; first < step; ++first) {
      all.push_back(
          {.first = first, .step = step, .count = std::max<std::int64_t>(0, (extent - first + step - 1) / step)});
    }
    return all;
  }
  std::vector<std::int64_t> ends = {below(extent + 1), below(extent + 1), extent};
  std::ranges::sort(ends);
  std::int64_t first = 0;
  for (const std::int64_t end : ends) {
    all.push_back({.first = first, .count = end - first});
    first = end;
  }
  return all;
}

TensorView rows_of(const TensorView& x, const Stretch& rows) {
  constexpr int kAxis = 2;
  if (rows.count == 0) return x.slice(kAxis, 0, 0);
  const TensorView span = x.slice(kAxis, rows.first, rows.first + (rows.count - 1) * rows.step + 1);
  Shape shape = span.shape();
  Strides strides = span.strides();
  shape[kAxis] = rows.count;
  strides[kAxis] *= rows.step;
  return {span.data(), span.dtype(), shape, strides};
}

MutableTensorView rows_of(const MutableTensorView& x, const Stretch& rows) {
  const TensorView view = rows_of(x.view(), rows);
  return {const_cast<void*>(view.data()), view.dtype(), view.shape(), view.strides()};
}

struct Cut {
  std::vector<Stretch> queries;
  std::vector<Stretch> keys;

  [[nodiscard]] static Cut of(const Case& one) {
    std::mt19937_64 engine(one.seed + 3);
    std::vector<Stretch> queries = stretches_of(one.Tq, engine);
    return {.queries = std::move(queries), .keys = stretches_of(one.Tk, engine)};
  }
};

// What a window's call needs beside its tensors. Sinks count in the first window of keys alone.
struct WindowOptions {
  AttentionOptions options;
  std::optional<TilePlan> plan;

  WindowOptions(const Case& one, const AttentionOptions& whole, std::string_view target, const Stretch& queries,
                const Stretch& keys, bool first_keys)
      : options(whole) {
    const MatrixWindow window = {.Tq = one.Tq,
                                 .Tk = one.Tk,
                                 .first_i = queries.first,
                                 .step_i = queries.step,
                                 .first_j = keys.first,
                                 .step_j = keys.step};
    options.within = window;
    options.target = target;
    options.threads = one.threads;
    if (!first_keys) options.sinks = {};
    const MaskShape shape = {.B = one.B, .H = one.Hq(), .Tq = queries.count, .Tk = keys.count};
    if (one.seed % 2 == 1) options.plan = &plan.emplace(within(options.mask, window), shape, TileSize{64, 64});
    if (one.seed % 4 == 2) options.plans = std::make_shared<MaskPlans>();
  }
  WindowOptions(const WindowOptions&) = delete;
  WindowOptions& operator=(const WindowOptions&) = delete;
};

Written run_in_windows(std::string_view target, const Case& one, const Inputs& inputs, DType dtype) {
  const auto as = [&](const Placed& x) { return Tensor(x.view(), dtype); };
  const bool wide = dtype == DType::f64;
  const Tensor wide_q = wide ? as(inputs.q) : Tensor();
  const Tensor wide_k = wide ? as(inputs.k) : Tensor();
  const Tensor wide_v = wide ? as(inputs.v) : Tensor();
  const TensorView q = wide ? wide_q : TensorView(inputs.q.view());
  const TensorView k = wide ? wide_k : TensorView(inputs.k.view());
  const TensorView v = wide ? wide_v : TensorView(inputs.v.view());
  const DType sums = wide ? DType::f64 : DType::f32;
  Written run = {.out = Placed(dtype, {one.B, one.Hq(), one.Tq, one.Dv}, one.out),
                 .lse = Placed(sums, {one.B, one.Hq(), one.Tq}, one.out)};
  const Cut cut = Cut::of(one);
  for (const Stretch& queries : cut.queries) {
    std::vector<Tensor> results;  // out and lse of each part
    for (const Stretch& keys : cut.keys) {
      WindowOptions window(one, inputs.options, target, queries, keys, &keys == &cut.keys.front());
      const TensorView part_q = rows_of(q, queries);
      const TensorView part_k = rows_of(k, keys);
      const TensorView part_v = rows_of(v, keys);
      std::vector<std::byte> scratch(attention_scratch_bytes(part_q, part_k, part_v, window.options), std::byte{0xFF});
      window.options.scratch = scratch;
      Tensor out(sums, {one.B, one.Hq(), queries.count, one.Dv});
      Tensor lse(sums, {one.B, one.Hq(), queries.count});
      attention_into(out, lse, part_q, part_k, part_v, window.options);
      results.push_back(std::move(out));
      results.push_back(std::move(lse));
    }
    std::vector<PartialAttention> parts;
    for (std::size_t n = 0; n < results.size(); n += 2) parts.push_back({.out = results[n], .lse = results[n + 1]});
    merge_attention_into(rows_of(run.out.view(), queries), rows_of(run.lse.view(), queries), parts, one.threads);
  }
  return run;
}

// A gradient in f64 to which windows add.
struct Sum {
  Tensor values;
  double largest = 0;  // of each term, added up

  explicit Sum(const Shape& shape) : values(DType::f64, shape) {}

  void add(const TensorView& terms, const Stretch& rows) {
    MutableTensorView place(values);
    if (rows.count < values.dim(2) || rows.step > 1) place = rows_of(place, rows);
    std::vector<double> row(static_cast<std::size_t>(terms.dim(3)));
    std::vector<double> sums(row);
    double most = 0;
    for (std::int64_t b = 0; b < terms.dim(0); ++b) {
      for (std::int64_t h = 0; h < terms.dim(1); ++h) {
        for (std::int64_t t = 0; t < terms.dim(2); ++t) {
          const std::array at = {b, h, t};
          terms.load_row(at, row);
          place.view().load_row(at, sums);
          for (std::size_t d = 0; d < row.size(); ++d) {
            sums[d] += row[d];
            most = std::max(most, std::fabs(row[d]));
          }
          place.store_row(at, sums);
        }
      }
    }
    largest += most;
  }

  void add(const Tensor& terms) {
    std::span<double> sums = values.values<double>();
    const std::vector<double> all = terms.to_vector();
    double most = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
      sums[n] += all[n];
      most = std::max(most, std::fabs(all[n]));
    }
    largest += most;
  }
};

struct Sums {
  Sum d_q;
  Sum d_k;
  Sum d_v;
  std::vector<Sum> d_bias;
  std::optional<Sum> d_sinks;

  void add(const AttentionGradients& gradients, const Stretch& queries, const Stretch& keys) {
    d_q.add(gradients.d_q, queries);
    d_k.add(gradients.d_k, keys);
    d_v.add(gradients.d_v, keys);
    for (std::size_t n = 0; n < gradients.d_bias.size(); ++n) {
      if (n == d_bias.size()) d_bias.emplace_back(gradients.d_bias[n].shape());
      d_bias[n].add(gradients.d_bias[n]);
    }
    if (gradients.d_sinks.empty()) return;
    if (!d_sinks) d_sinks.emplace(gradients.d_sinks.shape());
    d_sinks->add(gradients.d_sinks);
  }
};

AllowedGradients as_allowed(const Case& one, const Sums& sums) {
  AllowedGradients all;
  const auto take = [&](std::string name, DType dtype, const Sum& sum) {
    all.gradients.push_back({.name = std::move(name), .dtype = dtype, .values = sum.values.to_vector()});
    all.slack.push_back(0x1p-24 * sum.largest);
  };
  take("d_q", one.dtype, sums.d_q);
  take("d_k", one.dtype, sums.d_k);
  take("d_v", one.dtype, sums.d_v);
  for (std::size_t n = 0; n < sums.d_bias.size(); ++n) {
    take("d_bias[" + std::to_string(n) + "]", DType::f32, sums.d_bias[n]);
  }
  if (sums.d_sinks) take("d_sinks", DType::f32, *sums.d_sinks);
  return all;
}

// How far off gradients may be where each row's lse is off by its rounding to f32 and its scores by theirs, which one
// call makes good by its row's own sum and no window can: the most of a few draws of signs, and luck four times.
std::vector<double> lse_slack(const Case& one, const Inputs& inputs, const Upstream& upstream) {
  constexpr int kDraws = 4;
  const Gradients exact = run_reference_backward(inputs, upstream);
  const Numbers numbers(inputs);
  std::vector<double> slack(exact.size());
  std::mt19937_64 engine(one.seed + 4);
  for (int draw = 0; draw < kDraws; ++draw) {
    Upstream off = upstream;
    off.exact_lse = Tensor(upstream.exact_lse.view());
    ScoreReader reader(one, inputs, numbers);
    double* lse = off.exact_lse.values<double>().data();
    for_each_row(one, [&](const Row& row) {
      const double terms = (std::sqrt(static_cast<double>(one.D)) + 4) * reader.read(row).size;
      if (std::isfinite(*lse)) *lse += (engine() % 2 == 0 ? 1 : -1) * 0x1p-24 * (std::fabs(*lse) + terms + 1);
      ++lse;
    });
    const Gradients moved = run_reference_backward(inputs, off);
    for (std::size_t n = 0; n < exact.size(); ++n) {
      for (std::size_t i = 0; i < exact[n].values.size(); ++i) {
        slack[n] = std::max(slack[n], 4 * std::fabs(exact[n].values[i] - moved[n].values[i]));
      }
    }
  }
  return slack;
}

AllowedGradients run_backward_in_windows(std::string_view target, const Case& one, const Inputs& inputs,
                                         const Upstream& upstream) {
  Sums sums = {.d_q = Sum({one.B, one.Hq(), one.Tq, one.D}),
               .d_k = Sum({one.B, one.Hk, one.Tk, one.D}),
               .d_v = Sum({one.B, one.Hk, one.Tk, one.Dv}),
               .d_bias = {},
               .d_sinks = {}};
  const Cut cut = Cut::of(one);
  for (const Stretch& queries : cut.queries) {
    const auto of_queries = [&](const Placed& x) { return rows_of(TensorView(x.view()), queries); };
    for (const Stretch& keys : cut.keys) {
      const auto of_keys = [&](const Placed& x) { return rows_of(TensorView(x.view()), keys); };
      const WindowOptions window(one, inputs.options, target, queries, keys, &keys == &cut.keys.front());
      AttentionGradients gradients;
      gradients.d_q = Tensor(DType::f32, {one.B, one.Hq(), queries.count, one.D});
      gradients.d_k = Tensor(DType::f32, {one.B, one.Hk, keys.count, one.D});
      gradients.d_v = Tensor(DType::f32, {one.B, one.Hk, keys.count, one.Dv});
      BackwardOptions backward = {.into = {.d_q = gradients.d_q, .d_k = gradients.d_k, .d_v = gradients.d_v}};
      if (upstream.has_d_lse) backward.d_lse = of_queries(upstream.d_lse);
      AttentionGradients rest =
          attention_backward(of_queries(upstream.d_out), of_queries(inputs.q), of_keys(inputs.k), of_keys(inputs.v),
                             of_queries(upstream.out), of_queries(upstream.lse), window.options, backward);
      gradients.d_bias = std::move(rest.d_bias);
      gradients.d_sinks = std::move(rest.d_sinks);
      sums.add(gradients, queries, keys);
    }
  }
  return as_allowed(one, sums);
}

// The reference in windows, beside the reference of the whole.
std::string reference_fault(const Case& one) {
  const Inputs inputs = Inputs::of(one);
  const Written got = run_in_windows("reference", one, inputs, DType::f64);
  const AttentionResult expected = run_reference(inputs);
  const auto differs = [](const TensorView& a, const TensorView& b) {
    const std::vector<double> left = a.to_vector();
    const std::vector<double> right = b.to_vector();
    double size = 0;
    for (const double value : right) size = std::max(size, std::isfinite(value) ? std::fabs(value) : 0);
    for (std::size_t n = 0; n < left.size(); ++n) {
      const bool same = left[n] == right[n] || (std::isnan(left[n]) && std::isnan(right[n]));
      if (!same && !(std::fabs(left[n] - right[n]) <= 0x1p-36 * size)) return true;
    }
    return false;
  };
  // An infinite value of a weight that is 0 where other keys are beside it.
  const bool judged = one.specials == 0 && one.scale != Scale::large && one.values != Values::huge_q &&
                      one.values != Values::huge_k && one.values != Values::outlier;
  if (judged && differs(got.out.view(), expected.out)) return "reference: out of windows is not that of the whole";
  if (judged && differs(got.lse.view(), expected.lse)) return "reference: lse of windows is not that of the whole";
  return {};
}

}  // namespace

std::string windows_fault(const Case& one) {
  const std::string fault = reference_fault(one);
  if (!fault.empty()) return fault;
  return merged_fault_by_row(one, [&one](std::string_view target, const Inputs& inputs) {
    return run_in_windows(target, one, inputs, one.dtype);
  });
}

std::string window_gradients_fault(const Case& one) {
  const bool judged = one.specials == 0 &&
                      (one.values == Values::normal || one.values == Values::one_hot || one.values == Values::equal);
  if (!judged) return {};
  std::vector<double> of_lse;
  const auto run = [&](std::string_view target, const Inputs& inputs, const Upstream& upstream) {
    if (of_lse.empty()) of_lse = lse_slack(one, inputs, upstream);
    AllowedGradients all = run_backward_in_windows(target, one, inputs, upstream);
    std::ranges::transform(all.slack, of_lse, all.slack.begin(), std::plus());
    return all;
  };
  return judge_gradients(one, run).fault;
}

}  // namespace qkv::cases
