// qkv cost: what attention costs, each figure with its arithmetic.
#include "qkv/api/cost.h"

#include <optional>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "output.h"
#include "pictures.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct CostFlags : CostRequest {
  PicturePaths pictures;
  bool plot = false;
  bool json = false;
};

Fields<CostFlags> fields_of_cost() {
  Fields<CostFlags> fields;
  fields.add(cost_fields());
  for (const FieldInfo& one : cost_range_fields().infos()) {
    fields.info(one.name).needs_one = {"plot", "svg", "png", "pdf", "json"};
  }
  fields.add(&CostFlags::json, json_field());
  const std::string chart = cost_range_fields().infos().front().group;
  fields.add(&CostFlags::plot, {.name = "plot",
                                .meaning = "Draw it in the terminal instead of the table",
                                .group = chart,
                                .excludes = {"json"},
                                .reasons = {{"json", kOneThing}}});
  fields.add(&CostFlags::pictures, picture_fields(chart));
  return fields;
}

void run_cost(CostFlags& flags, const Given& /*all*/) {
  check_files({}, places_of(flags.pictures));
  const CostConfig config = cost_config(flags);
  if (flags.plot || !flags.pictures.empty()) {
    const Chart chart = cost_chart(config, flags.range);
    write_pictures(flags.pictures, chart);
    if (flags.plot) return print(to_terminal(chart, terminal_options("auto", std::nullopt)));
  }
  if (flags.json) return print(reply_as_json(answer(flags)));
  print_text(as_text(cost(config), terminal_width()));
}

}  // namespace

void add_cost(Commands& commands) {
  commands.add({.name = "cost",
                .group = "Attention",
                .footer = "Examples:\n  qkv cost gpt3 --tokens 2048\n  qkv cost llama-3-8b --plot --of flops\n"
                          "  qkv cost --layers 12 --d-model 768 --heads 12 --tokens 4096",
                .places = {"preset"}},
               fields_of_cost(), run_cost);
}

}  // namespace qkv::cli
