// qkv lens: what a model would say after each layer, and what adds up to a logit.
#include "qkv/api/lens.h"

#include "commands.h"

namespace qkv::cli {
namespace {

void run_lens(const Asked<LensRequest>& asked, const Given& /*all*/) {
  const Pictures& pictures = asked.how.pictures;
  const LensReport report = found_lens(asked, asked.how.saying());
  if (!pictures.empty()) write_pictures(pictures, lens_panel(report, asked.model));
  if (asked.how.json) return asked.how.tell(lens_figures(report, asked.model));
  const int width = asked.how.terminal().width;
  print(narrowed(lens_table(report, asked.model, width), width) + pictures_report(pictures));
}

}  // namespace

void add_lens(Commands& commands) {
  auto fields = asked(lens_fields(), {"json", "pictures", "width", "threads"});
  fields.give_bounds({{"width", 40, 1000}});
  fields.give_examples({{"width", "60"}});
  commands.add({.name = "lens",
                .group = "Look inside",
                .footer = std::string(kModelIs) + "docs/interventions.md says what the numbers are.\n"
                                                  "Examples:\n  qkv lens induction abcxyzb\n"
                                                  "  qkv lens gpt \"The cat sat on the\" --png lens.png\n"
                                                  "  qkv lens gpt \"The cats\" --token \" are\" --against \" is\"",
                .places = {"model", "text"}},
               std::move(fields), run_lens);
}

}  // namespace qkv::cli
