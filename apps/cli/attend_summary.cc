#include "attend_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const FileNote& note) {
  return fmt::format("{:<10}{} {}  {}\n", note.name, note.shape.to_string(), name_of(note.dtype), note.path);
}

// A text that goes on for more than a screen tells nobody anything.
std::string shortened(std::string text) {
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  text.resize(end);
  return text + " …";
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

std::string as_text(const AttendSummary& summary) {
  const AttentionOptions& options = summary.options;
  std::string text;
  for (const FileNote& note : summary.inputs) text += line_of(note);
  text += fmt::format("{:<10}{}{}\n", "scale", summary.scale, summary.scale_is_default ? " (1 / sqrt(D))" : "");
  if (options.softcap) text += fmt::format("{:<10}{}\n", "softcap", *options.softcap);
  if (!options.bias.is_zero()) text += fmt::format("{:<10}{}\n", "bias", shortened(options.bias.to_string()));
  text += fmt::format("{:<10}{}\n", "mask", shortened(options.mask.to_string()));
  text += coverage_lines(summary);
  if (options.dropout) {
    text += fmt::format("{:<10}p = {}, seed {}\n", "dropout", options.dropout->p, options.dropout->seed);
  }
  if (!options.sinks.empty())
    text += fmt::format("{:<10}{}\n", "sinks", shortened(fmt::format("{}", fmt::join(options.sinks, ", "))));
  text += fmt::format("{:<10}{}\n", "target", summary.target);
  for (const FileNote& note : summary.outputs) text += line_of(note);
  return text;
}

std::string as_json(const AttendSummary& summary) {
  const AttentionOptions& options = summary.options;
  Json json;
  json["inputs"] = json_of(summary.inputs);
  json["B"] = summary.shape.B;
  json["Hq"] = summary.shape.H;
  json["Tq"] = summary.shape.Tq;
  json["Tk"] = summary.shape.Tk;
  json["scale"] = summary.scale;
  json["softcap"] = options.softcap ? Json(*options.softcap) : Json();
  json["bias"] = options.bias.is_zero() ? Json() : Json(options.bias.to_string());
  json["mask"] = options.mask.to_string();
  json["coverage"] = json_of(summary.tiles);
  json["rows_that_see_nothing"] = summary.blind_rows;
  json["dropout"] = options.dropout ? Json{{"p", options.dropout->p}, {"seed", options.dropout->seed}} : Json();
  json["sinks"] = options.sinks;
  json["target"] = summary.target;
  json["outputs"] = json_of(summary.outputs);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace qkv::cli
