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
#include "cases/stretches.h"
#include "qkv/backward.h"
#include "qkv/decode.h"

namespace qkv::cases {
namespace {

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
    const MatrixWindow window = window_of(one.Tq, one.Tk, queries, keys);
    options.within = {window};
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

// The results of windows of the same queries, to be merged.
class Parts {
 public:
  template <class Run>  // run(out, lse, options)
  void add(const TensorView& q, std::int64_t Dv, const Run& run) {
    const DType sums = q.dtype() == DType::f64 ? DType::f64 : DType::f32;
    Tensor out(sums, {q.dim(0), q.dim(1), q.dim(2), Dv});
    Tensor lse(sums, {q.dim(0), q.dim(1), q.dim(2)});
    run(MutableTensorView(out), MutableTensorView(lse));
    results_.push_back({.out = std::move(out), .lse = std::move(lse)});
  }
  void merge_into(const MutableTensorView& out, const MutableTensorView& lse, int threads) const {
    std::vector<PartialAttention> parts;
    for (const AttentionResult& result : results_) parts.push_back({.out = result.out, .lse = result.lse});
    merge_attention_into(out, lse, parts, threads);
  }

 private:
  std::vector<AttentionResult> results_;
};

void add_windows(std::string_view target, const Case& one, const Inputs& inputs, const TensorView& q,
                 const Stretch& queries, Parts& parts) {
  const bool wide = q.dtype() == DType::f64;
  const Tensor wide_k = wide ? Tensor(inputs.k.view(), DType::f64) : Tensor();
  const Tensor wide_v = wide ? Tensor(inputs.v.view(), DType::f64) : Tensor();
  const std::vector<Stretch> cut = Cut::of(one).keys;
  for (const Stretch& keys : cut) {
    WindowOptions window(one, inputs.options, target, queries, keys, &keys == &cut.front());
    const TensorView k = rows_of(wide ? wide_k.view() : inputs.k.view().view(), keys);
    const TensorView v = rows_of(wide ? wide_v.view() : inputs.v.view().view(), keys);
    std::vector<std::byte> scratch(attention_scratch_bytes(q, k, v, window.options), std::byte{0xFF});
    window.options.scratch = scratch;
    parts.add(q, one.Dv, [&](const MutableTensorView& out, const MutableTensorView& lse) {
      attention_into(out, lse, q, k, v, window.options);
    });
  }
}

// Each sequence's keys in stretches of its own, as many for all: some are empty.
std::vector<std::vector<Stretch>> cut_of_sequences(const Case& one) {
  std::mt19937_64 engine(one.seed + 5);
  std::vector<std::vector<Stretch>> parts;
  for (std::int64_t b = 0; b < one.B; ++b) {
    const std::vector<Stretch> own = stretches_of(one.Tk, engine);
    parts.resize(std::max(parts.size(), own.size()));
    for (std::size_t n = 0; n < own.size(); ++n) {
      parts[n].resize(static_cast<std::size_t>(one.B));
      parts[n][static_cast<std::size_t>(b)] = own[n];
    }
  }
  return parts;
}

// The tokens of each sequence in several caches.
void add_caches(std::string_view target, const Case& one, const Inputs& inputs, const TensorView& q,
                const Stretch& queries, Parts& parts) {
  auto storage = static_cast<Storage>(one.seed % 2);
  AttentionOptions options = inputs.options;
  options.target = target;
  options.threads = one.threads;
  for (const std::vector<Stretch>& stretches : cut_of_sequences(one)) {
    const CachePart cache(*inputs.cache, stretches, storage);
    storage = storage == Storage::paged ? Storage::contiguous : Storage::paged;
    options.within.clear();
    for (const Stretch& keys : stretches) options.within.push_back(window_of(one.Tq, one.Tk, queries, keys));
    std::vector<std::byte> scratch(decode_scratch_bytes(q, cache.view(), options), std::byte{0xFF});
    options.scratch = scratch;
    parts.add(q, one.Dv, [&](const MutableTensorView& out, const MutableTensorView& lse) {
      decode_into(out, lse, q, cache.view(), options);
    });
    options.scratch = {};
    options.sinks = {};  // they count in the first
  }
}

Written run_in_windows(std::string_view target, const Case& one, const Inputs& inputs, DType dtype) {
  const Tensor wide_q = dtype == DType::f64 ? Tensor(inputs.q.view(), dtype) : Tensor();
  const TensorView q = dtype == DType::f64 ? wide_q.view() : inputs.q.view().view();
  const DType sums = dtype == DType::f64 ? DType::f64 : DType::f32;
  Written run = {.out = Placed(dtype, {one.B, one.Hq(), one.Tq, one.Dv}, one.out),
                 .lse = Placed(sums, {one.B, one.Hq(), one.Tq}, one.out)};
  for (const Stretch& queries : Cut::of(one).queries) {
    Parts parts;
    const auto add = inputs.cache ? &add_caches : &add_windows;
    add(target, one, inputs, rows_of(q, queries), queries, parts);
    parts.merge_into(rows_of(run.out.view(), queries), rows_of(run.lse.view(), queries), one.threads);
  }
  return run;
}

// A gradient in f64 to which windows add.
struct MergedSum {
  Tensor values;
  double largest = 0;  // of each term, added up

  explicit MergedSum(const Shape& shape) : values(DType::f64, shape) {}

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

struct MergedSums {
  MergedSum d_q;
  MergedSum d_k;
  MergedSum d_v;
  std::vector<MergedSum> d_bias;
  std::optional<MergedSum> d_sinks;

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

AllowedGradients as_allowed(const Case& one, const MergedSums& sums) {
  AllowedGradients all;
  const auto take = [&](std::string name, DType dtype, const MergedSum& sum) {
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
  MergedSums sums = {.d_q = MergedSum({one.B, one.Hq(), one.Tq, one.D}),
                     .d_k = MergedSum({one.B, one.Hk, one.Tk, one.D}),
                     .d_v = MergedSum({one.B, one.Hk, one.Tk, one.Dv}),
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

std::string merged_gradients_fault(const Case& one, const GradientsOn& run_parts) {
  const bool judged = one.specials == 0 &&
                      (one.values == Values::normal || one.values == Values::one_hot || one.values == Values::equal);
  if (!judged) return {};
  std::vector<double> of_lse;
  const auto run = [&](std::string_view target, const Inputs& inputs, const Upstream& upstream) {
    if (of_lse.empty()) of_lse = lse_slack(one, inputs, upstream);
    AllowedGradients all = run_parts(target, inputs, upstream);
    std::ranges::transform(all.slack, of_lse, all.slack.begin(), std::plus());
    return all;
  };
  return judge_gradients(one, run).fault;
}

std::string window_gradients_fault(const Case& one) {
  return merged_gradients_fault(one, [&](std::string_view target, const Inputs& inputs, const Upstream& upstream) {
    return run_backward_in_windows(target, one, inputs, upstream);
  });
}

}  // namespace qkv::cases
