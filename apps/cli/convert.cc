// qkv convert: a model in another file or type.
#include "qkv/api/convert.h"

#include "commands.h"
#include "progress.h"

namespace qkv::cli {
namespace {

void run_convert(const Asked<ConvertRequest>& asked, const Given& /*all*/) {
  const ConvertFigures figures = [&] {
    WalkProgress progress(asked.how.speech(), WalkUnit::bytes);
    return convert(
        asked, [&](std::string_view stage, std::int64_t done, std::int64_t all) { progress.show(stage, done, all); });
  }();
  for (const std::string& what : figures.cautions) asked.how.careful(what);
  asked.how.tell(figures, [&] { return convert_as_text(figures, terminal_width()); });
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
               asked(convert_fields(), {"threads", "json", "no_progress"}), run_convert);
}

}  // namespace qkv::cli
