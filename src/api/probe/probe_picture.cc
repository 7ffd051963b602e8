#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "api/probe/probe_parts.h"
#include "core/counted.h"
#include "core/listed.h"
#include "qkv/api/probe.h"

namespace qkv {
namespace {

// Where each of a map's rows or columns begins.
std::vector<std::string> first_places(std::int64_t begin, std::int64_t extent, std::int64_t cells) {
  std::vector<std::string> places;
  for (std::int64_t n = 0; n < cells; ++n) places.push_back(std::to_string(begin + n * extent / cells));
  return places;
}

Heatmap map_heatmap(const ProbeMap& map, const ProbeReply& reply, std::string title, ColourScale scale) {
  Heatmap picture;
  const auto [B, H, Tq, Tk] = reply.shape;
  const MapArea area = reply.choice.area.value_or(MapArea{0, Tq, 0, Tk});
  const std::int64_t queries = area.i_end - area.i_begin;
  const std::int64_t keys = area.j_end - area.j_begin;
  picture.title = std::move(title);
  if (map.cells.dim(0) < queries || map.cells.dim(1) < keys) {
    picture.title += fmt::format(", {} x {} pairs", queries, keys);
  }
  picture.values = map.cells;
  picture.hidden = Tensor(DType::b8, map.visible.shape());
  const auto visible = map.visible.values<double>();
  const auto hidden = picture.hidden.values<bool>();
  for (std::size_t n = 0; n < visible.size(); ++n) hidden[n] = visible[n] == 0;
  picture.row_axis = "query";
  picture.column_axis = "key";
  if (reply.choice.area) {
    picture.row_labels = first_places(area.i_begin, queries, map.cells.dim(0));
    picture.column_labels = first_places(area.j_begin, keys, map.cells.dim(1));
  } else {
    picture.row_places = Tq;
    picture.column_places = Tk;
  }
  picture.value_name = reply.choice.reduce == Reduce::mean ? "mean " : "largest ";
  picture.value_name += reply.choice.stage.map_value();
  picture.scale = scale;
  return picture;
}

Heatmap tile_heatmap(const ProbeHead& head, const ProbeReply& reply, std::string title, ColourScale scale) {
  const ProbeChoice& choice = reply.choice;
  Heatmap picture;
  picture.title = std::move(title);
  picture.values = *head.tile;
  picture.hidden = head.hidden;
  picture.row_axis = "query";
  picture.column_axis = "key";
  picture.row_labels = api_detail::numbers_from_to(choice.tile->i_begin, choice.tile->i_end);
  picture.column_labels = api_detail::numbers_from_to(choice.tile->j_begin, choice.tile->j_end);
  picture.value_name = choice.stage.name();
  if (choice.stage.is_weights()) {
    picture.scale = scale;
  } else {
    picture.colours = ColourMap::diverging;
  }
  return picture;
}

std::string title_of(const ProbeChoice& choice, const std::string& mask) {
  const ProbeStage& stage = choice.stage;
  if (stage.gradient) return fmt::format("gradients {}: {}", stage.name(), mask);
  if (choice.map || stage.is_weights()) return "weights: " + mask;
  return "scores: " + (stage.stage < Stage::masked ? "before the mask" : mask);
}

}  // namespace

std::vector<std::string> api_detail::numbers_from_to(std::int64_t begin, std::int64_t end) {
  std::vector<std::string> texts;
  for (std::int64_t n = begin; n < end; ++n) texts.push_back(std::to_string(n));
  return texts;
}

std::string api_detail::mean_title(const ProbeReply& reply) {
  const std::size_t count = reply.heads.size();
  if (static_cast<std::int64_t>(count) == reply.shape.H) {
    return "mean of " + core::counted(count, "head");
  }
  constexpr std::size_t kListed = 8;
  const std::string names = core::listed(reply.heads, kListed, [](const auto& head) { return std::to_string(head.h); });
  return "mean of " + core::plural(count, "head") + " " + names;
}

Panel picture_of(const ProbeReply& reply, const AttentionProblem& problem, ColourScale scale) {
  const std::string mask = fit_to_width(problem.options.mask.to_string(), 80);
  Panel panel{.title = "Attention " + title_of(reply.choice, mask), .heatmaps = {}};
  if (reply.average) {
    const std::string title = api_detail::mean_title(reply);
    panel.heatmaps.push_back(map_heatmap(*reply.average, reply, title, scale));
    return panel;
  }
  for (const ProbeHead& head : reply.heads) {
    const std::string title = fmt::format("head {}", head.h);
    panel.heatmaps.push_back(head.map ? map_heatmap(*head.map, reply, title, scale)
                                      : tile_heatmap(head, reply, title, scale));
  }
  return panel;
}

}  // namespace qkv
