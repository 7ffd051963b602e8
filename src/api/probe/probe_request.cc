#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "api/probe/probe_parts.h"
#include "core/numbered.h"
#include "qkv/api/probe.h"
#include "qkv/random.h"

namespace qkv {
namespace {

using api_detail::refuse;
using api_detail::whole_numbers;

MapSize map_size_of(const std::string& text) {
  const auto [rows, columns] = api_detail::extents("map", text, "N or ROWSxCOLUMNS, each 1 or more");
  return {rows, columns};
}

Tile tile_of(const std::string& text) {
  const auto [i_begin, i_end, j_begin, j_end] = api_detail::rectangle_of("tile", text);
  return {.i_begin = i_begin, .i_end = i_end, .j_begin = j_begin, .j_end = j_end};
}

}  // namespace

std::string ProbeStage::name() const {
  if (!gradient) return std::string(name_of(stage));
  return stage == Stage::weights ? "dP" : "dS";
}

std::string ProbeStage::map_value() const { return gradient ? "|" + name() + "|" : "weight"; }

int ProbeChoice::arrays() const {
  constexpr int kTopKeysArrays = 2;
  constexpr int kStatisticsArrays = 8;
  return (map ? 1 : 0) + (row ? 1 : 0) + (tile ? 1 : 0) + (top_k ? kTopKeysArrays : 0) + (key_totals ? 1 : 0) +
         (stats ? kStatisticsArrays : 0);
}

namespace {

ProbeStage probe_stage_of(const std::string& name) {
  if (name == "dp") return {.stage = Stage::weights, .gradient = true};
  if (name == "ds") return {.stage = Stage::biased, .gradient = true};
  return {.stage = stage_named(name, ", dp, ds")};
}

void check_stage(const ProbeRequest& request, const ProbeChoice& choice) {
  const bool shown = choice.row || choice.tile;
  if (choice.stage.gradient) {
    const bool named = (!request.v.empty() && !request.d_out.empty()) || !request.model.empty();
    if (!named && request.random.empty()) {
      const bool is_one = !request.v.empty() || !request.d_out.empty();
      refuse("stage", fmt::format("`v` and `d_out` beside {}, or `random`", request.stage), is_one ? "one" : "neither");
    }
    return;
  }
  if (choice.stage.stage != Stage::weights && !shown) {
    refuse("stage", "`row` or `tile`, whose stage it is (all else is made of weights)", "neither");
  }
}

// What depends on values.
void check_sources(const ProbeRequest& request, const ProbeChoice& choice) {
  if (request.planted && choice.stage.gradient) {
    refuse("stage", "one of the scores or weights of `planted`", request.stage);
  }
}

std::vector<std::int64_t> drawn_extents(const std::string& text) {
  std::vector<std::int64_t> extents = whole_numbers("random", text);
  const bool divides = extents.size() == 6 && (extents[2] == 0 ? extents[1] == 0 : extents[1] % extents[2] == 0);
  if (!divides) refuse("random", "six numbers B,Hq,Hk,Tq,Tk,D, of which Hk divides Hq", text);
  return extents;
}

}  // namespace

ProbeChoice probe_choice(const ProbeRequest& request) {
  probe_fields().require_company(request);
  ProbeChoice choice;
  choice.reduce = request.reduce == "max" ? Reduce::max : Reduce::mean;
  choice.average = request.average;
  choice.row = request.row;
  choice.top_k = request.top_k;
  choice.key_totals = request.key_totals;
  choice.stats = request.stats;
  choice.stage = probe_stage_of(request.stage);
  if (!request.map.empty()) choice.map = map_size_of(request.map);
  if (!request.area.empty()) choice.area = api_detail::rectangle_of("area", request.area);
  if (!request.tile.empty()) choice.tile = tile_of(request.tile);
  check_stage(request, choice);
  check_sources(request, choice);
  return choice;
}

void api_detail::fit(ProbeChoice& choice, const MaskShape& shape) {
  if (choice.is_empty()) {
    refuse("map, row, tile, top_k, key_totals, stats", "one of them or more, to be shown", "none");
  }
  const auto check = [](std::string_view field, bool fits, const std::string& limit, std::int64_t got) {
    if (!fits) refuse(field, limit, std::to_string(got));
  };
  const std::string queries = "no more than the " + std::to_string(shape.Tq) + " queries";
  const std::string keys = "no more than the " + std::to_string(shape.Tk) + " keys";
  if (choice.map) {
    if (shape.Tq == 0 || shape.Tk == 0) refuse("map", "a matrix with pairs", "one without");
    const MapArea area = choice.area.value_or(MapArea{0, shape.Tq, 0, shape.Tk});
    check("area", area.i_end <= shape.Tq, queries, area.i_end);
    check("area", area.j_end <= shape.Tk, keys, area.j_end);
    choice.map = MapSize{std::min(choice.map->rows, area.i_end - area.i_begin),
                         std::min(choice.map->columns, area.j_end - area.j_begin)};
  }
  if (choice.row) {
    if (shape.Tq == 0) refuse("row", "a matrix with queries", "one without");
    check("row", *choice.row >= 0 && *choice.row < shape.Tq, core::numbered("query", shape.Tq), *choice.row);
  }
  if (choice.tile) {
    check("tile", choice.tile->i_end <= shape.Tq, queries, choice.tile->i_end);
    check("tile", choice.tile->j_end <= shape.Tk, keys, choice.tile->j_end);
  }
  if (choice.top_k) {
    if (shape.Tk == 0) refuse("top_k", "a matrix with keys", "one without");
    check("top_k", *choice.top_k >= 1 && *choice.top_k <= shape.Tk, "1 or more, and " + keys, *choice.top_k);
  }
}

std::vector<std::int64_t> api_detail::heads_of(const ProbeRequest& request, std::int64_t count) {
  if (count == 0) refuse("head", "a tensor with heads", "one without");
  const std::string text = !request.head.empty() ? request.head : request.average ? "all" : "0";
  if (text == "all") {
    std::vector<std::int64_t> heads(static_cast<std::size_t>(count));
    std::iota(heads.begin(), heads.end(), 0);
    return heads;
  }
  const std::vector<std::int64_t> heads = whole_numbers("head", text, ", or all");
  for (auto h = heads.begin(); h != heads.end(); ++h) {
    if (*h >= count) refuse("head", core::numbered("head", count), std::to_string(*h));
    if (std::find(heads.begin(), h, *h) != h) refuse("head", "each head once", std::to_string(*h) + " twice");
  }
  return heads;
}

ProbeInputs load_probe_inputs(const ProbeRequest& request, const ProbeChoice& choice) {
  static_cast<void>(attention_target(DType::f32, {.target = request.target}));  // before anything is read
  if (!request.model.empty()) return api_detail::load_model_inputs(request, choice);
  Generator generator(request.seed.value_or(0));
  ProbeInputs inputs;
  AttentionProblem& problem = inputs.problem;
  if (request.planted) {
    inputs = api_detail::planted_inputs(*request.planted, request.seed.value_or(1));
    problem.options = load_options(request, problem.q, problem.k);
  } else if (request.random.empty()) {
    problem = load_problem(request);
  } else {
    const std::vector<std::int64_t> extents = drawn_extents(request.random);
    const auto at = [&](std::size_t n) { return extents[n]; };
    api_detail::with_memory_for("random", "so many numbers", [&] {
      problem.q = generator.randn({at(0), at(1), at(3), at(5)});
      problem.k = generator.randn({at(0), at(2), at(4), at(5)});
      if (choice.stage.gradient) problem.v = generator.randn(problem.k.shape());
    });
    problem.options = load_options(request, problem.q, problem.k);
  }
  inputs.lse = api_detail::load_lse(request.lse, problem);
  if (!choice.stage.gradient) return inputs;
  inputs.upstream = load_upstream(request, problem);
  if (inputs.upstream.d_out.empty()) {
    const Shape shape = problem.q.shape().without(3).inserted(3, problem.v.dim(3));
    const DType dtype = problem.q.dtype();
    inputs.upstream.d_out = generator.randn(shape, dtype == DType::f64 ? dtype : DType::f32).to(dtype);
  }
  return inputs;
}

}  // namespace qkv
