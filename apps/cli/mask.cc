// qkv mask: what a mask shows, what it costs in tiles, and how it looks; without one, all words of the language.
#include "qkv/api/mask.h"

#include "commands.h"
#include "common_options.h"
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
  TerminalLook look;
};

Fields<MaskFlags> fields_of_mask() {
  Fields<MaskFlags> fields;
  fields.add(mask_fields());
  fields.info("mask").option = "expr";
  fields.add(&MaskFlags::json, json_field());
  fields.add(&MaskFlags::pictures, picture_fields());
  fields.add(&MaskFlags::look, terminal_fields());
  return fields;
}

void show_mask(const MaskFlags& flags) {
  check_files({}, places_of(flags.pictures));
  const MaskReply reply = mask(flags);
  const MaskFigures figures = mask_figures(reply, flags);
  const Panel panel = picture_of(reply, flags);
  write_pictures(flags.pictures, panel);
  if (flags.json) return print(reply_as_json(figures));
  const TerminalOptions terminal = terminal_options(flags.look.color, flags.look.width);
  print(narrowed(as_text(reply, terminal.width), terminal.width));
  if (figures.map) print(narrowed(figures.map->sentence + "\n", terminal.width));
  print("\n" + to_terminal(panel, terminal));
  if (!flags.pictures.empty()) print("\n" + pictures_report(flags.pictures));
}

void list_words(const MaskFlags& flags) {
  if (!flags.pictures.empty()) misuse("EXPR", "a mask to draw", "none");
  const MaskWordList list = mask_word_list(flags);
  if (flags.json) return print(reply_as_json(list));
  const int width = terminal_options(flags.look.color, flags.look.width).width;
  print(narrowed(as_text(list, width), width));
}

void run_mask(MaskFlags& flags, const Given& given) { given.has("mask") ? show_mask(flags) : list_words(flags); }

}  // namespace

void add_mask(Commands& commands) {
  commands.add(
      {.name = "mask",
       .group = "Attention",
       .footer = "Without EXPR: every word of the language with its coverage and cost.\n"
                 "Example:\n  qkv mask \"causal & window(128) | global(4)\" --tq 1024 --tk 1024 --svg mask.svg",
       .places = {"mask"}},
      fields_of_mask(), run_mask);
}

}  // namespace qkv::cli
