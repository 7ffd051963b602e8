// qkv mask: what a mask shows, what it costs in tiles, and how it looks; without one, all words of the language.
#include "qkv/mask.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "qkv/files.h"
#include "qkv/picture/mask_heatmap.h"
#include "qkv/tile_plan.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostPanels = 8;  // heads drawn where they differ

struct MaskArguments {
  std::string expression;
  std::int64_t queries = 512;
  std::int64_t keys = 512;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::string tile = "64";
  bool json = false;
  std::string svg;
  std::string png;
  std::string color = "auto";
  std::optional<int> width;

  [[nodiscard]] MaskShape shape() const { return {.B = batch, .H = heads, .Tq = queries, .Tk = keys}; }
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

TileSize tile_size(const std::string& text) {
  const std::size_t cross = text.find('x');
  const auto queries = whole_number(std::string_view(text).substr(0, cross));
  const auto keys = cross == std::string::npos ? queries : whole_number(std::string_view(text).substr(cross + 1));
  if (!queries || !keys) misuse("--tile", "N or QxK, each 1 or more", text);
  return {*queries, *keys};
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string shortened(const std::string& text, int width) { return fit_to_width(text, width); }

Json counts_json(const TileCounts& counts) {
  return {{"pairs", {{"kept", counts.pairs_kept}, {"total", counts.pairs_total}, {"coverage", counts.coverage()}}},
          {"tiles",
           {{"skip", counts.skip},
            {"full", counts.full},
            {"partial", counts.partial},
            {"total", counts.total()},
            {"cost", counts.cost()}}}};
}

Json frame_json(const MaskArguments& arguments, const TileSize& tile) {
  const MaskShape shape = arguments.shape();
  return {{"shape", {{"B", shape.B}, {"H", shape.H}, {"Tq", shape.Tq}, {"Tk", shape.Tk}}},
          {"tile", {{"queries", tile.queries}, {"keys", tile.keys}}}};
}

std::string summary(const std::string& text, const TilePlan& plan) {
  const TileCounts counts = plan.counts();
  const MaskShape& shape = plan.shape();
  const std::int64_t computed = counts.full + counts.partial;
  std::string out = fmt::format("mask      {}\n", text);
  out += fmt::format("shape     B {}, H {}, Tq {}, Tk {}\n", shape.B, shape.H, shape.Tq, shape.Tk);
  out += fmt::format("coverage  {}  ({} of {} pairs kept)\n", percent(counts.coverage()),
                     with_commas(counts.pairs_kept), with_commas(counts.pairs_total));
  out += fmt::format("tiles     {} skip, {} full, {} partial  (of {}, {} queries x {} keys each)\n",
                     with_commas(counts.skip), with_commas(counts.full), with_commas(counts.partial),
                     with_commas(counts.total()), plan.tile_size().queries, plan.tile_size().keys);
  return out + fmt::format("cost      {}  ({} tile{} computed)\n", percent(counts.cost()), with_commas(computed),
                           computed == 1 ? "" : "s");
}

// The heads that differ, as far as there is room.
Panel drawing(const Mask& mask, const TilePlan& plan, const std::string& text) {
  Panel panel{.title = shortened(text, 80), .heatmaps = {}};
  const std::int64_t batch = mask.varies_by_batch() ? plan.shape().B : 1;
  const std::int64_t heads = mask.varies_by_head() ? plan.shape().H : 1;
  for (std::int64_t n = 0; n < std::min(batch * heads, kMostPanels); ++n) {
    const std::int64_t b = n / heads;
    const std::int64_t h = n % heads;
    Heatmap picture = mask_heatmap(plan, b, h);
    if (batch > 1) picture.title = fmt::format("batch entry {}", b);
    if (heads > 1) picture.title += fmt::format("{}head {}", picture.title.empty() ? "" : ", ", h);
    panel.heatmaps.push_back(std::move(picture));
  }
  return panel;
}

FileContent document(const std::string& path, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {path, {bytes.begin(), bytes.end()}};
}

void write_drawings(const MaskArguments& arguments, const Panel& panel) {
  std::vector<FileContent> files;
  if (!arguments.svg.empty()) files.push_back(document(arguments.svg, to_svg(panel)));
  if (!arguments.png.empty()) files.push_back(document(arguments.png, to_png(panel)));
  write_files(files);
}

void show_mask(const MaskArguments& arguments) {
  const Mask mask = parse_mask(arguments.expression);
  const TileSize size = tile_size(arguments.tile);
  const TilePlan plan(mask, arguments.shape(), size);
  const std::string text = mask.to_string();
  const bool drawable = plan.counts().pairs_total > 0;
  if (!drawable && !(arguments.svg.empty() && arguments.png.empty())) {
    misuse("--svg, --png", "a shape with pairs to draw", "one without");
  }
  const Panel panel = drawable ? drawing(mask, plan, text) : Panel{};
  write_drawings(arguments, panel);
  if (arguments.json) {
    Json json{{"mask", text}};
    json.update(frame_json(arguments, plan.tile_size()));
    json.update(counts_json(plan.counts()));
    print(json.dump(2) + "\n");
    return;
  }
  print(summary(text, plan));
  if (drawable) print("\n" + to_terminal(panel, terminal_options(arguments.color, arguments.width)));
}

struct ListedWord {
  Word word;
  std::string sample;
  TileCounts counts;
};

std::string as_table(const std::vector<ListedWord>& words, const MaskArguments& arguments, const TileSize& size) {
  std::string out = fmt::format("The words of the mask language, over Tq {}, Tk {} in tiles of {} x {}:\n\n",
                                arguments.queries, arguments.keys, size.queries, size.keys);
  out +=
      fmt::format("  {:<10} {:<26} {:>9} {:>22} {:>9}\n", "word", "example", "coverage", "skip/full/partial", "cost");
  for (const ListedWord& one : words) {
    const std::string tiles = fmt::format("{}/{}/{}", one.counts.skip, one.counts.full, one.counts.partial);
    out += fmt::format("  {:<10} {:<26} {:>9} {:>22} {:>9}\n", one.word.word, shortened(one.sample, 26),
                       percent(one.counts.coverage()), tiles, percent(one.counts.cost()));
    out += fmt::format("             {}\n", one.word.meaning);
  }
  return out +
         "\nJoined by ! (not), & (both), | (either), in this order of binding, and parentheses.\n"
         "Those that compare positions also take top_left; bottom_right is the default.\n"
         "coverage: share of pairs kept. cost: share of tiles that must be computed, full and partial.\n";
}

void list_words(const MaskArguments& arguments) {
  if (!arguments.svg.empty() || !arguments.png.empty()) {
    misuse("EXPR", "a mask to draw", "none");
  }
  const TileSize size = tile_size(arguments.tile);
  const MaskShape shape = arguments.shape();
  std::vector<ListedWord> words;
  for (const Word& word : mask_words()) {
    const std::string sample = mask_sample(word.word, shape);
    words.push_back({word, sample, TilePlan(parse_mask(sample), shape, size).counts()});
  }
  if (!arguments.json) {
    print(as_table(words, arguments, size));
    return;
  }
  Json json = frame_json(arguments, size);
  json["words"] = Json::array();
  for (const ListedWord& one : words) {
    Json entry{
        {"word", one.word.word}, {"form", one.word.form}, {"meaning", one.word.meaning}, {"example", one.sample}};
    entry.update(counts_json(one.counts));
    json["words"].push_back(std::move(entry));
  }
  print(json.dump(2) + "\n");
}

void add_options(CLI::App& command, MaskArguments& arguments) {
  const auto extent = between(0, std::int64_t{1} << 40);
  command.add_option("EXPR", arguments.expression, "The mask, e.g. \"causal & window(512) | global(4)\"");
  command.add_option("--tq", arguments.queries, "Queries")->type_name("N")->check(extent)->capture_default_str();
  command.add_option("--tk", arguments.keys, "Keys")->type_name("N")->check(extent)->capture_default_str();
  command.add_option("--batch", arguments.batch, "Batch entries")->type_name("N")->check(extent)->capture_default_str();
  command.add_option("--heads", arguments.heads, "Query heads")->type_name("N")->check(extent)->capture_default_str();
  command.add_option("--tile", arguments.tile, "Tile: N, or QxK for queries x keys")
      ->type_name("SIZE")
      ->capture_default_str();
  command.add_flag("--json", arguments.json, "Print JSON");
  command.add_option("--svg", arguments.svg, "Write the drawing as SVG")->type_name("FILE");
  command.add_option("--png", arguments.png, "Write the drawing as PNG")->type_name("FILE");
  add_terminal_options(command, arguments.color, arguments.width, "Options");
}

}  // namespace

void add_mask(CLI::App& app) {
  CLI::App* command = app.add_subcommand("mask", "A mask's coverage, its cost in tiles, and its picture");
  command->group("Learn");
  command->footer(
      "Without EXPR: every word of the language with its coverage and cost.\n"
      "Example:\n  qkv mask \"causal & window(128) | global(4)\" --tq 1024 --tk 1024 --svg mask.svg");
  const auto arguments = std::make_shared<MaskArguments>();
  add_options(*command, *arguments);
  command->callback([arguments, command] {
    if (command->count("EXPR") > 0) {
      show_mask(*arguments);
    } else {
      list_words(*arguments);
    }
  });
}

}  // namespace qkv::cli
