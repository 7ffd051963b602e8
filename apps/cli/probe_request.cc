#include "probe_request.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "misuse.h"
#include "problem_options.h"
#include "qkv/files.h"
#include "qkv/random.h"

namespace qkv::cli {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

MapSize map_size_of(const std::string& text) {
  const std::size_t cross = text.find('x');
  const auto rows = whole_number(std::string_view(text).substr(0, cross));
  const auto columns = cross == std::string::npos ? rows : whole_number(std::string_view(text).substr(cross + 1));
  if (!rows || !columns || *rows < 1 || *columns < 1) misuse("--map", "N or ROWSxCOLUMNS, each 1 or more", text);
  return {*rows, *columns};
}

std::pair<std::int64_t, std::int64_t> range_of(std::string_view text, const std::string& whole) {
  const std::size_t colon = text.find(':');
  const auto begin = whole_number(text.substr(0, colon));
  const auto end = colon == std::string_view::npos ? std::nullopt : whole_number(text.substr(colon + 1));
  if (!begin || !end || *begin >= *end) misuse("--tile", "I0:I1,J0:J1, queries and keys from I0 and J0 on", whole);
  return {*begin, *end};
}

Tile tile_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) misuse("--tile", "I0:I1,J0:J1, queries and keys from I0 and J0 on", text);
  const auto [i_begin, i_end] = range_of(std::string_view(text).substr(0, comma), text);
  const auto [j_begin, j_end] = range_of(std::string_view(text).substr(comma + 1), text);
  return {.i_begin = i_begin, .i_end = i_end, .j_begin = j_begin, .j_end = j_end};
}

}  // namespace

std::string ProbeStage::name() const {
  if (!gradient) return std::string(name_of(stage));
  return stage == Stage::weights ? "dP" : "dS";
}

std::string ProbeStage::map_value() const { return gradient ? "|" + name() + "|" : "weight"; }

bool ProbeRequest::wants_nothing() const { return !map && !row && !tile && !top_k && !key_totals && !stats; }

int ProbeRequest::arrays() const {
  constexpr int kTopKeysArrays = 2;
  constexpr int kStatisticsArrays = 8;
  return (map ? 1 : 0) + (row ? 1 : 0) + (tile ? 1 : 0) + (top_k ? kTopKeysArrays : 0) + (key_totals ? 1 : 0) +
         (stats ? kStatisticsArrays : 0);
}

namespace {

ProbeStage probe_stage_of(const std::string& name) {
  if (name == "dp") return {.stage = Stage::weights, .gradient = true};
  if (name == "ds") return {.stage = Stage::biased, .gradient = true};
  return {.stage = stage_of(name, ", dp, ds")};
}

void check_stage(const ProbeFlags& flags, const ProbeRequest& request) {
  const bool shown = request.row || request.tile;
  if (request.stage.gradient) {
    if (!shown && !request.map) misuse("--stage", "--map, --row or --tile, which show dp and ds", "none");
    const bool named = !flags.problem.v.empty() && !flags.problem.d_out.empty();
    if (!named && flags.random.empty()) {
      misuse("--v, --d-out", "both for --stage dp and ds, or --random", "neither, or one");
    }
    return;
  }
  if (request.stage.stage != Stage::weights && !shown) {
    misuse("--stage", "--row or --tile, whose stage it is (all else is made of weights)", "neither");
  }
  for (const auto& [option, text] : {std::pair("--v", &flags.problem.v), std::pair("--d-out", &flags.problem.d_out),
                                     std::pair("--d-lse", &flags.problem.d_lse)}) {
    if (!text->empty()) misuse("--stage", std::string("dp or ds beside ") + option, flags.stage);
  }
}

}  // namespace

ProbeRequest request_of(const ProbeFlags& flags) {
  ProbeRequest request;
  request.reduce = flags.reduce == "max" ? Reduce::max : Reduce::mean;
  request.average = flags.average;
  request.row = flags.row;
  request.top_k = flags.top_k;
  request.key_totals = flags.key_totals;
  request.stats = flags.stats;
  request.stage = probe_stage_of(flags.stage);
  if (!flags.map.empty()) request.map = map_size_of(flags.map);
  if (!flags.tile.empty()) request.tile = tile_of(flags.tile);
  check_stage(flags, request);
  if (flags.wants_pictures() && !request.map && !request.tile) {
    misuse("--png, --svg, --pdf, --terminal", "--map or --tile, which they draw", "neither");
  }
  if (!flags.npy.empty() && request.arrays() != 1) {
    misuse("--npy", "one array; --npz takes several", std::to_string(request.arrays()));
  }
  return request;
}

