#include "api/mask/mask_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/fields/refuse.h"
#include "qkv/picture/mask_heatmap.h"

namespace qkv {
namespace {

/// Whether any tile of a row of tiles shows query `i` something.
bool sees_anything(const TilePlan& plan, std::int64_t b, std::int64_t h, std::int64_t i) {
  const std::int64_t row = i / plan.tile_size().queries;
  const KeyRange columns = plan.columns_of(b, h, row);
  for (std::int64_t column = columns.begin; column < columns.end; ++column) {
    const TileClass kind = plan.tile(b, h, row, column);
    if (kind == TileClass::full) return true;
    if (kind == TileClass::skip) continue;
    const auto words = plan.bits(b, h, row, column)
                           .subspan(static_cast<std::size_t>((i % plan.tile_size().queries) * plan.words_per_row()),
                                    static_cast<std::size_t>(plan.words_per_row()));
    if (std::ranges::any_of(words, [](std::uint64_t word) { return word != 0; })) return true;
  }
  return false;
}

void find_blind_rows(const TilePlan& plan, std::int64_t b, std::int64_t h, MaskMap& map) {
  constexpr std::size_t kNamed = 8;
  for (std::int64_t i = 0; i < plan.shape().Tq; ++i) {
    if (sees_anything(plan, b, h, i)) continue;
    ++map.blind_rows;
    if (map.first_blind.size() < kNamed) map.first_blind.push_back(i);
  }
}

std::string sentence_of(const TileCounts& counts, const MaskMap& map) {
  const std::string blind = map.blind_rows == 0 ? "Every query sees something."
                            : map.blind_rows == 1
                                ? fmt::format("Query {} sees nothing: its output is 0.", map.first_blind.front())
                                : fmt::format("{} queries see nothing, the first is {}: their outputs are 0.",
                                              map.blind_rows, map.first_blind.front());
  return fmt::format("{:.2f} % of the pairs are kept, {:.2f} % of the tiles are computed. {}", 100 * counts.coverage(),
                     100 * counts.cost(), blind);
}

}  // namespace

void api_detail::require_drawable(const MaskRequest& request) {
  const auto within = [&](std::string_view field, std::int64_t extent) {
    if (extent <= kMostDrawn) return;
    refuse(field, fmt::format("a whole number from 1 to {}{}", kMostDrawn, request.map ? " beside `map`" : ""),
           std::to_string(extent));
  };
  within("tq", request.tq);
  within("tk", request.tk);
}

MaskMap api_detail::mask_map(const TilePlan& plan, const MaskRequest& request) {
  const std::int64_t b = request.batch_entry.value_or(0);
  const std::int64_t h = request.head.value_or(0);
  const Heatmap drawn = mask_heatmap(plan, b, h, request.cells);
  const bool is_pairwise = drawn.values.dim(0) == plan.shape().Tq && drawn.values.dim(1) == plan.shape().Tk;
  const auto pairs_of = [&](std::int64_t cells, std::int64_t tiles, std::int64_t size) {
    return is_pairwise ? 1 : (tiles + cells - 1) / cells * size;
  };
  MaskMap map{.cell_queries = pairs_of(drawn.values.dim(0), plan.rows(), plan.tile_size().queries),
              .cell_keys = pairs_of(drawn.values.dim(1), plan.columns(), plan.tile_size().keys),
              .share = Tensor(drawn.values.view(), DType::f32),
              .blind_rows = 0,
              .first_blind = {},
              .sentence = {}};
  find_blind_rows(plan, b, h, map);
  map.sentence = sentence_of(plan.counts(), map);
  return map;
}

}  // namespace qkv
