// qkv check: two files, element by element.
#include "qkv/api/check.h"

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct CheckFlags : CheckRequest {
  bool json = false;
  bool quiet = false;
};

Fields<CheckFlags> fields_of_check() {
  Fields<CheckFlags> fields;
  fields.add(check_fields());
  fields.add(&CheckFlags::json, json_field());
  fields.add(&CheckFlags::quiet, quiet_field("Print nothing; the exit code tells"));
  return fields;
}

void run_check(CheckFlags& flags, const Given& /*all*/) {
  const CheckReply reply = check(flags);
  if (!flags.quiet) print(flags.json ? as_json(flags, reply) : as_text(flags, reply, terminal_width()));
  throw Exit{.code = reply.equal() ? kSuccess : kFailure};
}

}  // namespace

void add_check(Commands& commands) {
  commands.add({.name = "check",
                .summary = "Compare two files and print the worst place",
                .group = "Attention",
                .footer = "Equal is |A - B| <= atol + rtol * |B| everywhere, and the same shapes and\n"
                          "element types. Infinities are equal to themselves, NaN to NaN. Archives (.npz,\n"
                          ".safetensors) are compared member by member.\n"
                          "Exit codes: 0 equal, 1 different or unreadable, 2 the request has no meaning.\n\n"
                          "Example:\n  qkv check o.npy expected.npz:out --rtol 1e-4 --atol 1e-6",
                .places = {"a", "b"}},
               fields_of_check(), run_check);
}

}  // namespace qkv::cli
