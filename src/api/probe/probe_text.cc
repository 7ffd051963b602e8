// A probe's reply as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "api/probe/probe_parts.h"
#include "api/probe/statistics_columns.h"
#include "api/replies/lines.h"
#include "qkv/api/probe.h"

namespace qkv {
namespace {

using api_detail::named_lines;
using api_detail::prose;
using api_detail::statistics_columns;

constexpr std::int64_t kMostLines = 16;
constexpr int kKeyColumn = 12;

std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

std::string map_lines(const ProbeMap& map, const std::string& whose, const ProbeChoice& choice, int width) {
  const std::vector<double> cells = map.cells.to_vector();
  const std::vector<double> visible = map.visible.to_vector();
  const std::int64_t largest = std::ranges::max_element(cells) - cells.begin();
  const std::int64_t columns = map.cells.dim(1);
  const auto blank = std::ranges::count(visible, 0.0);
  const double share = std::accumulate(visible.begin(), visible.end(), 0.0) / static_cast<double>(visible.size());
  std::string whose_part = whose;
  if (choice.area) {
    const auto [i_begin, i_end, j_begin, j_end] = *choice.area;
    whose_part += fmt::format(", queries {}:{}, keys {}:{}", i_begin, i_end, j_begin, j_end);
  }
  const std::string text = fmt::format(
      "{}: {} x {} cells, {} {} of each; largest {} in cell ({}, {}), {} without a visible pair, {:.2f} % visible",
      whose_part, map.cells.dim(0), columns, choice.reduce == Reduce::mean ? "mean" : "largest",
      choice.stage.map_value(), four_digits(cells[static_cast<std::size_t>(largest)]), largest / columns,
      largest % columns, blank, 100 * share);
  return named_lines("map", text, width);
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
std::string largest_lines(const std::vector<double>& values, const std::vector<double>& sizes, std::string_view what,
                          const std::vector<std::string>& keys) {
  std::string text = fmt::format("{:>10}  {}\n", "key", what);
  const auto places = largest_places(sizes);
  for (const std::int64_t j : places) {
    const auto at = static_cast<std::size_t>(j);
    text += keys.empty() ? fmt::format("{:>10}  {}\n", j, four_digits(values[at]))
                         : fmt::format("{:>10}  {:<10}  {}\n", j, four_digits(values[at]), keys[at]);
  }
  if (static_cast<std::int64_t>(values.size()) > kMostLines) {
    text += fmt::format("the {} largest of {}\n", places.size(), values.size());
  }
  return text;
}

std::string row_lines(const Tensor& row, const ProbeStage& stage, const std::vector<std::string>& keys) {
  const std::vector<double> values = row.to_vector();
  std::vector<double> sizes = values;
  if (stage.gradient) {
    for (double& size : sizes) size = size == 0 ? -HUGE_VAL : std::fabs(size);  // 0: nothing is said of it
  }
  return largest_lines(values, sizes, stage.name(), keys);
}

std::string top_lines(const TopKeys& top, std::int64_t h, const ProbeInputs& inputs, int width) {
  const std::int64_t Tq = top.keys.dim(0);
  const std::int64_t lines = std::min(Tq, kMostLines);
  std::string text = fmt::format("\nhead {}: the keys of largest weight\n{:>10}  key: weight\n", h, "query");
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t i = lines < 2 ? 0 : line * (Tq - 1) / (lines - 1);
    std::string keys;
    for (std::int64_t n = 0; n < top.keys.dim(1) && top.weights.at({i, n}) != 0; ++n) {
      const auto j = static_cast<std::int64_t>(top.keys.at({i, n}));
      const std::string token = inputs.keys.empty() ? "" : " " + inputs.keys[static_cast<std::size_t>(j)];
      keys += fmt::format("{}{}{}: {}", n > 0 ? "  " : "", j, token, four_digits(top.weights.at({i, n})));
    }
    text += prose(keys, width, kKeyColumn).replace(0, kKeyColumn, fmt::format("{:>10}  ", i));
  }
  if (lines < Tq) text += fmt::format("{} of {} queries; --npz and --json have all\n", lines, Tq);
  return text;
}

std::string statistics_table(const ProbeReply& reply, int width) {
  std::string text = fmt::format(
      "\nmeans over the queries that see something\n{:>4} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "head",
      "visible", "mass", "entropy", "of most", "distance", "largest", "first", "diagonal");
  for (const ProbeHead& head : reply.heads) {
    const RowStatistics& rows = *head.statistics;
    text += fmt::format("{:>4}", head.h);
    for (const auto& [name, column] : statistics_columns()) {
      text += fmt::format(" {:>8}", fmt::format("{:.3g}", rows.mean(rows.*column)));
    }
    text += '\n';
  }
  return text +
         prose("entropy in nats, and as a share of the most it could be, log of the keys seen; distance in tokens",
               width);
}

// A tile that can be read; what is larger is drawn.
std::string tile_lines(const ProbeHead& head, const ProbeChoice& choice, int width) {
  const Tile& tile = *choice.tile;
  std::string text = fmt::format("\nhead {}: {} of queries {} to {} and keys {} to {}\n", head.h, choice.stage.name(),
                                 tile.i_begin, tile.i_end - 1, tile.j_begin, tile.j_end - 1);
  if (head.tile->dim(0) > kMostLines || head.tile->dim(1) > kMostLines) return text;
  return text + api_detail::matrix_lines(*head.tile, head.hidden, tile.i_begin, tile.j_begin, width);
}

std::string head_lines(const ProbeHead& head, const ProbeChoice& choice, const ProbeInputs& inputs, int width) {
  std::string text;
  if (head.row) {
    const std::string token =
        inputs.queries.empty() ? "" : ", " + inputs.queries[static_cast<std::size_t>(*choice.row)];
    text += fmt::format("\nhead {}, query {}{}\n", head.h, *choice.row, token) +
            row_lines(*head.row, choice.stage, inputs.keys);
  }
  if (head.tile) text += tile_lines(head, choice, width);
  if (head.top) text += top_lines(*head.top, head.h, inputs, width);
  if (!head.key_totals) return text;
  const std::vector<double> totals = head.key_totals->to_vector();
  return text + fmt::format("\nhead {}: weight on each key, summed over queries\n", head.h) +
         largest_lines(totals, totals, "total", inputs.keys);
}

std::string input_lines(const ProbeRequest& request, const ProbeInputs& inputs, int width) {
  std::string text;
  if (!inputs.model.empty()) text += named_lines("model", inputs.model, width);
  if (!inputs.text.empty()) text += named_lines("text", inputs.text, width);
  const auto add = [&](std::string_view name, const Tensor& tensor, const std::string& source) {
    if (tensor.empty()) return;
    const bool drawn = (source.empty() && inputs.model.empty() && inputs.text.empty()) || source == kDrawn;
    text += named_lines(name,
                        fmt::format("{} {}{}", tensor.shape().to_string(), name_of(tensor.dtype()),
                                    drawn            ? ", drawn at random"
                                    : source.empty() ? ""
                                                     : "  " + source),
                        width);
  };
  add("q", inputs.problem.q, request.q);
  add("k", inputs.problem.k, request.k);
  add("v", inputs.problem.v, request.v);
  add("d_out", inputs.upstream.d_out, request.d_out);
  add("d_lse", inputs.upstream.d_lse, request.d_lse);
  const std::string lse = request.lse.empty() ? "computed" : request.lse;
  return text + named_lines("lse", inputs.model.empty() ? lse : "as it ran", width);
}

}  // namespace

std::string as_text(const ProbeRequest& request, const ProbeInputs& inputs, const ProbeReply& reply, int width) {
  const ProbeChoice& choice = reply.choice;
  std::string text = input_lines(request, inputs, width) + applied_as_text(inputs.problem, width);
  if (reply.average) {
    text += map_lines(*reply.average, api_detail::mean_title(reply), choice, width);
  }
  for (const ProbeHead& head : reply.heads) {
    if (head.map) text += map_lines(*head.map, fmt::format("head {}", head.h), choice, width);
  }
  for (const ProbeHead& head : reply.heads) text += head_lines(head, choice, inputs, width);
  if (choice.stats) text += statistics_table(reply, width);
  return text;
}

}  // namespace qkv
