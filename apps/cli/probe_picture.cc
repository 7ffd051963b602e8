#include "probe_picture.h"

#include <fmt/format.h>

#include <utility>

namespace qkv::cli {
namespace {

Heatmap map_heatmap(const WeightMap& map, const ProbeFindings& findings, std::string title, ColourScale scale) {
  Heatmap picture;
  const auto [B, H, Tq, Tk] = findings.shape;
  picture.title = std::move(title);
  if (map.weights.dim(0) < Tq || map.weights.dim(1) < Tk) picture.title += fmt::format(", {} x {} pairs", Tq, Tk);
  picture.values = map.weights;
  picture.hidden = Tensor(DType::b8, map.visible.shape());
  const auto visible = map.visible.values<double>();
  const auto hidden = picture.hidden.values<bool>();
  for (std::size_t n = 0; n < visible.size(); ++n) hidden[n] = visible[n] == 0;
  picture.row_axis = "query";
  picture.column_axis = "key";
  picture.row_places = Tq;
  picture.column_places = Tk;
  picture.value_name = findings.request.reduce == Reduce::mean ? "mean weight" : "largest weight";
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
  picture.value_name = name_of(request.stage);
  if (request.stage >= Stage::weights) {
    picture.scale = scale;
  } else {
    picture.colours = ColourMap::diverging;
  }
  return picture;
}

}  // namespace

Panel picture_of(const ProbeFindings& findings, const std::string& mask, ColourScale scale) {
  const bool scores = !findings.request.map && findings.request.stage < Stage::weights;
  const bool unmasked = scores && findings.request.stage < Stage::masked;
  Panel panel{
      .title = fmt::format("Attention {}: {}", scores ? "scores" : "weights", unmasked ? "before the mask" : mask),
      .heatmaps = {}};
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
