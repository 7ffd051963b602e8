// An explanation for programs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "explain/numbers.h"
#include "qkv/explain.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostElements = 65536;

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

Json nested(const std::vector<double>& values, const Shape& shape, int axis, std::size_t& next) {
  Json list = Json::array();
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    list.push_back(axis + 1 == shape.rank() ? number(values[next++]) : nested(values, shape, axis + 1, next));
  }
  return list;
}

Json tensor_json(const TensorView& tensor) {
  Json json;
  json["shape"] = std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end());
  if (tensor.size() > kMostElements) return json;
  std::size_t next = 0;
  const std::vector<double> values = tensor.to_vector();
  json["values"] = nested(values, tensor.shape(), 0, next);
  return json;
}

Json heatmap_json(const NamedHeatmap& named) {
  const Heatmap& heatmap = named.heatmap;
  Json json;
  json["id"] = named.id;
  json["title"] = heatmap.title;
  json["rows"] = heatmap.row_labels;
  json["columns"] = heatmap.column_labels;
  json["row_axis"] = heatmap.row_axis;
  json["column_axis"] = heatmap.column_axis;
  json["value_name"] = heatmap.value_name;
  json["colours"] = heatmap.colours == ColourMap::sequential ? "sequential" : "diverging";
  json.update(tensor_json(heatmap.values));
  if (!heatmap.hidden.empty()) {
    Json hidden = Json::array();
    for (std::int64_t i = 0; i < heatmap.hidden.dim(0); ++i) {
      Json row = Json::array();
      for (std::int64_t j = 0; j < heatmap.hidden.dim(1); ++j) row.push_back(heatmap.hidden.at({i, j}) != 0);
      hidden.push_back(std::move(row));
    }
    json["hidden"] = std::move(hidden);
  }
  return json;
}

Json table_json(const Table& table) {
  Json json;
  json["title"] = table.title;
  json["columns"] = table.columns;
  json["rows"] = Json::array();
  for (const std::vector<Cell>& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(cell.number ? number(*cell.number) : Json(cell.text));
    json["rows"].push_back(std::move(cells));
  }
  return json;
}

Json chart_json(const NamedChart& named) {
  Json json;
  json["id"] = named.id;
  json["title"] = named.chart.title;
  json["x_axis"] = named.chart.x.name;
  json["y_axis"] = named.chart.y.name;
  json["series"] = Json::array();
  for (const Series& series : named.chart.series) {
    json["series"].push_back({{"name", series.name}, {"x", series.x}, {"y", series.y}});
  }
  return json;
}

Json section_json(const Section& section) {
  Json json;
  if (section.number > 0) json["number"] = section.number;
  json["id"] = section.id;
  json["title"] = section.title;
  json["text"] = section.text;
  if (!section.finding.empty()) json["finding"] = section.finding;
  json["formulas"] = Json::array();
  for (const Formula& formula : section.formulas) {
    json["formulas"].push_back({{"text", formula.text}, {"mathml", formula.mathml}});
  }
  if (!section.shape.empty()) json["shape"] = section.shape;
  for (const char* key : {"heatmaps", "tables", "charts"}) json[key] = Json::array();
  for (const NamedHeatmap& heatmap : section.heatmaps) json["heatmaps"].push_back(heatmap_json(heatmap));
  for (const Table& table : section.tables) json["tables"].push_back(table_json(table));
  for (const NamedChart& chart : section.charts) json["charts"].push_back(chart_json(chart));
  json["notes"] = section.notes;
  return json;
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  Json json;
  json["title"] = explanation.title;
  json["tokens"] = explanation.tokens;
  json["keys"] = explanation.keys;
  json["settings"] = Json::object();
  for (const Setting& setting : explanation.settings) json["settings"][setting.name] = setting.value;
  json["steps"] = Json::array();
  for (const Section& step : explanation.steps) json["steps"].push_back(section_json(step));
  if (explanation.query) json["query"] = section_json(*explanation.query);
  json["whys"] = Json::array();
  for (const Section& why : explanation.whys) json["whys"].push_back(section_json(why));
  json["notes"] = explanation.notes;
  json["tensors"] = Json::object();
  for (const KeptTensor& named : explanation.tensors) json["tensors"][named.name] = tensor_json(named.tensor);
  return json.dump() + "\n";
}

}  // namespace qkv
