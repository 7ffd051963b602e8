// qkv check: two files, element by element.
#include "qkv/view/check.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "field_options.h"
#include "output.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct CheckFlags : CheckRequest {
  bool json = false;
  bool quiet = false;
};

void run(const CheckFlags& flags) {
  const CheckReply reply = check(flags);
  if (!flags.quiet) print(flags.json ? as_json(flags, reply) : as_text(flags, reply, terminal_width()));
  throw Exit{.code = reply.equal() ? kSuccess : kFailure};
}

}  // namespace

void add_check(CLI::App& app) {
  CLI::App* command = app.add_subcommand("check", "Compare two files and print the worst place");
  command->group("Compute");
  command->footer(
      "Equal is |A - B| <= atol + rtol * |B| everywhere, and the same shapes and\n"
      "element types. Infinities are equal to themselves, NaN to NaN. Archives (.npz,\n"
      ".safetensors) are compared member by member.\n"
      "Exit codes: 0 equal, 1 different or unreadable, 2 the request has no meaning.\n\n"
      "Example:\n  qkv check o.npy expected.npz:out --rtol 1e-4 --atol 1e-6");
  const auto flags = std::make_shared<CheckFlags>();
  command->add_option("A", flags->a, "A file: FILE.npy, FILE.npz[:NAME] or FILE.safetensors[:NAME]")->required();
  command->add_option("B", flags->b, "What it should be")->required();
  add_fields<CheckRequest>(*command, *flags, check_fields(), 2);
  auto* json = command->add_flag("--json", flags->json, "Print JSON");
  command->add_flag("--quiet", flags->quiet, "Print nothing; the exit code tells")->excludes(json);
  command->callback([flags] { run(*flags); });
}

}  // namespace qkv::cli
