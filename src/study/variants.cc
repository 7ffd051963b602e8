#include "qkv/study/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "qkv/attention.h"
#include "qkv/cancel.h"
#include "qkv/linear_attention.h"
#include "qkv/materialized_attention.h"
#include "qkv/picture/chart.h"
#include "qkv/tile_plan.h"

namespace qkv {
namespace {

constexpr double kSecondsEnough = 2;  // of timing one variant at one length

struct Inputs {
  Tensor q, k, v;  // [1, H, T, D]
};

// The rows of exact attention that results are held against, in f64.
struct Truth {
  std::vector<std::int64_t> queries;
  std::vector<std::vector<double>> rows;  // of each query: all heads, H * D numbers
};

struct Variant {
  std::string name;
  std::function<Tensor()> run;
  std::optional<Mask> mask;  // where the variant is exact attention under it
  std::string skipped;
};

// x_t = r x_(t-1) + sqrt(1 - r^2) noise, of which neighbours up to 64 tokens apart have much in common.
Tensor drifting(Generator& random, std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  const double keep = std::exp(-1.0 / 64);
  const double fresh = std::sqrt(1 - keep * keep);
  std::vector<double> x = random.randn({1, heads, tokens, width}).to_vector();
  const auto row = static_cast<std::size_t>(width);
  for (std::size_t n = row; n < x.size(); ++n) {
    const bool first = n / row % static_cast<std::size_t>(tokens) == 0;
    if (!first) x[n] = keep * x[n - row] + fresh * x[n];
  }
  return Tensor(x, {1, heads, tokens, width}).to(DType::f32);
}

Inputs inputs_of(const VariantSetup& setup, std::int64_t tokens) {
  Generator random(setup.seed);
  const Shape shape = {1, setup.heads, tokens, setup.head_dim};
  if (setup.data == InputData::random) {
    return {.q = random.randn(shape), .k = random.randn(shape), .v = random.randn(shape)};
  }
  Tensor keys = drifting(random, setup.heads, tokens, setup.head_dim);
  return {.q = keys, .k = std::move(keys), .v = random.randn(shape)};
}

Truth exact_rows(const Inputs& x, bool causal) {
  const std::int64_t T = x.q.dim(2);
  const std::int64_t count = std::min(kSampledRows, T);
  const Tensor q = x.q.to(DType::f64);
  const Tensor k = x.k.to(DType::f64);
  const Tensor v = x.v.to(DType::f64);
  Truth truth;
  for (std::int64_t n = 1; n <= count; ++n) {
    const std::int64_t i = n * T / count - 1;
    const std::int64_t seen = causal ? i + 1 : T;
    const AttentionResult row =
        attention(q.view().slice(2, i, i + 1), k.view().slice(2, 0, seen), v.view().slice(2, 0, seen));
    truth.queries.push_back(i);
    truth.rows.push_back(row.out.to_vector());
  }
  return truth;
}

void compare(const Tensor& out, const Truth& truth, VariantCost& cost) {
  double squares = 0;
  double of_exact = 0;
  for (std::size_t n = 0; n < truth.rows.size(); ++n) {
    const std::int64_t i = truth.queries[n];
    const std::vector<double> got = out.view().slice(2, i, i + 1).to_vector();
    for (std::size_t e = 0; e < got.size(); ++e) {
      const double error = got[e] - truth.rows[n][e];
      cost.largest_error = std::max(cost.largest_error, std::fabs(error));
      squares += error * error;
      of_exact += truth.rows[n][e] * truth.rows[n][e];
    }
  }
  cost.relative_error = std::sqrt(squares / of_exact);
}

// Blocks that a row of blocks keeps: its own and both neighbours, the first, and two drawn at random (Zaheer et al.
// 2020, section 2); the first row keeps all.
Mask scattered_blocks(const VariantSetup& setup, std::int64_t tokens) {
  const std::int64_t blocks = (tokens + setup.block - 1) / setup.block;
  Tensor kept(DType::b8, {blocks, blocks});
  Generator random(setup.seed);
  for (std::int64_t row = 0; row < blocks; ++row) {
    const Tensor drawn = random.randint(0, blocks, {2});
    for (std::int64_t column = 0; column < blocks; ++column) {
      const auto at = static_cast<double>(column);
      const bool keeps =
          std::abs(row - column) <= 1 || row == 0 || column == 0 || drawn.at({0}) == at || drawn.at({1}) == at;
      kept.set({row, column}, keeps ? 1 : 0);
    }
  }
  return block_sparse(setup.block, kept);
}

Variant masked(const VariantSetup& setup, const Inputs& x, const std::string& name, const Mask& pattern) {
  const Mask mask = setup.causal ? causal() & pattern : pattern;
  const auto run = [&setup, &x, mask] {
    return attention(x.q, x.k, x.v, {.mask = mask, .threads = setup.threads}).out;
  };
  return {.name = name, .run = run, .mask = mask, .skipped = ""};
}

Variant standard(const VariantSetup& setup, const Inputs& x) {
  const auto T = static_cast<double>(x.q.dim(2));
  const auto run = [&setup, &x] {
    return materialized_attention(x.q, x.k, x.v, {.causal = setup.causal, .threads = setup.threads});
  };
  Variant variant = {.name = "standard", .run = run, .mask = setup.causal ? causal() : all(), .skipped = ""};
  const double bytes = T * T * sizeof(float);
  if (bytes > static_cast<double>(setup.memory_limit)) {
    variant.skipped = fmt::format("T x T takes {}, the limit is {}", in_unit(bytes, Unit::bytes),
                                  in_unit(static_cast<double>(setup.memory_limit), Unit::bytes));
  }
  return variant;
}

Variant linear(const VariantSetup& setup, const Inputs& x, const std::string& name, FeatureMap features) {
  const auto run = [&setup, &x, features] {
    return linear_attention(x.q, x.k, x.v, {.features = features, .causal = setup.causal, .threads = setup.threads});
  };
  return {.name = name, .run = run, .mask = std::nullopt, .skipped = ""};
}

std::vector<Variant> variants_of(const VariantSetup& setup, const Inputs& x) {
  std::vector<Variant> variants = {
      masked(setup, x, "exact", all()),
      standard(setup, x),
      linear(setup, x, "linear elu+1", FeatureMap::elu_plus_one),
      linear(setup, x, "linear softmax", FeatureMap::softmax),
      masked(setup, x, "window", window(setup.window)),
      masked(setup, x, "strided", strided(setup.stride)),
      masked(setup, x, "block-sparse", scattered_blocks(setup, x.q.dim(2))),
  };
  for (const std::string& text : setup.masks) variants.push_back(masked(setup, x, text, parse_mask(text)));
  return variants;
}

double seconds_of(const std::function<Tensor()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  static_cast<void>(run());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Runs until it gets no faster: threads start, memory is touched and the processor's clock rises. At least for
// kLeast, and until three runs together have not beaten the fastest one by a fiftieth, or kMost is over.
void warm_up(const std::function<Tensor()>& run, const std::function<bool()>& stopped) {
  constexpr double kLeast = 0.02;
  constexpr double kMost = 0.5;
  constexpr int kSteady = 3;
  double fastest = HUGE_VAL;
  double total = 0;
  for (int steady = 0; !stopped() && total < kMost && (steady < kSteady || total < kLeast);) {
    const double seconds = seconds_of(run);
    steady = seconds < 0.98 * fastest ? 0 : steady + 1;
    fastest = std::min(fastest, seconds);
    total += seconds;
  }
}

std::optional<Truth> exact_unless_stopped(const Inputs& x, bool causal) {
  try {
    return exact_rows(x, causal);
  } catch (const Cancelled&) {
    return std::nullopt;
  }
}

// The first run is the one whose memory is measured. False where it was stopped.
bool measure(const VariantSetup& setup, const Variant& variant, const Truth& truth, const VariantWatch& watch,
             VariantCost& cost) {
  Tensor out;
  const auto run = [&] { out = variant.run(); };
  if (watch.peak_bytes) {
    const std::int64_t held = watch.peak_bytes(run);
    cost.bytes = std::max<std::int64_t>(0, held - out.size() * static_cast<std::int64_t>(sizeof(float)));
  } else {
    run();
  }
  compare(out, truth, cost);
  out = Tensor();
  warm_up(variant.run, watch.stopped);
  std::vector<double> seconds;
  double total = 0;
  while (static_cast<int>(seconds.size()) < setup.repeats && (seconds.empty() || total < kSecondsEnough)) {
    if (watch.stopped()) return false;
    seconds.push_back(seconds_of(variant.run));
    total += seconds.back();
  }
  std::ranges::sort(seconds);
  cost.seconds = seconds[seconds.size() / 2];
  cost.runs = static_cast<int>(seconds.size());
  return true;
}

void run_length(const VariantSetup& setup, std::int64_t tokens, const VariantWatch& watch,
                std::vector<VariantCost>& costs) {
  watch.about_to(fmt::format("T = {}: exact rows in f64", tokens));
  const Inputs x = inputs_of(setup, tokens);
  const std::optional<Truth> exact = exact_unless_stopped(x, setup.causal);
  if (!exact) return;
  const Truth& truth = *exact;
  for (const Variant& variant : variants_of(setup, x)) {
    if (watch.stopped()) return;
    VariantCost& cost = costs.emplace_back();
    cost.tokens = tokens;
    cost.variant = variant.name;
    cost.skipped = variant.skipped;
    if (!cost.skipped.empty()) continue;
    watch.about_to(fmt::format("T = {}: {}", tokens, variant.name));
    if (variant.mask) {
      const TileCounts counts = TilePlan(*variant.mask, {.B = 1, .H = 1, .Tq = tokens, .Tk = tokens}).counts();
      cost.pairs = counts.coverage();
      // The standard one computes every score, and hides some afterwards.
      cost.tiles = variant.name == "standard" ? 1 : counts.cost();
    }
    try {
      if (measure(setup, variant, truth, watch, cost)) continue;
    } catch (const Cancelled&) {  // a call was stopped
    }
    costs.pop_back();
    return;
  }
}

}  // namespace

std::vector<std::int64_t> VariantSetup::lengths() const {
  std::vector<std::int64_t> tokens;
  for (std::int64_t length = from; length < to; length *= 2) tokens.push_back(length);
  tokens.push_back(to);
  return tokens;
}

std::vector<std::string> variant_names(const VariantSetup& setup) {
  std::vector<std::string> names = {"exact",  "standard", "linear elu+1", "linear softmax",
                                    "window", "strided",  "block-sparse"};
  names.insert(names.end(), setup.masks.begin(), setup.masks.end());
  return names;
}

std::vector<VariantCost> run_variants(const VariantSetup& setup, const VariantWatch& watch) {
  std::vector<VariantCost> costs;
  for (const std::int64_t tokens : setup.lengths()) {
    run_length(setup, tokens, watch, costs);
    if (watch.stopped()) break;
    watch.measured(tokens);
  }
  return costs;
}

}  // namespace qkv
