// qkv info: what this copy is, and what the machine under it can do; or what is in a file.
#include "qkv/api/info.h"

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/contents.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct InfoFlags : InfoRequest {
  bool tensors = false;
  bool json = false;
};

void run_info(InfoFlags& flags, const Given& /*all*/) {
  if (flags.file.empty()) {
    return flags.json ? print(reply_as_json(machine_info())) : print_text(info_as_text(terminal_width()));
  }
  const Contents contents = contents_of(flags.file);
  const auto lines = flags.tensors ? ContentsLines::each : ContentsLines::grouped;
  flags.json ? print(reply_as_json(contents)) : print_text(contents_as_text(contents, terminal_width(), lines));
}

Fields<InfoFlags> fields_of_info() {
  Fields<InfoFlags> fields;
  fields.add(info_fields());
  fields.add(&InfoFlags::tensors,
             {.name = "tensors", .meaning = "Each tensor in a line of its own", .needs = {"file"}});
  fields.add(&InfoFlags::json, json_field());
  fields.exclude({"tensors"}, {"json"}, "it has every tensor");
  return fields;
}

}  // namespace

void add_info(Commands& commands) {
  commands.add({.name = "info",
                .group = "About",
                .footer = "Examples:\n  QKV_FORCE_TARGET=reference qkv info\n  qkv info model.gguf",
                .places = {"file"}},
               fields_of_info(), run_info);
}

}  // namespace qkv::cli
