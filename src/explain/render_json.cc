// An explanation for programs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "explain/numbers.h"
#include "qkv/explain.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

// A cell's or setting's own type: 4, 0.25, or its words.
Json typed(const std::string& text) {
  const Json value = Json::parse(text, nullptr, false);
  return value.is_number() ? value : Json(text);
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
  std::size_t next = 0;
  const std::vector<double> values = tensor.to_vector();
  json["values"] = nested(values, tensor.shape(), 0, next);
  return json;
}

// A matrix of long texts has millions of elements: they are written one by one, for as values they would take sixteen
// bytes each beside their text.
void write_values(std::string& text, const std::vector<double>& values, const Shape& shape, int axis,
                  std::size_t& next) {
  text += '[';
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    if (i > 0) text += ',';
    if (axis + 1 < shape.rank()) {
      write_values(text, values, shape, axis + 1, next);
    } else {
      text += number(values[next++]).dump();
    }
  }
  text += ']';
}

std::string tensors_text(const std::vector<KeptTensor>& tensors) {
  std::string text;
  for (const KeptTensor& named : tensors) {
    const Shape& shape = named.tensor.shape();
    const Json extents = std::vector<std::int64_t>(shape.begin(), shape.end());
    text += (text.empty() ? "" : ",") + Json(named.name).dump() + ":{\"shape\":" + extents.dump() + ",\"values\":";
    std::size_t next = 0;
    write_values(text, named.tensor.to_vector(), shape, 0, next);
    text += '}';
  }
  return "{" + text + "}";
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
  if (named.whole.size() > 0) json["whole"] = tensor_json(named.whole);
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

// A count is a whole number, however it is kept.
Json cell_json(const Cell& cell) {
  if (!cell.number) return cell.text;
  const Json shown = typed(cell.text);
  return shown.is_number_integer() && shown.get<double>() == *cell.number ? shown : number(*cell.number);
}

Json table_json(const Table& table) {
  Json json;
  json["title"] = table.title;
  json["columns"] = table.columns;
  json["rows"] = Json::array();
  for (const std::vector<Cell>& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(cell_json(cell));
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

// The pixels of an image that lies under weights stand in another section.
Json image_json(const Image& image) {
  Json json;
  json["title"] = image.title;
  if (image.weights.empty()) json["pixels"] = tensor_json(image.pixels);
  if (!image.weights.empty()) json["weights"] = tensor_json(image.weights);
  if (!image.marked.empty()) json["marked"] = tensor_json(image.marked);
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
  if (!section.images.empty()) json["images"] = Json::array();
  for (const Image& image : section.images) json["images"].push_back(image_json(image));
  for (const NamedChart& chart : section.charts) json["charts"].push_back(chart_json(chart));
  for (const auto& [id, diagram] : section.diagrams) {
    json["diagrams"].push_back({{"id", id}, {"title", diagram.title}, {"text", diagram.text}});
  }
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
  for (const Setting& setting : explanation.settings) json["settings"][setting.name] = typed(setting.value);
  json["steps"] = Json::array();
  for (const Section& step : explanation.steps) json["steps"].push_back(section_json(step));
  if (explanation.query) json["query"] = section_json(*explanation.query);
  json["whys"] = Json::array();
  for (const Section& why : explanation.whys) json["whys"].push_back(section_json(why));
  json["notes"] = explanation.notes;
  std::string text = json.dump();
  text.pop_back();  // the brace that closes
  return text + ",\"tensors\":" + tensors_text(explanation.tensors) + "}\n";
}

}  // namespace qkv
