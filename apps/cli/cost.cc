// qkv cost: what attention costs, each figure with its arithmetic.
#include "qkv/view/cost.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "commands.h"
#include "field_options.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct CostFlags : CostRequest {
  CostRange range;
  PicturePaths pictures;
  bool plot = false;
  bool json = false;
};

// Options of the chart alone are a slip where there is none.
void require_chart(const CLI::App& command) {
  for (const char* option : {"--of", "--from", "--to"}) {
    if (command.count(option) > 0) misuse(option, "--plot, --svg, --png or --pdf beside it", "none of them");
  }
}

void run(const CostFlags& flags, const CLI::App& command) {
  check_files({}, places_of(flags.pictures));
  const CostConfig config = cost_config(flags);
  const CostReport report = cost(config);
  if (flags.plot || !flags.pictures.empty()) {
    const Chart chart = cost_chart(config, flags.range);
    write_pictures(flags.pictures, chart);
    if (flags.plot) return print(to_terminal(chart, terminal_options("auto", std::nullopt)));
  } else {
    require_chart(command);
  }
  if (flags.json) return print(reply_as_json(cost_figures(report)));
  print_text(as_text(report, terminal_width()));
}

}  // namespace

void add_cost(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cost", "What attention costs: FLOPs, bytes, parameters, with the arithmetic");
  command->group("Learn");
  command->footer(
      "Examples:\n  qkv cost gpt3 --tokens 2048\n  qkv cost llama-3-8b --plot --of flops\n"
      "  qkv cost --layers 12 --d-model 768 --heads 12 --tokens 4096");
  const auto flags = std::make_shared<CostFlags>();
  command->add_option("PRESET", flags->preset, cost_fields().infos().front().meaning);
  add_fields<CostRequest>(*command, *flags, cost_fields(), 1);
  command->add_flag("--json", flags->json, "Print JSON");
  const std::string chart = cost_range_fields().infos().front().group;
  command->add_flag("--plot", flags->plot, "Draw it in the terminal instead of the table")
      ->group(chart)
      ->excludes(command->get_option("--json"));
  add_pictures(*command, flags->pictures, chart);
  add_fields(*command, flags->range, cost_range_fields());
  command->callback([flags, command] { run(*flags, *command); });
}

}  // namespace qkv::cli
