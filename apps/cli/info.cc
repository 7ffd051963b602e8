// qkv info: what this copy is, and what the machine under it can do.
#include "qkv/api/info.h"

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct InfoFlags {
  bool json = false;
};

void run_info(InfoFlags& flags, const Given& /*all*/) {
  flags.json ? print(reply_as_json(answer(InfoRequest{}))) : print_text(info_as_text(terminal_width()));
}

}  // namespace

void add_info(Commands& commands) {
  commands.add({.name = "info",
                .summary = "Version, build, and the CPU targets found and chosen",
                .group = "About",
                .footer = "Example:\n  QKV_FORCE_TARGET=reference qkv info"},
               Fields<InfoFlags>().add(&InfoFlags::json, json_field()), run_info);
}

}  // namespace qkv::cli
