// qkv cost: what attention costs, each figure with its arithmetic.
#include "qkv/cost.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "commands.h"
#include "cost_chart.h"
#include "misuse.h"
#include "output.h"
#include "qkv/files.h"
#include "qkv/worked.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CostOptions {
  std::string preset;
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> decoder_layers;
  std::optional<std::int64_t> d_model;
  std::optional<std::int64_t> heads;
  std::optional<std::int64_t> kv_heads;
  std::optional<std::int64_t> d_k;
  std::optional<std::int64_t> d_v;
  std::optional<std::int64_t> d_ff;
  std::optional<std::int64_t> vocab;
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> tile;
  std::optional<bool> gated;
  std::optional<bool> causal;
  std::string dtype = "f32";
  CostRange range;
  std::string svg;
  std::string png;
  bool plot = false;
  bool json = false;
};

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    if (name == name_of(dtype)) return dtype;
  }
  misuse("--dtype", "f64, f32, f16 or bf16", "\"" + name + "\"");
}

template <class Value, class Target>
void override_with(const std::optional<Value>& given, Target& target) {
  if (given) target = *given;  // NOLINT(bugprone-optional-value-conversion)
}

CostConfig config_of(const CostOptions& options) {
  if (options.preset.empty() && !(options.layers && options.d_model && options.heads)) {
    misuse("PRESET", fmt::format("one of {}, or --layers, --d-model and --heads", fmt::join(cost_presets(), ", ")),
           "neither");
  }
  CostConfig config = options.preset.empty() ? CostConfig{} : cost_preset(options.preset);
  override_with(options.layers, config.layers);
  override_with(options.decoder_layers, config.decoder_layers);
  override_with(options.d_model, config.d_model);
  override_with(options.heads, config.heads);
  override_with(options.kv_heads, config.kv_heads);
  override_with(options.d_k, config.d_k);
  override_with(options.d_v, config.d_v);
  override_with(options.d_ff, config.d_ff);
  override_with(options.vocab, config.vocab);
  override_with(options.tokens, config.tokens);
  override_with(options.batch, config.batch);
  override_with(options.tile, config.tile);
  override_with(options.gated, config.gated_ffn);
  override_with(options.causal, config.causal);
  if (options.preset.empty() && config.vocab > 0) config.output_head = OutputHead::tied;
  config.dtype = dtype_named(options.dtype);
  return config;
}

std::string heading(const CostConfig& c) {
  std::string text = fmt::format("{}: {} layer{}", c.name, c.layers, c.layers == 1 ? "" : "s");
  if (c.decoder_layers > 0) text += fmt::format(" + {} decoder layers", c.decoder_layers);
  text += fmt::format(", d_model {}, {} heads", c.d_model, c.heads);
  if (*c.kv_heads != c.heads) text += fmt::format(" over {} kv heads", *c.kv_heads);
  text += fmt::format(", d_k {}, d_v {}, d_ff {}{}", *c.d_k, *c.d_v, *c.d_ff, c.gated_ffn ? " gated" : "");
  if (c.vocab > 0) text += fmt::format(", vocabulary {}", c.vocab);
  return text + fmt::format("\n{} tokens, batch {}, {}, {}\n", c.tokens, c.batch, name_of(c.dtype),
                            c.causal ? "causal" : "every token sees every token");
}

std::string wrapped(const std::string& text, std::size_t width, std::string_view indent) {
  std::string result;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) result += fmt::format("{}{}\n", indent, line);
    line.clear();
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > width) flush();
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  flush();
  return result;
}

/// "003, …" with the title of that document in place of its number.
std::string with_title(const std::string& what) {
  const std::string number = what.substr(0, what.find(", "));
  if (number.find_first_not_of("0123456789") != std::string::npos) return what;
  for (const WorkedExample& example : worked_examples()) {
    const std::string& seed = example.seed;
    if (seed.starts_with(number + ", ")) return seed.substr(number.size() + 2) + what.substr(number.size());
  }
  return what;
}

/// What the course material says of GPT-3 at this length, beside what was computed; nothing for other configurations.
std::string claims_of_seeds(const CostReport& report) {
  const CostConfig& c = report.config;
  if (c.name != "gpt3" || c.tokens != 2048 || c.batch != 1 || c.dtype != DType::f32) return "";
  std::string text = "\nWhat the course material says of it (qkv explain --worked gpt3-memory)\n";
  for (const WorkedClaim& claim : run_worked("gpt3-memory").claims) {
    text += fmt::format("  {}: \"{}\": {}\n", with_title(claim.what), claim.printed, name_of(claim.agreement));
    text += wrapped(claim.computed, 94, "      ") + wrapped(claim.remark, 94, "      ");
  }
  return text;
}

std::string as_table(const CostReport& report) {
  std::string text = heading(report.config);
  for (const CostGroup& group : report.groups) {
    text += fmt::format("\n{}\n{}", group.title, wrapped(group.note, 98, "  "));
    for (const CostItem& item : group.items) {
      const std::string exact = item.value.grouped();
      text += fmt::format("  {:<44} {:>12}  {}", item.name, short_amount(item.value, item.unit), item.arithmetic);
      text += item.arithmetic == exact ? "\n" : fmt::format(" = {}\n", exact);
    }
  }
  return text + claims_of_seeds(report);
}

Json json_of(const CostConfig& c) {
  return {{"name", c.name},
          {"layers", c.layers},
          {"decoder_layers", c.decoder_layers},
          {"d_model", c.d_model},
          {"heads", c.heads},
          {"kv_heads", *c.kv_heads},
          {"d_k", *c.d_k},
          {"d_v", *c.d_v},
          {"d_ff", *c.d_ff},
          {"gated_ffn", c.gated_ffn},
          {"vocab", c.vocab},
          {"tokens", c.tokens},
          {"batch", c.batch},
          {"causal", c.causal},
          {"dtype", name_of(c.dtype)},
          {"tile", c.tile}};
}

