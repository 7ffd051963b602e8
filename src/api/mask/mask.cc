#include "qkv/api/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "api/mask/mask_extents.h"
#include "api/replies/lines.h"
#include "qkv/picture/mask_heatmap.h"

namespace qkv {
namespace {

using api_detail::named_lines;
using api_detail::prose;

constexpr std::int64_t kMostPanels = 8;  // heads drawn where they differ

TileSize tile_size(const MaskRequest& request) {
  const auto [queries, keys] = api_detail::extents("tile", request.tile, "N or QxK, each 1 or more");
  return {queries, keys};
}

MaskShape shape_of(const MaskRequest& request) {
  return {.B = request.batch, .H = request.heads, .Tq = request.tq, .Tk = request.tk};
}

TilePlan plan_of(const Mask& mask, const MaskRequest& request, const TilePlan::Watch& watch = {}) {
  try {
    return {mask, shape_of(request), tile_size(request), watch};
  } catch (const InvalidArgument& error) {
    if (error.argument() == "size") api_detail::refuse("tile", error.expected(), error.got());
    if (error.argument() == "shape") api_detail::refuse("batch", error.expected(), error.got());
    throw;
  }
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

MaskExtents extents_of(const MaskShape& shape, const TileSize& tile) {
  return {.batch = shape.B,
          .heads = shape.H,
          .tq = shape.Tq,
          .tk = shape.Tk,
          .tile_queries = tile.queries,
          .tile_keys = tile.keys};
}

MaskCounts counts_of(const TileCounts& counts) {
  return {.pairs_kept = counts.pairs_kept,
          .pairs_total = counts.pairs_total,
          .coverage = counts.coverage(),
          .skip = counts.skip,
          .full = counts.full,
          .partial = counts.partial,
          .tiles = counts.total(),
          .cost = counts.cost()};
}

}  // namespace

Fields<MaskRequest> api_detail::mask_fields_within(const MaskBounds& bounds) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  Fields<MaskRequest> fields;
  const auto count = [&](std::int64_t MaskRequest::* place, const char* name, const char* meaning, std::int64_t most) {
    fields.add(place, {.name = name, .form = "N", .meaning = meaning, .least = bounds.least, .most = most});
  };
  fields.add(&MaskRequest::mask,
             {.name = "mask", .form = "EXPR", .meaning = "The mask, e.g. \"causal & window(512) | global(4)\""});
  count(&MaskRequest::tq, "tq", "Queries", bounds.longest);
  count(&MaskRequest::tk, "tk", "Keys", bounds.longest);
  count(&MaskRequest::batch, "batch", "Batch entries", kMost);
  count(&MaskRequest::heads, "heads", "Query heads", kMost);
  fields.add(&MaskRequest::tile, {.name = "tile", .form = "SIZE", .meaning = "Tile: N, or QxK for queries x keys"});
  fields.give_examples({{"mask", "causal & window(512)"}, {"tile", "32x16"}});
  return fields;
}

const Fields<MaskRequest>& mask_fields() {
  static const Fields<MaskRequest> kFields = api_detail::mask_fields_within({});
  return kFields;
}

MaskReply mask(const MaskRequest& request, const TilePlan::Watch& watch) {
  const Mask mask = parse_mask(request.mask);
  return {.text = mask.to_string(),
          .varies_by_batch = mask.varies_by_batch(),
          .varies_by_head = mask.varies_by_head(),
          .plan = plan_of(mask, request, watch)};
}

MaskFigures mask_figures(const MaskReply& reply) {
  MaskFigures figures;
  static_cast<MaskExtents&>(figures) = extents_of(reply.plan.shape(), reply.plan.tile_size());
  static_cast<MaskCounts&>(figures) = counts_of(reply.plan.counts());
  figures.mask = reply.text;
  return figures;
}

Panel picture_of(const MaskReply& reply) {
  Panel panel{.title = fit_to_width(reply.text, 80), .heatmaps = {}};
  const MaskShape& shape = reply.plan.shape();
  const std::int64_t batch = reply.varies_by_batch ? shape.B : 1;
  const std::int64_t heads = reply.varies_by_head ? shape.H : 1;
  for (std::int64_t n = 0; n < std::min(batch * heads, kMostPanels); ++n) {
    Heatmap picture = mask_heatmap(reply.plan, n / heads, n % heads);
    if (batch > 1) picture.title = fmt::format("batch entry {}", n / heads);
    if (heads > 1) picture.title += fmt::format("{}head {}", picture.title.empty() ? "" : ", ", n % heads);
    panel.heatmaps.push_back(std::move(picture));
  }
  return panel;
}

std::string as_text(const MaskReply& reply, int width) {
  const TileCounts counts = reply.plan.counts();
  const auto& [B, H, Tq, Tk] = reply.plan.shape();
  const TileSize& tile = reply.plan.tile_size();
  const std::int64_t computed = counts.full + counts.partial;
  std::string out = named_lines("mask", reply.text, width);
  out += named_lines("shape", fmt::format("B {}, H {}, Tq {}, Tk {}", B, H, Tq, Tk), width);
  out += named_lines("coverage",
                     fmt::format("{}  ({} of {} pairs kept)", percent(counts.coverage()),
                                 with_commas(counts.pairs_kept), with_commas(counts.pairs_total)),
                     width);
  out += named_lines("tiles",
                     fmt::format("{} skip, {} full, {} partial  (of {}, {} queries x {} keys each)",
                                 with_commas(counts.skip), with_commas(counts.full), with_commas(counts.partial),
                                 with_commas(counts.total()), tile.queries, tile.keys),
                     width);
  return out + named_lines("cost",
                           fmt::format("{}  ({} tile{} computed)", percent(counts.cost()), with_commas(computed),
                                       computed == 1 ? "" : "s"),
                           width);
}

MaskWordList mask_word_list(const MaskRequest& request) {
  const MaskShape shape = shape_of(request);
  MaskWordList list;
  static_cast<MaskExtents&>(list) = extents_of(shape, tile_size(request));
  for (const Word& word : mask_words()) {
    const std::string example = mask_sample(word.word, shape);
    MaskWordFigures one;
    static_cast<MaskWordShown&>(one) = {std::string(word.word), std::string(word.form), std::string(word.meaning),
                                        example};
    static_cast<MaskCounts&>(one) = counts_of(plan_of(parse_mask(example), request).counts());
    list.words.push_back(std::move(one));
  }
  return list;
}

std::string as_text(const MaskWordList& list, int width) {
  constexpr int kExample = 25;
  std::string out = prose(fmt::format("The words of the mask language, over Tq {}, Tk {} in tiles of {} x {}:", list.tq,
                                      list.tk, list.tile_queries, list.tile_keys),
                          width);
  out += fmt::format("\n  {:<10} {:<{}} {:>8} {:>18} {:>8}\n", "word", "example", kExample, "coverage",
                     "skip/full/partial", "cost");
  for (const MaskWordFigures& one : list.words) {
    const std::string tiles = fmt::format("{}/{}/{}", one.skip, one.full, one.partial);
    out += fmt::format("  {:<10} {:<{}} {:>8} {:>18} {:>8}\n", one.word, fit_to_width(one.example, kExample), kExample,
                       percent(one.coverage), tiles, percent(one.cost));
    out += prose(one.meaning, width, 13);
  }
  out += "\n" + prose("Joined by ! (not), & (both), | (either), in this order of binding, and parentheses.", width);
  out += prose("Those that compare positions also take top_left; bottom_right is the default.", width);
  return out +
         prose("coverage: share of pairs kept. cost: share of tiles that must be computed, full and partial.", width);
}

AnyReply answer(const MaskRequest& request) {
  if (request.mask.empty()) return any_reply(mask_word_list(request));
  return any_reply(mask_figures(mask(request)));
}

}  // namespace qkv
