#include "probe_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostLines = 16;

const std::vector<std::pair<const char*, Tensor RowStatistics::*>>& columns() {
  static const std::vector<std::pair<const char*, Tensor RowStatistics::*>> kColumns = {
      {"visible", &RowStatistics::visible},   {"mass", &RowStatistics::mass},
      {"entropy", &RowStatistics::entropy},   {"normalised_entropy", &RowStatistics::normalised_entropy},
      {"distance", &RowStatistics::distance}, {"largest", &RowStatistics::largest},
      {"first", &RowStatistics::first},       {"diagonal", &RowStatistics::diagonal}};
  return kColumns;
}

void add_map(std::vector<NamedTensor>& arrays, const MapFindings& map) {
  arrays.push_back({"map", map.cells});
  arrays.push_back({"map_visible", map.visible});
}

std::vector<NamedTensor> arrays_of(const HeadFindings& head) {
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
  for (const auto& [name, column] : columns()) arrays.push_back({name, (*head.statistics).*column});
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

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string map_line(const MapFindings& map, const std::string& whose, const ProbeRequest& request) {
  const std::vector<double> cells = map.cells.to_vector();
  const std::vector<double> visible = map.visible.to_vector();
  const std::int64_t largest = std::ranges::max_element(cells) - cells.begin();
  const std::int64_t columns = map.cells.dim(1);
  const auto blank = std::ranges::count(visible, 0.0);
  const double share = std::accumulate(visible.begin(), visible.end(), 0.0) / static_cast<double>(visible.size());
  return fmt::format(
      "map       {}: {} x {} cells, {} {} of each; largest {} in cell ({}, {}), {} without a visible pair, {:.2f} % "
      "visible\n",
      whose, map.cells.dim(0), map.cells.dim(1), request.reduce == Reduce::mean ? "mean" : "largest",
      request.stage.map_value(), number(cells[static_cast<std::size_t>(largest)]), largest / columns, largest % columns,
      blank, 100 * share);
}

// The places of the largest numbers, largest first.
std::vector<std::int64_t> largest_places(const std::vector<double>& values) {
  std::vector<std::int64_t> places(values.size());
  std::iota(places.begin(), places.end(), 0);
  std::erase_if(places, [&](std::int64_t place) { return values[static_cast<std::size_t>(place)] == -HUGE_VAL; });
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const double left = values[static_cast<std::size_t>(a)];
    const double right = values[static_cast<std::size_t>(b)];
    if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && (!std::isnan(right) || a < b);
    return left > right || (left == right && a < b);
  };
  const auto shown = std::min<std::size_t>(static_cast<std::size_t>(kMostLines), places.size());
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(shown), before);
  places.resize(shown);
  return places;
}

// By `sizes`, which are the values or how large these are.
std::string largest_lines(const std::vector<double>& values, const std::vector<double>& sizes, std::string_view what) {
  std::string text = fmt::format("{:>10}  {}\n", "key", what);
  const auto places = largest_places(sizes);
  for (const std::int64_t j : places) {
    text += fmt::format("{:>10}  {}\n", j, number(values[static_cast<std::size_t>(j)]));
  }
  if (static_cast<std::int64_t>(values.size()) > kMostLines) {
    text += fmt::format("the {} largest of {}\n", places.size(), values.size());
  }
  return text;
}

std::string row_lines(const Tensor& row, const ProbeStage& stage) {
  const std::vector<double> values = row.to_vector();
  std::vector<double> sizes = values;
  if (stage.gradient) {
    for (double& size : sizes) size = size == 0 ? -HUGE_VAL : std::fabs(size);  // 0: nothing is said of it
  }
  return largest_lines(values, sizes, stage.name());
}

