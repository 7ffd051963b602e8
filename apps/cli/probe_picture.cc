#include "probe_picture.h"

#include <fmt/format.h>

#include <utility>

namespace qkv::cli {
namespace {

Heatmap map_heatmap(const MapFindings& map, const ProbeFindings& findings, std::string title, ColourScale scale) {
  Heatmap picture;
  const auto [B, H, Tq, Tk] = findings.shape;
  picture.title = std::move(title);
  if (map.cells.dim(0) < Tq || map.cells.dim(1) < Tk) picture.title += fmt::format(", {} x {} pairs", Tq, Tk);
  picture.values = map.cells;
  picture.hidden = Tensor(DType::b8, map.visible.shape());
  const auto visible = map.visible.values<double>();
  const auto hidden = picture.hidden.values<bool>();
  for (std::size_t n = 0; n < visible.size(); ++n) hidden[n] = visible[n] == 0;
  picture.row_axis = "query";
  picture.column_axis = "key";
  picture.row_places = Tq;
  picture.column_places = Tk;
  picture.value_name = findings.request.reduce == Reduce::mean ? "mean " : "largest ";
  picture.value_name += findings.request.stage.map_value();
  picture.scale = scale;
  return picture;
}

std::vector<std::string> numbers(std::int64_t begin, std::int64_t end) {
  std::vector<std::string> texts;
  for (std::int64_t n = begin; n < end; ++n) texts.push_back(std::to_string(n));
  return texts;
}

Heatmap tile_heatmap(const HeadFindings& head, const ProbeFindings& findings, std::string title, ColourScale scale) {
  const ProbeRequest& request = findings.request;
  Heatmap picture;
  picture.title = std::move(title);
  picture.values = *head.tile;
  picture.hidden = head.hidden;
  picture.row_axis = "query";
  picture.column_axis = "key";
  picture.row_labels = numbers(request.tile->i_begin, request.tile->i_end);
  picture.column_labels = numbers(request.tile->j_begin, request.tile->j_end);
  picture.value_name = request.stage.name();
  if (request.stage.is_weights()) {
    picture.scale = scale;
  } else {
    picture.colours = ColourMap::diverging;
  }
  return picture;
}

std::string title_of(const ProbeRequest& request, const std::string& mask) {
  const ProbeStage& stage = request.stage;
  if (stage.gradient) return fmt::format("gradients {}: {}", stage.name(), mask);
  if (request.map || stage.is_weights()) return "weights: " + mask;
  return "scores: " + (stage.stage < Stage::masked ? "before the mask" : mask);
}

}  // namespace

Panel picture_of(const ProbeFindings& findings, const std::string& mask, ColourScale scale) {
  Panel panel{.title = "Attention " + title_of(findings.request, mask), .heatmaps = {}};
  if (findings.average) {
    const std::string title = fmt::format("mean of {} heads", findings.heads.size());
    panel.heatmaps.push_back(map_heatmap(*findings.average, findings, title, scale));
    return panel;
  }
  for (const HeadFindings& head : findings.heads) {
    const std::string title = fmt::format("head {}", head.h);
    panel.heatmaps.push_back(head.map ? map_heatmap(*head.map, findings, title, scale)
                                      : tile_heatmap(head, findings, title, scale));
  }
  return panel;
}

}  // namespace qkv::cli
