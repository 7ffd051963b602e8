// qkv lens: what a model would say after each layer, and what adds up to a logit.

#include "qkv/api/lens.h"

#include <optional>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "output.h"
#include "pictures.h"
#include "saying.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct LensArguments : LensRequest, ThreadsFlag {
  PicturePaths pictures;
  std::optional<int> width;
  bool json = false;
};

void run_lens(LensArguments& arguments, const Given& /*all*/) {
  check_files({{"MODEL", arguments.model}}, places_of(arguments.pictures));
  const LensReport report = found_lens(arguments, saying_of("qkv lens"));
  if (!arguments.pictures.empty()) write_pictures(arguments.pictures, lens_panel(report, arguments.model));
  if (arguments.json) return print(reply_as_json(lens_figures(report, arguments.model)));
  const int width = arguments.width.value_or(terminal_width());
  print(narrowed(lens_table(report, arguments.model, width), width));
  print(pictures_report(arguments.pictures));
}

Fields<LensArguments> fields_of_lens() {
  Fields<LensArguments> fields;
  fields.add(lens_fields());
  fields.add(&LensArguments::json, json_field());
  fields.add(&LensArguments::pictures, picture_fields());
  fields.add(&LensArguments::width, {.name = "width",
                                     .form = "N",
                                     .meaning = "Columns to use",
                                     .least = 40,
                                     .most = 1000,
                                     .otherwise = "the terminal's, or 80"});
  fields.add(threads_flag());
  return fields;
}

}  // namespace

void add_lens(Commands& commands) {
  commands.add({.name = "lens",
                .group = "Look inside",
                .footer = "MODEL is one of the box, a model file of your own, or a folder as models are\n"
                          "published. docs/interventions.md says what the numbers are.\n"
                          "Examples:\n  qkv lens induction abcxyzb\n"
                          "  qkv lens gpt \"The cat sat on the\" --png lens.png\n"
                          "  qkv lens gpt \"The cats\" --token \" are\" --against \" is\"",
                .places = {"model", "text"}},
               fields_of_lens(), run_lens);
}

}  // namespace qkv::cli
