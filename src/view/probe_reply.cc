// A probe's reply as arrays and as JSON.
#include <nlohmann/json.hpp>
#include <utility>

#include "qkv/view/probe.h"
#include "view/applied_options.h"
#include "view/json_of.h"
#include "view/statistics_columns.h"

namespace qkv {
namespace {

using view_detail::Json;
using view_detail::statistics_columns;

void add_map(std::vector<NamedTensor>& arrays, const ProbeMap& map) {
  arrays.push_back({"map", map.cells});
  arrays.push_back({"map_visible", map.visible});
}

std::vector<NamedTensor> arrays_of(const ProbeHead& head) {
  std::vector<NamedTensor> arrays;
  if (head.map) add_map(arrays, *head.map);
  if (head.row) arrays.push_back({"row", *head.row});
  if (head.tile) arrays.push_back({"tile", *head.tile});
  if (head.top) {
    arrays.push_back({"top_keys", head.top->keys});
    arrays.push_back({"top_weights", head.top->weights});
  }
  if (head.key_totals) arrays.push_back({"key_totals", *head.key_totals});
  if (!head.statistics) return arrays;
  for (const auto& [name, column] : statistics_columns()) arrays.push_back({name, (*head.statistics).*column});
  return arrays;
}

// The same array of each head, one after the other.
Tensor stacked(const std::vector<std::vector<NamedTensor>>& heads, std::size_t array) {
  const Tensor& first = heads.front()[array].tensor;
  std::vector<double> values;
  for (const auto& head : heads) {
    const std::vector<double> part = head[array].tensor.to_vector();
    values.insert(values.end(), part.begin(), part.end());
  }
  return Tensor(values, first.shape().inserted(0, static_cast<std::int64_t>(heads.size()))).to(first.dtype());
}

}  // namespace

std::vector<NamedTensor> arrays_of(const ProbeReply& reply) {
  std::vector<std::vector<NamedTensor>> heads;
  heads.reserve(reply.heads.size());
  for (const ProbeHead& head : reply.heads) heads.push_back(arrays_of(head));
  std::vector<NamedTensor> arrays;
  if (reply.average) add_map(arrays, *reply.average);
  for (std::size_t n = 0; n < heads.front().size(); ++n) {
    NamedTensor& only = heads.front()[n];
    arrays.push_back({only.name, heads.size() == 1 ? std::move(only.tensor) : stacked(heads, n)});
  }
  return arrays;
}

std::string as_json(const ProbeInputs& inputs, const ProbeReply& reply) {
  const auto [B, H, Tq, Tk] = reply.shape;
  Json json{{"B", B}, {"Hq", H}, {"Tq", Tq}, {"Tk", Tk}, {"batch", reply.b}, {"heads", Json::array()}};
  for (const ProbeHead& head : reply.heads) json["heads"].push_back(head.h);
  if (!inputs.source.empty()) {
    json.update(Json{{"model", inputs.source}, {"queries", inputs.queries}, {"keys", inputs.keys}});
  }
  json.update(view_detail::applied_as_json(inputs.problem));
  json["stage"] = reply.choice.stage.name();
  if (const auto& area = reply.choice.area) {
    json["area"] = {area->i_begin, area->i_end, area->j_begin, area->j_end};
  }
  if (reply.choice.stats) {
    json["means"] = Json::array();
    for (const ProbeHead& head : reply.heads) {
      Json means;
      for (const auto& [name, column] : statistics_columns()) {
        means[name] = head.statistics->mean((*head.statistics).*column);
      }
      json["means"].push_back(std::move(means));
    }
  }
  for (const auto& [name, tensor] : arrays_of(reply)) json["arrays"][name] = view_detail::json_of(tensor);
  return view_detail::text_of(json);
}

}  // namespace qkv
