#include "explain/mask_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "explain/drawing.h"
#include "explain/numbers.h"
#include "qkv/tile_plan.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kEngineTile = 64;
constexpr std::size_t kNamed = 10;

// Tiles small enough that a short text has several of them.
std::int64_t drawn_tile(const MaskShape& shape) {
  const auto quarter = static_cast<std::uint64_t>(std::max<std::int64_t>(shape.Tk / 4, 1));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(quarter)), 2, kEngineTile);
}

std::vector<Cell> tile_row(const Mask& mask, const MaskShape& shape, std::int64_t side) {
  const TileCounts counts = TilePlan(mask, shape, {side, side}).counts();
  return {word(fmt::format("{0} × {0}", side)),
          whole(counts.skip),
          whole(counts.full),
          whole(counts.partial),
          {fmt::format("{:.1f} %", 100 * counts.cost()), counts.cost()}};
}

// 1 where visible, 0 where hidden.
Tensor visibility(const Mask& mask, const MaskShape& shape, std::int64_t head) {
  Tensor seen(DType::f64, {shape.Tq, shape.Tk});
  const std::span<double> values = seen.values<double>();
  std::size_t next = 0;
  for (std::int64_t i = 0; i < shape.Tq; ++i) {
    for (std::int64_t j = 0; j < shape.Tk; ++j) values[next++] = mask.allows({0, head, i, j}, shape) ? 1.0 : 0.0;
  }
  return seen;
}

Tensor tile_shares(const Tensor& seen, std::int64_t side) {
  const std::int64_t rows = (seen.dim(0) + side - 1) / side;
  const std::int64_t columns = (seen.dim(1) + side - 1) / side;
  Tensor kept(DType::f64, {rows, columns});
  Tensor places(DType::f64, {rows, columns});
  for (std::int64_t i = 0; i < seen.dim(0); ++i) {
    for (std::int64_t j = 0; j < seen.dim(1); ++j) {
      const auto tile = static_cast<std::size_t>((i / side) * columns + j / side);
      kept.values<double>()[tile] += seen.values<double>()[static_cast<std::size_t>(i * seen.dim(1) + j)];
      places.values<double>()[tile] += 1.0;
    }
  }
  for (std::size_t t = 0; t < kept.values<double>().size(); ++t) kept.values<double>()[t] /= places.values<double>()[t];
  return kept;
}

void hide_zeros(Heatmap& heatmap) {
  heatmap.hidden = Tensor(DType::b8, heatmap.values.shape());
  std::size_t at = 0;
  for (const double value : heatmap.values.to_vector()) heatmap.hidden.values<bool>()[at++] = value == 0;
  heatmap.low = 0.0;
  heatmap.high = 1.0;
  heatmap.colours = ColourMap::sequential;
  heatmap.decimals = 2;
}

void draw_head(Section& step, const Run& run, std::int64_t head, std::string_view suffix, std::string_view of) {
  const Tensor seen = visibility(run.attention.mask, run.shape(), head);
  NamedHeatmap mask = matrix_picture(fmt::format("mask{}", suffix), fmt::format("Mask{}: 1 is seen", of), seen,
                                     {run.queries.tokens, run.keys.tokens});
  mask.heatmap.value_name = "seen";
  hide_zeros(mask.heatmap);
  step.heatmaps.push_back(std::move(mask));
  const std::int64_t side = drawn_tile(run.shape());
  const Tensor shares = tile_shares(seen, side);
  NamedHeatmap tiles =
      matrix_picture(fmt::format("tiles{}", suffix), fmt::format("Share kept, {0} × {0} tiles{1}", side, of), shares,
                     {every_label(run.queries.tokens, side), every_label(run.keys.tokens, side)});
  tiles.heatmap.value_name = "share";
  hide_zeros(tiles.heatmap);
  step.heatmaps.push_back(std::move(tiles));
}

}  // namespace

void add_mask_summary(Section& step, const Run& run) {
  const Mask& mask = run.attention.mask;
  const MaskShape shape = run.shape();
  const std::int64_t small = drawn_tile(shape);
  const TileCounts counts = TilePlan(mask, shape, {kEngineTile, kEngineTile}).counts();
  Table table;
  table.title = fmt::format("The mask `{}` keeps {} of {} pairs ({:.1f} %)", mask.to_string(), counts.pairs_kept,
                            counts.pairs_total, 100 * counts.coverage());
  table.columns = {"tiles", "skipped", "full", "partial", "computed"};
  table.rows.push_back(tile_row(mask, shape, small));
  if (small != kEngineTile) table.rows.push_back(tile_row(mask, shape, kEngineTile));
  step.tables.push_back(std::move(table));
  step.notes.emplace_back(
      "A tiled kernel never touches a skipped tile, and looks at single pairs only in partial ones.");
  const std::int64_t drawn = mask.varies_by_head() ? run.heads : 1;
  for (std::int64_t head = 0; head < drawn; ++head) {
    draw_head(step, run, head, drawn > 1 ? fmt::format("-head{}", head) : "",
              drawn > 1 ? fmt::format(", head {}", head) : "");
  }
}

std::vector<std::string> blind_queries(const Run& run) {
  const MaskShape shape = run.shape();
  std::vector<std::string> blind;
  std::size_t count = 0;
  const std::vector<double> lse = attention(run.q, run.k, run.v, run.attention).lse.to_vector();
  for (std::int64_t i = 0; i < shape.Tq; ++i) {
    bool is_blind = true;
    for (std::int64_t h = 0; h < shape.H; ++h) {
      is_blind = is_blind && std::isinf(lse[static_cast<std::size_t>(h * shape.Tq + i)]);
    }
    if (is_blind && count++ < kNamed) {
      blind.push_back(fmt::format("“{}” ({})", run.queries.tokens[static_cast<std::size_t>(i)], i));
    }
  }
  if (count > kNamed) blind.push_back(fmt::format("and {} more", count - kNamed));
  return blind;
}

bool no_query_sees_a_key(const Run& run) {
  const std::vector<double> lse = attention(run.q, run.k, run.v, run.attention).lse.to_vector();
  return std::ranges::all_of(lse, [](double value) { return value < 0 && std::isinf(value); });
}

}  // namespace qkv::explain_detail