std::string as_json(const CostReport& report) {
  static constexpr std::array<std::string_view, 3> kUnits = {"parameters", "flops", "bytes"};
  Json json = {{"config", json_of(report.config)}, {"groups", Json::array()}};
  for (const CostGroup& group : report.groups) {
    Json items = Json::array();
    for (const CostItem& item : group.items) {
      items.push_back({{"key", item.key},
                       {"name", item.name},
                       {"unit", kUnits.at(static_cast<std::size_t>(item.unit))},
                       {"value", Json::parse(item.value.to_string())},  // a double beyond 2^64
                       {"exact", item.value.to_string()},
                       {"arithmetic", item.arithmetic}});
    }
    json["groups"].push_back({{"title", group.title}, {"note", group.note}, {"items", items}});
  }
  return json.dump(2) + "\n";
}

/// --NAME and --no-NAME; without either the preset's word stands.
CLI::Option* add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value,
                        const std::string& description) {
  const auto set = [&value](std::int64_t count) { value = count > 0; };
  return command.add_flag_function(fmt::format("--{0},!--no-{0}", name), set, description);
}

void add_shape_options(CLI::App& command, CostOptions& options) {
  command.add_option("PRESET", options.preset, fmt::format("One of {}", fmt::join(cost_presets(), ", ")));
  const std::string group = "The model (over the preset's, or on its own)";
  command.add_option("--layers", options.layers, "Layers")->type_name("N")->group(group);
  command.add_option("--decoder-layers", options.decoder_layers, "Decoder layers with cross-attention, too")
      ->type_name("N")
      ->group(group);
  command.add_option("--d-model", options.d_model, "Width of the model")->type_name("N")->group(group);
  command.add_option("--heads", options.heads, "Query heads")->type_name("N")->group(group);
  command.add_option("--kv-heads", options.kv_heads, "Heads of keys and values [heads]")->type_name("N")->group(group);
  command.add_option("--d-k", options.d_k, "Width of a query and a key [d-model / heads]")
      ->type_name("N")
      ->group(group);
  command.add_option("--d-v", options.d_v, "Width of a value [d-k]")->type_name("N")->group(group);
  command.add_option("--d-ff", options.d_ff, "Width of the feed-forward layer [4 d-model]")
      ->type_name("N")
      ->group(group);
  add_switch(command, "gated", options.gated, "A feed-forward layer of three matrices")->group(group);
  command.add_option("--vocab", options.vocab, "Words of the vocabulary")->type_name("N")->group(group);
  add_switch(command, "causal", options.causal, "Each token sees itself and earlier ones alone")->group(group);
}

void add_run_options(CLI::App& command, CostOptions& options) {
  command.add_option("--tokens", options.tokens, "Tokens of a sequence [the preset's context, or 1024]")
      ->type_name("N");
  command.add_option("--batch", options.batch, "Sequences at once [1]")->type_name("N");
  command.add_option("--dtype", options.dtype, "f64, f32, f16 or bf16")->type_name("TYPE")->capture_default_str();
  command.add_option("--tile", options.tile, "Side of the tiled algorithm's tiles [64]")->type_name("N");
  command.add_flag("--json", options.json, "Print JSON");
}

void add_chart_options(CLI::App& command, CostOptions& options) {
  const std::string group = "A chart over the sequence length";
  command.add_flag("--plot", options.plot, "Draw it in the terminal instead of the table")
      ->group(group)
      ->excludes(command.get_option("--json"));
  command.add_option("--svg", options.svg, "Write it as SVG, too")->type_name("FILE")->group(group);
  command.add_option("--png", options.png, "Write it as PNG, too")->type_name("FILE")->group(group);
  command.add_option("--of", options.range.of, "memory, flops or traffic")
      ->type_name("WHAT")
      ->capture_default_str()
      ->group(group);
  command.add_option("--from", options.range.from, "Shortest sequence")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command.add_option("--to", options.range.to, "Longest sequence")->type_name("N")->capture_default_str()->group(group);
}

// Options of the chart alone are a slip where there is none.
void require_chart(const CLI::App& command) {
  for (const char* option : {"--of", "--from", "--to"}) {
    if (command.count(option) > 0) misuse(option, "--plot, --svg or --png beside it", "none of them");
  }
}

void run(const CostOptions& options, const CLI::App& command) {
  const CostConfig config = config_of(options);
  const CostReport report = cost(config);
  if (options.plot || !options.svg.empty() || !options.png.empty()) {
    const Chart chart = cost_chart(config, options.range);
    if (!options.svg.empty()) write_file(options.svg, to_svg(chart));
    if (!options.png.empty()) write_file(options.png, to_png(chart));
    if (options.plot) return print(to_terminal(chart, terminal_options("auto", std::nullopt)));
  } else {
    require_chart(command);
  }
  print(options.json ? as_json(report) : as_table(report));
}

}  // namespace

void add_cost(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cost", "What attention costs: FLOPs, bytes, parameters, with the arithmetic");
  command->group("Learn");
  command->footer(
      "Examples:\n  qkv cost gpt3 --tokens 2048\n  qkv cost llama-3-8b --plot --of flops\n"
      "  qkv cost --layers 12 --d-model 768 --heads 12 --tokens 4096");
  const auto options = std::make_shared<CostOptions>();
  add_shape_options(*command, *options);
  add_run_options(*command, *options);
  add_chart_options(*command, *options);
  command->callback([options, command] { run(*options, *command); });
}

}  // namespace qkv::cli
