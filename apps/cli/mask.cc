// qkv mask: what a mask shows, what it costs in tiles, and how it looks; without one, all words of the language.
#include "qkv/api/mask.h"

#include "commands.h"

namespace qkv::cli {
namespace {

void show_mask(const Asked<MaskRequest>& asked) {
  const MaskReply reply = mask(asked);
  const MaskFigures figures = mask_figures(reply, asked);
  const Panel panel = picture_of(reply, asked);
  write_pictures(asked.how.pictures, panel);
  if (asked.how.json) return print(reply_as_json(figures));
  const TerminalOptions terminal = asked.how.terminal();
  print(narrowed(as_text(reply, terminal.width), terminal.width));
  if (figures.map) print(narrowed(figures.map->sentence + "\n", terminal.width));
  print("\n" + to_terminal(panel, terminal));
  if (!asked.how.pictures.empty()) print("\n" + pictures_report(asked.how.pictures));
}

void run_mask(const Asked<MaskRequest>& asked, const Given& given) {
  if (given.has("mask")) return show_mask(asked);
  const MaskWordList list = mask_word_list(asked);
  const int width = asked.how.terminal().width;
  print(asked.how.json ? reply_as_json(list) : narrowed(as_text(list, width), width));
}

}  // namespace

void add_mask(Commands& commands) {
  auto fields = asked(mask_fields(), {"json", "pictures", "color", "width"});
  fields.info("mask").option = "expr";
  for (const char* const drawn : {"head", "batch_entry", "cells"}) {
    fields.info(drawn).beside = {{{"json"}, {"map", "png", "svg", "pdf"}}};
  }
  for (const char* const drawn : {"head", "batch_entry", "cells", "png", "svg", "pdf", "color"}) {
    fields.info(drawn).needs = {"mask"};
  }
  commands.add(
      {.name = "mask",
       .group = "Attention",
       .footer = "Without EXPR: every word of the language with its coverage and cost.\n"
                 "Example:\n  qkv mask \"causal & window(128) | global(4)\" --tq 1024 --tk 1024 --svg mask.svg",
       .places = {"mask"}},
      std::move(fields), run_mask);
}

}  // namespace qkv::cli
