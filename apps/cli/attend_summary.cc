#include "attend_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "applied_options.h"

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const FileNote& note) {
  return fmt::format("{:<10}{} {}  {}\n", note.name, note.shape.to_string(), name_of(note.dtype), note.path);
}

std::string coverage_lines(const AttendSummary& summary) {
  const TileCounts& tiles = summary.tiles;
  std::string text = fmt::format("{:<10}{} of {} pairs ({:.2f} %)\n", "kept", tiles.pairs_kept, tiles.pairs_total,
                                 100 * tiles.coverage());
  text +=
      fmt::format("{:<10}{} of {} x {}: {} skipped, {} full, {} partial ({:.2f} % computed)\n", "tiles", tiles.total(),
                  summary.tile.queries, summary.tile.keys, tiles.skip, tiles.full, tiles.partial, 100 * tiles.cost());
  if (summary.blind_rows > 0) {
    text += fmt::format("{:<10}{} see nothing: zeros in out, -inf in lse\n", "rows", summary.blind_rows);
  }
  return text;
}

Json json_of(const std::vector<FileNote>& notes) {
  Json json = Json::object();
  for (const FileNote& note : notes) {
    json[note.name] = {{"path", note.path},
                       {"shape", std::vector<std::int64_t>(note.shape.begin(), note.shape.end())},
                       {"dtype", name_of(note.dtype)}};
  }
  return json;
}

Json json_of(const TileCounts& tiles) {
  return {{"pairs_kept", tiles.pairs_kept},
          {"pairs_total", tiles.pairs_total},
          {"coverage", tiles.coverage()},
          {"tiles_skip", tiles.skip},
          {"tiles_full", tiles.full},
          {"tiles_partial", tiles.partial},
          {"cost", tiles.cost()}};
}

}  // namespace

std::string as_text(const AttendSummary& summary, const AttendProblem& problem) {
  std::string text;
  for (const FileNote& note : summary.inputs) text += line_of(note);
  text += applied_as_text(problem) + coverage_lines(summary);
  for (const FileNote& note : summary.outputs) text += line_of(note);
  return text;
}

std::string as_json(const AttendSummary& summary, const AttendProblem& problem) {
  Json json;
  json["inputs"] = json_of(summary.inputs);
  json["B"] = summary.shape.B;
  json["Hq"] = summary.shape.H;
  json["Tq"] = summary.shape.Tq;
  json["Tk"] = summary.shape.Tk;
  json.update(applied_as_json(problem));
  json["coverage"] = json_of(summary.tiles);
  json["rows_that_see_nothing"] = summary.blind_rows;
  json["outputs"] = json_of(summary.outputs);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace qkv::cli
