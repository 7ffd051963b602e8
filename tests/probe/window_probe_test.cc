// Probes of a window show parts of what those of the whole show.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "mask/random_mask.h"
#include "probe/probe_sample.h"
#include "qkv/gradient_probe.h"

namespace qkv::testing_probe::window_probe_test {
namespace {

using mask_test::any_in;

TensorView every(const TensorView& x, std::int64_t first, std::int64_t step, std::int64_t count) {
  const TensorView span = x.slice(2, first, first + (count - 1) * step + 1);
  Shape shape = span.shape();
  Strides strides = span.strides();
  shape[2] = count;
  strides[2] *= step;
  return {span.data(), span.dtype(), shape, strides};
}

// A window of at least one query and key.
struct Part {
  MatrixWindow window;
  std::int64_t queries;
  std::int64_t keys;

  [[nodiscard]] TensorView of_queries(const TensorView& x) const {
    return every(x, window.first_i, window.step_i, queries);
  }
  [[nodiscard]] TensorView of_keys(const TensorView& x) const { return every(x, window.first_j, window.step_j, keys); }
};

Part any_part(const MaskShape& whole) {
  Part part = {.window = {.Tq = whole.Tq,
                          .Tk = whole.Tk,
                          .first_i = any_in(0, whole.Tq - 1),
                          .step_i = any_in(1, 3),
                          .first_j = any_in(0, whole.Tk - 1),
                          .step_j = any_in(1, 3)},
               .queries = 1,
               .keys = 1};
  part.queries = any_in(1, (whole.Tq - 1 - part.window.first_i) / part.window.step_i + 1);
  part.keys = any_in(1, (whole.Tk - 1 - part.window.first_j) / part.window.step_j + 1);
  return part;
}

AttentionOptions options_in(const Sample& sample, const MatrixWindow& window) {
  AttentionOptions options = sample.options;
  options.within = {window};
  return options;
}

Tensor lse_of(const Sample& sample) {
  const Probe probe = sample.probe();
  const MaskShape shape = sample.shape();
  Tensor lse(DType::f64, {shape.B, shape.H, shape.Tq});
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) {
      lse.store_row(std::array{b, h}, probe.lse({b, h}).to_vector());
    }
  }
  return lse;
}

RC_GTEST_PROP(WindowProbe, ShowsTheTilesOfTheWhole, ()) {
  const Sample sample = any_sample(any_dtype(), true);
  const Part part = any_part(sample.shape());
  const HeadPlace head = sample.any_head();
  const Tensor lse = lse_of(sample);
  const TensorView part_lse = part.of_queries(lse);
  const Probe whole(sample.q, sample.k, sample.options, lse);
  const Probe probe(part.of_queries(sample.q), part.of_keys(sample.k), options_in(sample, part.window), part_lse);
  const Bounds bounds = bounds_of(sample);
  for (const Stage stage : {Stage::scaled, Stage::biased, Stage::masked, Stage::weights, Stage::dropped}) {
    const Tensor all = whole.tile({head.b, head.h, 0, sample.q.dim(2), 0, sample.k.dim(2)}, stage);
    const Tensor got = probe.tile({head.b, head.h, 0, part.queries, 0, part.keys}, stage);
    for (std::int64_t i = 0; i < part.queries; ++i) {
      for (std::int64_t j = 0; j < part.keys; ++j) {
        const double expected = all.at({part.window.query(i), part.window.key(j)});
        const bool is_weight = stage >= Stage::weights;
        RC_ASSERT(close(got.at({i, j}), expected, is_weight ? bounds.least : 2 * bounds.score,
                        is_weight ? 2 * bounds.weight : 0));
      }
    }
  }
}

RC_GTEST_PROP(WindowProbe, HasStatisticsThatAddUpOverKeys, ()) {
  const Sample sample = any_sample(DType::f64, true);
  const HeadPlace head = sample.any_head();
  const MaskShape shape = sample.shape();
  const Part rows = any_part(shape);
  const Tensor lse = lse_of(sample);
  const TensorView part_lse = rows.of_queries(lse);
  const RowStatistics whole = Probe(sample.q, sample.k, sample.options, lse).statistics(head);
  const std::int64_t step = any_in(1, 3);
  std::vector<RowStatistics> parts;
  for (std::int64_t first = 0; first < std::min(step, shape.Tk); ++first) {
    MatrixWindow window = rows.window;
    window.first_j = first;
    window.step_j = step;
    const TensorView k = every(sample.k, first, step, (shape.Tk - 1 - first) / step + 1);
    parts.push_back(Probe(rows.of_queries(sample.q), k, options_in(sample, window), part_lse).statistics(head));
  }
  for (std::int64_t i = 0; i < rows.queries; ++i) {
    const std::int64_t row = rows.window.query(i);
    const auto adds_up = [&](Tensor RowStatistics::* column) {
      double sum = 0;
      for (const RowStatistics& part : parts) sum += (part.*column).at({i});
      return close(sum, (whole.*column).at({row}), 1e-9, 1e-9);
    };
    RC_ASSERT(adds_up(&RowStatistics::visible));
    RC_ASSERT(adds_up(&RowStatistics::mass));
    RC_ASSERT(adds_up(&RowStatistics::distance));
    RC_ASSERT(adds_up(&RowStatistics::first));
    RC_ASSERT(adds_up(&RowStatistics::diagonal));
  }
}

RC_GTEST_PROP(WindowProbe, ShowsTheGradientsOfTheWhole, ()) {
  const Sample sample = any_sample(DType::f64, true);
  const HeadPlace head = sample.any_head();
  const Part part = any_part(sample.shape());
  const AttentionResult result = attention(sample.q, sample.k, sample.k, sample.options);
  const GradientProbe whole(sample.q, sample.q, sample.k, sample.k, result.out, result.lse, sample.options);
  const TensorView q = part.of_queries(sample.q);
  const TensorView k = part.of_keys(sample.k);
  const TensorView lse = part.of_queries(result.lse);
  const GradientProbe probe(q, q, k, k, part.of_queries(result.out), lse, options_in(sample, part.window));
  for (const Stage stage : {Stage::raw, Stage::biased, Stage::weights}) {
    const Tensor all = whole.tile({head.b, head.h, 0, sample.q.dim(2), 0, sample.k.dim(2)}, stage);
    const Tensor got = probe.tile({head.b, head.h, 0, part.queries, 0, part.keys}, stage);
    for (std::int64_t i = 0; i < part.queries; ++i) {
      for (std::int64_t j = 0; j < part.keys; ++j) {
        RC_ASSERT(close(got.at({i, j}), all.at({part.window.query(i), part.window.key(j)}), 1e-8, 1e-8));
      }
    }
  }
}

}  // namespace
}  // namespace qkv::testing_probe::window_probe_test
