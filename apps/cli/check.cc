// qkv check: two files, element by element; or two models on a text.
#include <string>

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "progress.h"
#include "qkv/api/check_models.h"
#include "saying.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct CheckFlags : CheckAsked, ThreadsFlag {
  bool json = false;
  bool quiet = false;
};

Fields<CheckFlags> fields_of_check() {
  Fields<CheckFlags> fields;
  fields.add(check_asked_fields());
  fields.add(threads_flag());
  fields.add(&CheckFlags::json, json_field());
  fields.add(&CheckFlags::quiet, quiet_field("Print nothing; the exit code tells"));
  fields.info("quiet").excludes.emplace_back("text_file");
  return fields;
}

void run_check_of_models(const CheckFlags& flags) {
  const CheckModelsFigures figures = [&] {
    Progress progress;
    const auto show = [&](std::int64_t done, std::int64_t all) {
      progress.show(std::to_string(done) + " of " + std::to_string(all) + " tokens");
    };
    return check_models({.a = flags.a, .b = flags.b, .read = flags.models}, show, saying_of("qkv check"));
  }();
  print(flags.json ? reply_as_json(figures) : check_models_as_text(figures, terminal_width()));
}

void run_check(CheckFlags& flags, const Given& /*all*/) {
  if (!flags.models.text_file.empty()) return run_check_of_models(flags);
  const CheckReply reply = check(flags);
  if (!flags.quiet) {
    print(flags.json ? reply_as_json(check_figures(flags, reply)) : as_text(flags, reply, terminal_width()));
  }
  throw Exit{.code = reply.equal() ? kSuccess : kFailure};
}

}  // namespace

void add_check(Commands& commands) {
  commands.add({.name = "check",
                .group = "Attention",
                .footer = "Equal is |A - B| <= atol + rtol * |B| everywhere, and the same shapes and\n"
                          "element types. Infinities are equal to themselves, NaN to NaN. Archives (.npz,\n"
                          ".safetensors) are compared member by member.\n"
                          "Exit codes: 0 equal, 1 different or unreadable, 2 the request has no meaning.\n\n"
                          "With --text, A and B are models: how far B's answers are from A's, and in which\n"
                          "layers that begins. docs/models.md says what the numbers are.\n\n"
                          "Examples:\n  qkv check o.npy expected.npz:out --rtol 1e-4 --atol 1e-6\n"
                          "  qkv check smollm2.gguf smollm2-q4_0.gguf --text page.txt",
                .places = {"a", "b"}},
               fields_of_check(), run_check);
}

}  // namespace qkv::cli
