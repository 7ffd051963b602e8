#include "qkv/api/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/mask/mask_map.h"
#include "api/replies/lines.h"
#include "api/studio/question_watch.h"
#include "core/counted.h"
#include "core/numbered.h"
#include "qkv/picture/mask_heatmap.h"

namespace qkv {
namespace {

using api_detail::named_lines;
using api_detail::prose;
using api_detail::with_commas;

constexpr std::int64_t kMostPanels = 8;  // heads drawn where they differ

TileSize tile_size(const MaskRequest& request) {
  const auto [queries, keys] = api_detail::extents("tile", request.tile, "N or QxK, each 1 or more");
  return {queries, keys};
}

MaskShape shape_of(const MaskRequest& request) {
  return {.B = request.batch, .H = request.heads, .Tq = request.tq, .Tk = request.tk};
}

TilePlan plan_of(const Mask& mask, const MaskRequest& request) {
  const auto tell = [](std::int64_t done, std::int64_t rows) {
    api_detail::QuestionWatch::doing("rows of tiles", {.done = done, .total = rows});
  };
  return {mask, shape_of(request), tile_size(request), tell};
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

const Fields<MaskRequest>& mask_fields() {
  static const Fields<MaskRequest> kFields = [] {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    constexpr std::int64_t kMostCells = 1024;
    Fields<MaskRequest> fields;
    const auto count = [&](auto place, const char* name, const char* meaning, std::int64_t least = 1) {
      fields.add(place, {.name = name, .form = "N", .meaning = meaning, .least = least, .most = kMost});
    };
    fields.add(&MaskRequest::mask, api_detail::shared_field("mask"));
    count(&MaskRequest::tq, "tq", "Queries");
    count(&MaskRequest::tk, "tk", "Keys");
    count(&MaskRequest::batch, "batch", "Batch entries");
    fields.add(&MaskRequest::heads, api_detail::shared_field("heads"));
    fields.add(&MaskRequest::tile, {.name = "tile", .form = "SIZE", .meaning = "Tile: N, or QxK for queries x keys"});
    fields.add(&MaskRequest::map, {.name = "map",
                                   .meaning = fmt::format("Also which share of each cell's pairs is kept, and the "
                                                          "queries that see nothing: of {} queries and keys at most",
                                                          api_detail::kMostDrawn),
                                   .needs = {"mask"}});
    fields.add(&MaskRequest::cells, {.name = "cells",
                                     .form = "N",
                                     .meaning = "Rows and columns of the map and of drawings, at most",
                                     .least = 1,
                                     .most = kMostCells,
                                     .needs = {"map"}});
    count(&MaskRequest::head, "head", "The head that is mapped and drawn, where heads differ", 0);
    count(&MaskRequest::batch_entry, "batch_entry", "The batch entry that is mapped and drawn, where they differ", 0);
    fields.info("head").needs = {"map"};
    fields.info("batch_entry").needs = {"map"};
    fields.give_otherwise({{"head", "map: the first; picture: all"}, {"batch_entry", "map: the first; picture: all"}});
    fields.tell_arguments(
        {{"tq", {"shape"}}, {"tk", {"shape"}}, {"batch", {"shape"}}, {"heads", {"shape"}}, {"tile", {"size"}}});
    fields.give_examples({{"mask", "causal & window(512)"}, {"tile", "32x16"}, {"cells", "16"}});
    return fields;
  }();
  return kFields;
}

MaskReply mask(const MaskRequest& request) {
  const auto require_below = [](std::string_view field, std::string_view what, std::optional<std::int64_t> given,
                                std::int64_t count) {
    if (given.value_or(0) < count) return;
    api_detail::refuse(field, core::numbered(what, count), std::to_string(*given));
  };
  if (request.map) api_detail::require_drawable(request);
  require_below("head", "head", request.head, request.heads);
  require_below("batch_entry", "entry", request.batch_entry, request.batch);
  const Mask mask = parse_mask(request.mask);
  return {.text = mask.to_string(),
          .varies_by_batch = mask.varies_by_batch(),
          .varies_by_head = mask.varies_by_head(),
          .plan = plan_of(mask, request)};
}

namespace {

// Those of `count` that are drawn: the one that was asked for, or all, of which one stands for all where they are
// alike.
struct Drawn {
  std::int64_t begin = 0, count = 1;
};

Drawn drawn_of(bool varies, std::optional<std::int64_t> asked, std::int64_t count) {
  if (!varies) return {};
  return asked ? Drawn{.begin = *asked, .count = 1} : Drawn{.begin = 0, .count = count};
}

}  // namespace

Panel picture_of(const MaskReply& reply, const MaskRequest& request) {
  Panel panel{.title = fit_to_width(reply.text, 80), .heatmaps = {}};
  const MaskShape& shape = reply.plan.shape();
  const Drawn batch = drawn_of(reply.varies_by_batch, request.batch_entry, shape.B);
  const Drawn heads = drawn_of(reply.varies_by_head, request.head, shape.H);
  for (std::int64_t n = 0; n < std::min(batch.count * heads.count, kMostPanels); ++n) {
    const std::int64_t entry = batch.begin + n / heads.count;
    const std::int64_t head = heads.begin + n % heads.count;
    Heatmap picture = mask_heatmap(reply.plan, entry, head, request.cells);
    if (reply.varies_by_batch && shape.B > 1) picture.title = fmt::format("batch entry {}", entry);
    if (reply.varies_by_head && shape.H > 1) {
      picture.title += fmt::format("{}head {}", picture.title.empty() ? "" : ", ", head);
    }
    panel.heatmaps.push_back(std::move(picture));
  }
  return panel;
}

MaskFigures mask_figures(const MaskReply& reply, const MaskRequest& request) {
  MaskFigures figures;
  static_cast<MaskExtents&>(figures) = extents_of(reply.plan.shape(), reply.plan.tile_size());
  static_cast<MaskCounts&>(figures) = counts_of(reply.plan.counts());
  figures.mask = reply.text;
  if (request.map) figures.map = api_detail::mask_map(reply.plan, request);
  for (const Word& word : mask_words()) {
    constexpr std::size_t kLongExample = 200;  // dense() names every key
    std::string example = mask_sample(word.word, reply.plan.shape());
    if (example.size() > kLongExample) example.clear();
    figures.words.push_back(
        {std::string(word.word), std::string(word.form), std::string(word.meaning), std::move(example)});
  }
  return figures;
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
                           fmt::format("{}  ({} {} computed)", percent(counts.cost()), with_commas(computed),
                                       core::plural(computed, "tile")),
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
  return any_reply(mask_figures(mask(request), request));
}

}  // namespace qkv
