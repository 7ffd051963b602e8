// qkv convert: a model in another file or type.
#include "qkv/api/convert.h"

#include <string>

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

struct ConvertArguments : ConvertRequest, ThreadsFlag {
  bool json = false;
  bool quiet = false;
};

void run_convert(ConvertArguments& arguments, const Given& /*all*/) {
  const ConvertFigures figures = [&] {
    StagedProgress progress(arguments.quiet ? Speech::off : Speech::on, WalkUnit::bytes);
    return convert(arguments, [&](std::string_view stage, std::int64_t done, std::int64_t all) {
      progress.show(stage, done, all);
    });
  }();
  for (const std::string& what : figures.cautions) complain("qkv convert", "careful: " + what);
  print(arguments.json ? reply_as_json(figures) : convert_as_text(figures, terminal_width()));
}

Fields<ConvertArguments> fields_of_convert() {
  Fields<ConvertArguments> fields;
  fields.add(convert_fields());
  fields.add(threads_flag());
  fields.add(&ConvertArguments::json, json_field());
  fields.add(&ConvertArguments::quiet, no_progress_field());
  return fields;
}

}  // namespace

void add_convert(Commands& commands) {
  commands.add({.name = "convert",
                .group = "Models",
                .footer = "OUT appears whole, after all of it was read back and compared with MODEL, or\n"
                          "not at all. docs/models.md says what each type holds.\n"
                          "Examples:\n  qkv convert smollm2 smollm2.gguf --type q8_0\n"
                          "  qkv convert smollm2.gguf smollm2\n"
                          "  qkv convert gpt2 gpt2-f16 --type f16",
                .places = {"model", "out"}},
               fields_of_convert(), run_convert);
}

}  // namespace qkv::cli
