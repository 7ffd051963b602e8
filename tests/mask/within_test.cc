// Windows of masks and biases are parts of the whole.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error_message.h"
#include "mask/bias_node.h"
#include "mask/random_bias.h"
#include "qkv/mask_plans.h"
#include "qkv/tile_plan.h"

namespace qkv::within_test {
namespace {

using mask_test::any_bias;
using mask_test::any_in;
using mask_test::any_mask;

struct Part {
  MaskShape whole;
  MaskShape shape;
  MatrixWindow window;

  [[nodiscard]] Place at(const Place& place) const {
    return {.b = place.b, .h = place.h, .i = window.query(place.i), .j = window.key(place.j)};
  }
};

// Of at least one query and key.
Part any_part() {
  const MaskShape whole = {.B = any_in(1, 2), .H = any_in(1, 2), .Tq = any_in(1, 60), .Tk = any_in(1, 150)};
  const std::int64_t i = any_in(0, whole.Tq - 1);
  const std::int64_t j = any_in(0, whole.Tk - 1);
  const std::int64_t step_i = *rc::gen::element<std::int64_t>(1, 1, 2, 5, 70);
  const std::int64_t step_j = *rc::gen::element<std::int64_t>(1, 1, 2, 3, 33, 64, 100);
  return {.whole = whole,
          .shape = {.B = whole.B,
                    .H = whole.H,
                    .Tq = any_in(1, (whole.Tq - 1 - i) / step_i + 1),
                    .Tk = any_in(1, (whole.Tk - 1 - j) / step_j + 1)},
          .window = {.Tq = whole.Tq, .Tk = whole.Tk, .first_i = i, .step_i = step_i, .first_j = j, .step_j = step_j}};
}

RC_GTEST_PROP(Within, AMaskShowsWhatTheWholeShowsThere, ()) {
  const Part part = any_part();
  const mask_test::RandomMask random = any_mask(part.whole, 2);
  const Mask mask = within(random.mask, part.window);
  mask.validate(part.shape);
  const TilePlan plan(mask, part.shape, {any_in(1, 9), any_in(1, 70)});
  const Tile tile = {.i_end = part.shape.Tq, .j_begin = any_in(0, part.shape.Tk - 1), .j_end = part.shape.Tk};
  const TileClass sort = mask.classify(tile, part.shape);
  const KeyRange hull = mask.hull(tile, part.shape);
  RC_ASSERT(tile.j_begin <= hull.begin && hull.end <= tile.j_end);
  const int count = static_cast<int>(std::min<std::int64_t>(64, part.shape.Tk - tile.j_begin));
  for (Place at = {}; at.i < part.shape.Tq; ++at.i) {
    const std::uint64_t bits = mask.row_bits({.i = at.i, .j = tile.j_begin}, count, part.shape);
    RC_ASSERT(count == 64 || bits >> count == 0);
    for (at.j = 0; at.j < part.shape.Tk; ++at.j) {
      const bool seen = random.rule(part.at(at));
      RC_ASSERT(mask.allows(at, part.shape) == seen);
      RC_ASSERT(plan.visible(0, 0, at.i, at.j) == seen);
      if (at.j < tile.j_begin) continue;
      RC_ASSERT(sort != (seen ? TileClass::skip : TileClass::full));
      RC_ASSERT(!seen || (hull.begin <= at.j && at.j < hull.end));
      if (at.j - tile.j_begin < count) RC_ASSERT(((bits >> (at.j - tile.j_begin) & 1U) != 0) == seen);
    }
  }
}

RC_GTEST_PROP(Within, ABiasAddsWhatTheWholeAddsThere, ()) {
  const Part part = any_part();
  const Bias whole = any_bias(part.whole);
  const Bias bias = within(whole, part.window);
  bias.validate(part.shape);
  std::vector<float> tile(static_cast<std::size_t>(part.shape.Tq * part.shape.Tk));
  bias.write_tile({.i_end = part.shape.Tq, .j_end = part.shape.Tk}, tile.data(), part.shape.Tk, part.shape);
  for (Place at = {}; at.i < part.shape.Tq; ++at.i) {
    std::vector<double> row(static_cast<std::size_t>(part.shape.Tk));
    bias.add_row({.i = at.i}, row, part.shape);
    for (at.j = 0; at.j < part.shape.Tk; ++at.j) {
      const double expected = whole.at(part.at(at), part.whole);
      RC_ASSERT(bias.at(at, part.shape) == expected);
      RC_ASSERT(row[static_cast<std::size_t>(at.j)] == expected);
      const float rounded = tile[static_cast<std::size_t>(at.i * part.shape.Tk + at.j)];
      RC_ASSERT(rounded == static_cast<float>(expected));
    }
  }
  for (const bias_detail::TermNode* term : bias_detail::term_nodes(bias)) {
    const Tile first = {.i_end = std::min<std::int64_t>(part.shape.Tq, 64), .j_end = 1};
    const bias_detail::FloatRows rows = term->tile_rows(first);
    for (Place at = {}; rows.first != nullptr && at.i < first.i_end; ++at.i) {
      RC_ASSERT(rows.first[at.i * rows.row_stride] == static_cast<float>(term->at(at, part.shape)));
    }
  }
}

// The gradient of each element from the window's tiles, and from every pair of it in the whole matrix.
RC_GTEST_PROP(Within, ABiasHasTheGradientsOfTheWhole, ()) {
  const Part part = any_part();
  const Bias whole = any_bias(part.whole);
  const Bias bias = within(whole, part.window);
  const auto own = bias_detail::term_nodes(bias);
  const auto all = bias_detail::term_nodes(whole);
  const auto d_score = [](const Place& at) { return static_cast<double>(1 + at.i * 7 % 5 + at.j * 3 % 11); };
  const auto add = [](const bias_detail::TermNode& term, const Tile& tile, const std::vector<double>& d_scores,
                      const MaskShape& shape, Tensor& gradient) {
    const bias_detail::GradientWindow window = term.gradient_window(tile, shape);
    std::vector<double> cells(static_cast<std::size_t>(window.cells()));
    term.add_gradient(tile, d_scores.data(), 64, cells.data(), shape);
    for (std::int64_t n = 0; n < window.cells(); ++n) {
      const std::int64_t place =
          window.offset + n / window.columns * window.row_stride + n % window.columns * window.column_stride;
      gradient.values<double>()[static_cast<std::size_t>(place)] += cells[static_cast<std::size_t>(n)];
    }
  };
  for (std::size_t n = 0; n < own.size(); ++n) {
    const Shape elements = all[n]->gradient_shape(part.whole);
    RC_ASSERT(own[n]->gradient_shape(part.shape) == elements);
    Tensor got(DType::f64, elements);
    Tensor expected(DType::f64, elements);
    for (std::int64_t j = 0; j < part.shape.Tk; j += 64) {
      const Tile tile = {.i_end = part.shape.Tq, .j_begin = j, .j_end = std::min(j + 64, part.shape.Tk)};
      std::vector<double> d_scores(64 * 64);
      for (Place at = {}; at.i < tile.i_end; ++at.i) {
        for (at.j = j; at.j < tile.j_end; ++at.j) {
          d_scores[static_cast<std::size_t>(at.i * 64 + at.j - j)] = d_score(at);
          const Place there = part.at(at);
          const Tile pair = {.i_begin = there.i, .i_end = there.i + 1, .j_begin = there.j, .j_end = there.j + 1};
          add(*all[n], pair, {d_score(at)}, part.whole, expected);
        }
      }
      add(*own[n], tile, d_scores, part.shape, got);
    }
    const std::vector<double> values = expected.to_vector();
    for (std::size_t c = 0; c < values.size(); ++c) {
      RC_ASSERT(std::abs(got.to_vector()[c] - values[c]) <= 0x1p-40 * (std::abs(values[c]) + 1e5));
    }
  }
}

TEST(Within, LeavesWhatHasNoPlacesAsItIs) {
  const MatrixWindow window = {.Tq = 9, .Tk = 9, .first_i = 3, .first_j = 3};
  EXPECT_TRUE(within(all(), window).is_all());
  EXPECT_TRUE(within(Bias(), window).is_zero());
  EXPECT_EQ(within(causal() & prefix(3), window).to_string(), "causal & prefix(3)");
}

TEST(Within, KeepsThePlansOfWindowsApart) {
  MaskPlans plans;
  const MaskShape shape = {.Tq = 8, .Tk = 8};
  const auto of = [&](std::int64_t first_i) {
    return &plans.of(within(causal(), {.Tq = 16, .Tk = 16, .first_i = first_i, .first_j = 8}), shape);
  };
  EXPECT_EQ(of(8), of(8));
  EXPECT_EQ(of(0)->counts().pairs_kept, 0);
  EXPECT_EQ(of(8)->counts().pairs_kept, 36);
}

TEST(Within, SaysWhatDoesNotFit) {
  const auto made = [](const MatrixWindow& window) { return error_message([&] { (void)within(causal(), window); }); };
  EXPECT_EQ(made({.Tq = -1, .Tk = 9}), "within: window: expected Tq >= 0, got -1");
  EXPECT_EQ(made({.Tq = 9, .Tk = 9, .first_i = -2}), "within: window: expected first_i >= 0, got -2");
  EXPECT_EQ(made({.Tq = 9, .Tk = 9, .step_j = 0}), "within: window: expected step_j >= 1, got 0");
  const auto fits = [](const MatrixWindow& window, const MaskShape& shape) {
    return error_message([&] { within(causal(), window).validate(shape); });
  };
  EXPECT_EQ(fits({.Tq = 9, .Tk = 9, .first_i = 5, .step_i = 2}, {.Tq = 3, .Tk = 9}),
            "within: window: expected 3 queries or more from 5 on, 2 apart, got 2 of 9");
  EXPECT_EQ(fits({.Tq = 9, .Tk = 9, .first_j = 10}, {.Tq = 9, .Tk = 1}),
            "within: window: expected 1 keys or more from 10 on, 1 apart, got 0 of 9");
  EXPECT_EQ(error_message([] { within(documents({4, 4}), {.Tq = 9, .Tk = 9}).validate({.Tq = 1, .Tk = 8}); }),
            "documents: lengths: expected a sum of 9, the number of keys, got 8");
}

}  // namespace
}  // namespace qkv::within_test
