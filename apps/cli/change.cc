// qkv change: what a model says when something inside it is changed.
#include "qkv/api/change.h"

#include <fmt/format.h>

#include <string>
#include <variant>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "qkv/picture/terminal.h"
#include "saying.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct ChangeFlags : ChangeRequest, ThreadsFlag {
  PicturePaths pictures;
  TerminalLook look;
  bool json = false;
};

void show(const ChangeFlags& flags, const Sweep& sweep) {
  const Panel panel = sweep_panel(sweep, flags);
  write_pictures(flags.pictures, panel);
  if (flags.json) return;
  std::string text = fmt::format("{}: {:.4f} before", sweep.measure, sweep.before);
  if (sweep.other) text += fmt::format(", {:.4f} of the other text", *sweep.other);
  print(text + "; its change:\n\n" + to_terminal(panel, terminal_options(flags.look.color, flags.look.width)));
  print_text("\n" + sweep_table(sweep));
  print(pictures_report(flags.pictures));
}

void run_change(ChangeFlags& flags, const Given& /*all*/) {
  if (!flags.pictures.empty() && flags.sweep.empty()) misuse("--svg, --png, --pdf", "a --sweep to draw", "none");
  check_files({{"MODEL", flags.model}}, places_of(flags.pictures));
  read_input(flags.file);
  const ChangeFound found = [&] {
    Progress line;
    return found_change(flags, saying_of("qkv change", line));
  }();
  if (const auto* sweep = std::get_if<Sweep>(&found.change)) show(flags, *sweep);
  if (flags.json) return print(written_as_json(change_reply(found, flags.model)));
  if (const auto* one = std::get_if<TextChange>(&found.change)) {
    print_text(change_table(*one, found.question, flags.model));
  } else if (const auto* many = std::get_if<LossChange>(&found.change)) {
    print_text(change_table(*many, found.question, flags.model));
  }
}

Fields<ChangeFlags> fields_of_change() {
  const std::string pictures = "Pictures of a sweep";
  Fields<ChangeFlags> fields;
  fields.add(change_fields());
  fields.add(&ChangeFlags::json, json_field());
  fields.add(threads_flag());
  fields.add(&ChangeFlags::pictures, picture_fields(pictures));
  fields.add(&ChangeFlags::look, terminal_fields(pictures));
  return fields;
}

}  // namespace

void add_change(Commands& commands) {
  commands.add({.name = "change",
                .group = "Look inside",
                .footer = "MODEL is one of the box, a model file of your own, or a folder as models are\n"
                          "published. Heads are LAYER.HEAD, after source: or cross: of another site. Each\n"
                          "option of a change may be given again. docs/interventions.md has them all.\n"
                          "Examples:\n  qkv change induction abcxyzab --remove 1.0\n"
                          "  qkv change induction --examples 64 --remove 1.0\n"
                          "  qkv change gpt \"The cat sat on\" --pattern 1.4=uniform --freeze-norms\n"
                          "  qkv change gpt \"The cats\" --from-text \"The cat\" --sweep places --png a.png",
                .places = {"model", "text"}},
               fields_of_change(), run_change);
}

}  // namespace qkv::cli
