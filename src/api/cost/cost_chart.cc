#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/fields/refuse.h"
#include "qkv/api/cost.h"

namespace qkv {
namespace {

using api_detail::refuse;

struct Line {
  const char* key;
  const char* name;
};

struct Subject {
  std::string name;
  const char* title;
  const char* axis;
  Unit unit;
  std::vector<Line> lines;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> kSubjects = {
      {"memory",
       "bytes kept",
       "bytes",
       Unit::bytes,
       {{"activations.standard", "activations, standard"},
        {"scores.all_layers", "attention weights alone"},
        {"activations.tiled", "activations, tiled"},
        {"scores.lse", "lse alone, tiled"},
        {"kv_cache.total", "KV cache"},
        {"weights.bytes", "parameters"}}},
      {"flops",
       "FLOPs of a forward pass",
       "FLOP",
       Unit::count,
       {{"flops.forward", "all"},
        {"flops.model.core", "attention's core, standard"},
        {"flops.tiled.core.forward", "attention's core, tiled"},
        {"flops.model.ffn", "feed-forward"}}},
      {"traffic",
       "memory traffic of one attention's core",
       "bytes",
       Unit::bytes,
       {{"traffic.standard.forward", "standard, forward"},
        {"traffic.standard.backward", "standard, backward"},
        {"traffic.tiled.forward", "tiled, forward"},
        {"traffic.tiled.backward", "tiled, backward"}}},
  };
  return kSubjects;
}

const Subject& subject_named(const std::string& name) {
  const auto found =
      std::find_if(subjects().begin(), subjects().end(), [&](const auto& one) { return one.name == name; });
  if (found != subjects().end()) return *found;
  refuse("of", "memory, flops or traffic", "\"" + name + "\"");
}

std::vector<std::int64_t> lengths(const CostRange& range) {
  if (range.from < 1) refuse("from", "at least 1", std::to_string(range.from));
  if (range.to <= range.from) {
    refuse("to", fmt::format("more than `from`, {}", range.from), std::to_string(range.to));
  }
  std::vector<std::int64_t> tokens;
  for (std::int64_t length = range.from; length < range.to; length *= 2) tokens.push_back(length);
  tokens.push_back(range.to);
  return tokens;
}

}  // namespace

const Fields<CostRange>& cost_range_fields() {
  static const Fields<CostRange> kFields = [] {
    constexpr std::int64_t kLongest = 1'000'000'000;
    constexpr const char* kGroup = "A chart over the sequence length";
    Fields<CostRange> fields;
    fields
        .add(&CostRange::of, {.name = "of",
                              .form = "WHAT",
                              .meaning = "memory, flops or traffic",
                              .group = kGroup,
                              .words = {"memory", "flops", "traffic"}})
        .add(&CostRange::from, {.name = "from",
                                .form = "N",
                                .meaning = "Shortest sequence",
                                .group = kGroup,
                                .least = 1,
                                .most = kLongest,
                                .python = "first"})
        .add(&CostRange::to,
             {.name = "to", .form = "N", .meaning = "Longest sequence", .group = kGroup, .least = 2, .most = kLongest});
    return fields;
  }();
  return kFields;
}

Chart cost_chart(const CostConfig& config, const CostRange& range) {
  const Subject& subject = subject_named(range.of);
  Chart chart;
  chart.title = fmt::format("{}: {}, {}", config.name, subject.title, name_of(config.dtype));
  chart.x = logarithmic_axis("tokens", Unit::tokens);
  chart.y = logarithmic_axis(subject.axis, subject.unit);
  for (const Line& line : subject.lines) chart.series.push_back({line.name, {}, {}});
  CostConfig at_length = config;
  for (const std::int64_t tokens : lengths(range)) {
    at_length.tokens = tokens;
    const CostReport report = cost(at_length);
    for (std::size_t i = 0; i < subject.lines.size(); ++i) {
      chart.series[i].x.push_back(static_cast<double>(tokens));
      chart.series[i].y.push_back(report.item(subject.lines[i].key).value.to_double());
    }
  }
  return chart;
}

namespace {

bool costs_the_same(const CostConfig& a, const CostConfig& b) {
  const auto groups = [](const CostConfig& config) {
    std::vector<Count> values;
    for (const CostGroup& group : cost(config).groups) {
      for (const CostItem& item : group.items) values.push_back(item.value);
    }
    return values;
  };
  return groups(a) == groups(b);
}

bool is_drawn_the_same(const Chart& a, const Chart& b) {
  const auto has_same_values = [](const Series& one, const Series& other) { return one.y == other.y; };
  return a.title == b.title && std::ranges::equal(a.series, b.series, has_same_values);
}

// Whether the request with these values alone has the same chart, but is another model. What is no model without the
// field that was left out needs that field.
bool is_drawn_without(const NamedValues& less, const CostConfig& config, const Chart& chart) {
  try {
    const CostRequest without = cost_fields().from_values(field_values(cost_fields().infos(), less));
    const CostConfig plain = cost_config(without);
    return !costs_the_same(plain, config) && is_drawn_the_same(cost_chart(plain, without.range), chart);
  } catch (const InvalidArgument&) {
    return false;
  }
}

}  // namespace

void require_changed_chart(const CostRequest& request) {
  const CostConfig config = cost_config(request);
  const Chart chart = cost_chart(config, request.range);
  const NamedValues given = cost_fields().as_values(request);
  for (const auto& [name, value] : given) {
    const bool describes = request.preset.empty() && (name == "layers" || name == "d_model" || name == "heads");
    if (describes || name == "preset") continue;
    NamedValues less = given;
    less.erase(name);
    if (!is_drawn_without(less, config, chart)) continue;
    refuse(name, fmt::format("it without `plot` (the chart of {} does not change by it)", request.range.of), "both");
  }
}

}  // namespace qkv