std::string top_lines(const TopKeys& top, std::int64_t h) {
  const std::int64_t Tq = top.keys.dim(0);
  const std::int64_t lines = std::min(Tq, kMostLines);
  std::string text = fmt::format("\nhead {}: the keys of largest weight\n{:>10}  key: weight\n", h, "query");
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t i = lines < 2 ? 0 : line * (Tq - 1) / (lines - 1);
    text += fmt::format("{:>10}", i);
    for (std::int64_t n = 0; n < top.keys.dim(1); ++n) {
      const double weight = top.weights.at({i, n});
      if (weight == 0) break;
      text += fmt::format("  {}: {}", static_cast<std::int64_t>(top.keys.at({i, n})), number(weight));
    }
    text += '\n';
  }
  if (lines < Tq) text += fmt::format("{} of {} queries; --npz and --json have all\n", lines, Tq);
  return text;
}

std::string statistics_table(const ProbeFindings& findings) {
  std::string text = fmt::format(
      "\nmeans over the queries that see something\n{:>6} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
      "head", "visible", "mass", "entropy", "of most", "distance", "largest", "first", "diagonal");
  for (const HeadFindings& head : findings.heads) {
    const RowStatistics& rows = *head.statistics;
    text += fmt::format("{:>6}", head.h);
    for (const auto& [name, column] : columns()) {
      text += fmt::format(" {:>{}}", number(rows.mean(rows.*column)), column == &RowStatistics::mass ? 8 : 10);
    }
    text += '\n';
  }
  return text + "entropy in nats, and as a share of the most it could be, log of the keys seen; distance in tokens\n";
}

Json json_of(const Tensor& tensor) {
  Json json{{"dtype", name_of(tensor.dtype())},
            {"shape", std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end())}};
  if (tensor.dtype() == DType::i64) {
    const auto values = tensor.values<std::int64_t>();
    json["values"] = std::vector<std::int64_t>(values.begin(), values.end());
  } else {
    json["values"] = tensor.to_vector();
  }
  return json;
}

}  // namespace

std::vector<NamedTensor> arrays_of(const ProbeFindings& findings) {
  std::vector<std::vector<NamedTensor>> heads;
  heads.reserve(findings.heads.size());
  for (const HeadFindings& head : findings.heads) heads.push_back(arrays_of(head));
  std::vector<NamedTensor> arrays;
  if (findings.average) add_map(arrays, *findings.average);
  for (std::size_t n = 0; n < heads.front().size(); ++n) {
    NamedTensor& only = heads.front()[n];
    arrays.push_back({only.name, heads.size() == 1 ? std::move(only.tensor) : stacked(heads, n)});
  }
  return arrays;
}

std::string as_text(const ProbeFindings& findings) {
  std::string text;
  const ProbeRequest& request = findings.request;
  if (findings.average) {
    text += map_line(*findings.average, fmt::format("mean of {} heads", findings.heads.size()), request);
  }
  for (const HeadFindings& head : findings.heads) {
    if (head.map) text += map_line(*head.map, fmt::format("head {}", head.h), request);
  }
  for (const HeadFindings& head : findings.heads) {
    if (head.row) {
      text += fmt::format("\nhead {}, query {}\n", head.h, *request.row) + row_lines(*head.row, request.stage);
    }
    if (head.top) text += top_lines(*head.top, head.h);
    if (head.key_totals) {
      text += fmt::format("\nhead {}: weight on each key, summed over queries\n", head.h);
      const std::vector<double> totals = head.key_totals->to_vector();
      text += largest_lines(totals, totals, "total");
    }
  }
  if (request.stats) text += statistics_table(findings);
  return text;
}

std::string as_json(const ProbeFindings& findings, const Json& applied) {
  const auto [B, H, Tq, Tk] = findings.shape;
  Json json{{"B", B}, {"Hq", H}, {"Tq", Tq}, {"Tk", Tk}, {"batch", findings.b}, {"heads", Json::array()}};
  for (const HeadFindings& head : findings.heads) json["heads"].push_back(head.h);
  json.update(applied);
  json["stage"] = findings.request.stage.name();
  if (findings.request.stats) {
    json["means"] = Json::array();
    for (const HeadFindings& head : findings.heads) {
      Json means;
      for (const auto& [name, column] : columns()) means[name] = head.statistics->mean((*head.statistics).*column);
      json["means"].push_back(std::move(means));
    }
  }
  for (const auto& [name, tensor] : arrays_of(findings)) json["arrays"][name] = json_of(tensor);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace qkv::cli
