// qkv cost: what attention costs, each figure with its arithmetic.
#include "qkv/api/cost.h"

#include "commands.h"

namespace qkv::cli {
namespace {

Fields<Asked<CostRequest>> fields_of_cost() {
  const std::span<const FieldInfo> range = cost_range_fields().infos();
  Fields<Asked<CostRequest>> fields = asked(cost_fields(), {"json", "plot", "pictures"}, range.front().group);
  fields.info("json").group.clear();
  fields.info("plot").meaning = "Draw it in the terminal instead of the table";
  for (const FieldInfo& one : range) fields.info(one.name).needs_one = {"plot", "svg", "png", "pdf", "json"};
  fields.info("tokens").excludes = {"plot"};  // a chart is over their number
  fields.info("tile").beside = {{{"plot"}, {"of=traffic"}}};
  return fields;
}

void run_cost(const Asked<CostRequest>& asked, const Given& /*all*/) {
  const CostConfig config = cost_config(asked);
  if (asked.how.plot || !asked.how.pictures.empty()) {
    const Chart chart = cost_chart(config, asked.range);
    if (asked.how.plot) require_changed_chart(asked);
    write_pictures(asked.how.pictures, chart);
    if (asked.how.plot) return print(to_terminal(chart, asked.how.terminal()));
  }
  if (asked.how.json) return print(reply_as_json(answer(asked)));
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
