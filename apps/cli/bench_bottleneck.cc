// qkv bench bottleneck: what one vector of fixed size holds of a text, against attention.
#include <fmt/format.h>

#include <optional>

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "progress.h"
#include "qkv/api/study.h"
#include "qkv/cancel.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchBottleneck = "qkv bench bottleneck";
constexpr std::int64_t kReportEvery = 500;

struct BottleneckFlags : BottleneckBench, ThreadsFlag {
  bool json = false;
};

BottleneckFound found_by(const BottleneckFlags& flags) {
  std::optional<InterruptWatch> interrupts;  // only training leaves something unwritten
  if (!flags.out.empty()) interrupts.emplace();
  Progress progress;
  const auto step = [&](const std::string& model, std::int64_t done, double loss) {
    const std::string said = fmt::format("{}: {}: step {} of {}, loss {:.4f}", kBenchBottleneck, model, done + 1,
                                         flags.training.steps, loss);
    progress.show(said);
    if ((done + 1) % kReportEvery == 0) progress.note(said);
  };
  return found_bottleneck(flags, {.step = step, .stopped = [] { return InterruptWatch::interrupted(); }});
}

void run_bench_bottleneck(BottleneckFlags& flags, const Given& /*all*/) {
  try {
    const BottleneckFound found = found_by(flags);
    flags.json ? print(reply_as_json(found.figures)) : print_text(bottleneck_table(found.models, found.points));
  } catch (const Cancelled&) {
    complain(kBenchBottleneck, "stopped; nothing was written");
    throw Exit{kInterrupted};
  }
}

Fields<BottleneckFlags> fields_of_bottleneck() {
  Fields<BottleneckFlags> fields;
  fields.add(bottleneck_bench_fields());
  fields.add(threads_flag());
  fields.add(&BottleneckFlags::json, json_field());
  return fields;
}

}  // namespace

void add_bench_bottleneck(Commands& commands) {
  commands.add({.name = "bench bottleneck",
                .summary = "Repeat random letters: through one vector, and with attention over all states",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench bottleneck\n"
                          "  qkv bench bottleneck --out bottleneck --steps 12000"},
               fields_of_bottleneck(), run_bench_bottleneck);
}

}  // namespace qkv::cli