void fit(ProbeRequest& request, const MaskShape& shape) {
  if (request.wants_nothing()) {
    misuse("--map", "something to show (--map, --row, --tile, --top-k, --key-totals, --stats)", "none");
  }
  const auto check = [](const std::string& option, bool fits, const std::string& limit, std::int64_t got) {
    if (!fits) misuse(option, limit, std::to_string(got));
  };
  if (request.map) {
    if (shape.Tq == 0 || shape.Tk == 0) misuse("--map", "a matrix with pairs", "one without");
    request.map = MapSize{std::min(request.map->rows, shape.Tq), std::min(request.map->columns, shape.Tk)};
  }
  const auto queries = [&] { return "no more than the " + std::to_string(shape.Tq) + " queries"; };
  const auto keys = [&] { return "no more than the " + std::to_string(shape.Tk) + " keys"; };
  if (request.row) {
    check("--row", *request.row >= 0 && *request.row < shape.Tq, "0 to " + std::to_string(shape.Tq - 1), *request.row);
  }
  if (request.tile) {
    check("--tile", request.tile->i_end <= shape.Tq, queries(), request.tile->i_end);
    check("--tile", request.tile->j_end <= shape.Tk, keys(), request.tile->j_end);
  }
  if (request.top_k) {
    check("--top-k", *request.top_k >= 1 && *request.top_k <= shape.Tk, "1 or more, and " + keys(), *request.top_k);
  }
}

std::vector<std::int64_t> heads_of(const std::string& text, std::int64_t count) {
  if (text == "all") {
    std::vector<std::int64_t> heads(static_cast<std::size_t>(count));
    std::iota(heads.begin(), heads.end(), 0);
    return heads;
  }
  const std::vector<std::int64_t> heads = whole_numbers("--head", text, ", or all");
  for (std::size_t n = 0; n < heads.size(); ++n) {
    const std::int64_t h = heads[n];
    if (h >= count) misuse("--head", "heads from 0 to " + std::to_string(count - 1), std::to_string(h));
    const bool twice = std::find(heads.begin(), heads.begin() + static_cast<std::ptrdiff_t>(n), h) !=
                       heads.begin() + static_cast<std::ptrdiff_t>(n);
    if (twice) misuse("--head", "each head once", std::to_string(h) + " twice");
  }
  return heads;
}

AttendFlags files_of(const ProbeFlags& flags) {
  AttendFlags files = flags.problem;
  if (files.d_out == kDrawn) files.d_out.clear();
  return files;
}

ProbeInputs load_probe_inputs(const ProbeFlags& flags, const ProbeRequest& request) {
  Generator generator(flags.problem.seed.empty() ? 0 : seed_of(flags.problem.seed));
  ProbeInputs inputs;
  AttendProblem& problem = inputs.problem;
  if (flags.random.empty()) {
    problem = load_problem(flags.problem);
  } else {
    const std::vector<std::int64_t> extents = whole_numbers("--random", flags.random);
    if (extents.size() != 6) misuse("--random", "six numbers B,Hq,Hk,Tq,Tk,D", flags.random);
    const auto at = [&](std::size_t n) { return extents[n]; };
    problem.q = generator.randn({at(0), at(1), at(3), at(5)});
    problem.k = generator.randn({at(0), at(2), at(4), at(5)});
    if (request.stage.gradient) problem.v = generator.randn(problem.k.shape());
    problem.options = load_options(flags.problem, problem.q, problem.k);
  }
  if (!request.stage.gradient) return inputs;
  inputs.upstream = load_upstream(files_of(flags), problem);
  if (inputs.upstream.d_out.empty()) {
    const Shape shape = problem.q.shape().without(3).inserted(3, problem.v.dim(3));
    const DType dtype = problem.q.dtype();
    inputs.upstream.d_out = generator.randn(shape, dtype == DType::f64 ? dtype : DType::f32).to(dtype);
  }
  return inputs;
}

}  // namespace qkv::cli
