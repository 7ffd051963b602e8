// qkv change: what a model says when something inside it is changed.
#include "qkv/api/change.h"

#include <fmt/format.h>

#include "commands.h"

namespace qkv::cli {
namespace {

void show(const Asked<ChangeRequest>& asked, const Sweep& sweep) {
  const Panel panel = sweep_panel(sweep, asked);
  write_pictures(asked.how.pictures, panel);
  if (asked.how.json) return;
  std::string text = fmt::format("{}: {:.4f} before", sweep.measure, sweep.before);
  if (sweep.other) text += fmt::format(", {:.4f} of the other text", *sweep.other);
  print(text + "; its change:\n\n" + to_terminal(panel, asked.how.terminal()));
  print_text("\n" + sweep_table(sweep));
  print(pictures_report(asked.how.pictures));
}

void run_change(Asked<ChangeRequest>& asked, const Given& /*all*/) {
  const ChangeFound found = found_change(asked, asked.how.saying());
  if (const auto* sweep = std::get_if<Sweep>(&found.change)) show(asked, *sweep);
  if (asked.how.json) {
    AnyReply reply = change_reply(found, asked.model);
    reply.caution(asked.how.cautions());
    return print(written_as_json(reply));
  }
  if (const auto* one = std::get_if<TextChange>(&found.change)) {
    print_text(change_table(*one, found.question, asked.model));
  } else if (const auto* many = std::get_if<LossChange>(&found.change)) {
    print_text(change_table(*many, found.question, asked.model));
  }
}

}  // namespace

void add_change(Commands& commands) {
  auto fields = asked(change_fields(), {"json", "threads", "pictures", "color", "width"}, "Pictures of a sweep");
  for (const char* const general : {"json", "threads"}) fields.info(general).group.clear();
  for (const char* const drawn : {"png", "svg", "pdf", "color", "width"}) fields.info(drawn).needs = {"sweep"};
  commands.add({.name = "change",
                .group = "Look inside",
                .footer = std::string(kModelIs) +
                          "Heads are LAYER.HEAD, after source: or cross: of another site.\n"
                          "docs/interventions.md has all changes.\n"
                          "Examples:\n  qkv change induction abcxyzab --remove 1.0\n"
                          "  qkv change induction --examples 64 --remove 1.0\n"
                          "  qkv change gpt \"The cat sat on\" --pattern 1.4=uniform --freeze-norms\n"
                          "  qkv change gpt \"The cats\" --from-text \"The cat\" --sweep places --png a.png",
                .places = {"model", "text"}},
               std::move(fields), run_change);
}

}  // namespace qkv::cli
