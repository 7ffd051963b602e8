// qkv check: two files, element by element; or two models on a text.
#include "commands.h"
#include "qkv/api/check_models.h"

namespace qkv::cli {
namespace {

void run_check_of_models(const Asked<CheckAsked>& asked) {
  const CheckModelsFigures figures = [&] {
    Progress progress;
    const auto show = [&](std::int64_t done, std::int64_t all) {
      progress.show(std::to_string(done) + " of " + std::to_string(all) + " tokens");
    };
    return check_models({.a = asked.a, .b = asked.b, .read = asked.models}, show, asked.how.saying());
  }();
  asked.how.tell(figures, [&] { return check_models_as_text(figures, terminal_width()); });
}

void run_check(const Asked<CheckAsked>& asked, const Given& /*all*/) {
  if (!asked.models.file.empty()) return run_check_of_models(asked);
  const CheckReply reply = check(asked);
  if (!asked.how.quiet) {
    asked.how.tell(check_figures(asked, reply), [&] { return as_text(asked, reply, terminal_width()); });
  }
  throw Exit{reply.equal() ? kSuccess : kFailure};
}

}  // namespace

void add_check(Commands& commands) {
  auto fields = asked(check_asked_fields(), {"json", "quiet", "threads"});
  fields.info("quiet").meaning = "Print nothing; the exit code tells";
  fields.info("quiet").excludes.emplace_back("file");
  commands.add({.name = "check",
                .group = "Attention",
                .footer = "Equal is |A - B| <= atol + rtol * |B| everywhere, and the same shapes and\n"
                          "element types. Infinities are equal to themselves, NaN to NaN. Archives (.npz,\n"
                          ".safetensors) are compared member by member.\n"
                          "Exit codes: 0 equal, 1 different or unreadable, 2 the request has no meaning.\n\n"
                          "With --file, A and B are models: how far B's answers are from A's, and in which\n"
                          "layers that begins. docs/models.md says what the numbers are.\n\n"
                          "Examples:\n  qkv check o.npy expected.npz:out --rtol 1e-4 --atol 1e-6\n"
                          "  qkv check smollm2.gguf smollm2-q4_0.gguf --file page.txt",
                .places = {"a", "b"}},
               std::move(fields), run_check);
}

}  // namespace qkv::cli
