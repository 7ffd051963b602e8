// qkv mask: what a mask shows, what it costs in tiles, and how it looks; without one, all words of the language.
#include "qkv/view/mask.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "common_options.h"
#include "field_options.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct MaskFlags : MaskRequest {
  bool json = false;
  PicturePaths pictures;
  std::string color = "auto";
  std::optional<int> width;
};

void show_mask(const MaskFlags& flags) {
  check_files({}, places_of(flags.pictures));
  const MaskReply reply = mask(flags);
  const bool drawable = reply.plan.counts().pairs_total > 0;
  if (!drawable && !flags.pictures.empty()) {
    misuse("--svg, --png, --pdf", "a shape with pairs to draw", "one without");
  }
  const Panel panel = drawable ? picture_of(reply) : Panel{};
  write_pictures(flags.pictures, panel);
  if (flags.json) return print(reply_as_json(mask_figures(reply)));
  const TerminalOptions terminal = terminal_options(flags.color, flags.width);
  print(narrowed(as_text(reply, terminal.width), terminal.width));
  if (drawable) print("\n" + to_terminal(panel, terminal));
  if (!flags.pictures.empty()) print("\n" + pictures_report(flags.pictures));
}

void list_words(const MaskFlags& flags) {
  if (!flags.pictures.empty()) misuse("EXPR", "a mask to draw", "none");
  const MaskWordList list = mask_word_list(flags);
  if (flags.json) return print(reply_as_json(list));
  const int width = terminal_options(flags.color, flags.width).width;
  print(narrowed(as_text(list, width), width));
}

}  // namespace

void add_mask(CLI::App& app) {
  CLI::App* command = app.add_subcommand("mask", "A mask's coverage, its cost in tiles, and its picture");
  command->group("Learn");
  command->footer(
      "Without EXPR: every word of the language with its coverage and cost.\n"
      "Example:\n  qkv mask \"causal & window(128) | global(4)\" --tq 1024 --tk 1024 --svg mask.svg");
  const auto flags = std::make_shared<MaskFlags>();
  command->add_option("EXPR", flags->mask, std::string(mask_fields().infos().front().meaning));
  add_fields<MaskRequest>(*command, *flags, mask_fields(), 1);
  command->add_flag("--json", flags->json, "Print JSON");
  add_pictures(*command, flags->pictures, "Options");
  add_terminal_options(*command, flags->color, flags->width, "Options");
  command->callback([flags, command] {
    if (command->count("EXPR") > 0) {
      show_mask(*flags);
    } else {
      list_words(*flags);
    }
  });
}

}  // namespace qkv::cli
