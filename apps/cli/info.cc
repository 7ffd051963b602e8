// qkv info: what this copy is, and what the machine under it can do; or what is in a file.
#include "qkv/api/info.h"

#include "commands.h"
#include "qkv/api/contents.h"

namespace qkv::cli {
namespace {

struct InfoFlags : InfoRequest {
  bool tensors = false;
};

void run_info(const Asked<InfoFlags>& asked, const Given& /*all*/) {
  if (asked.file.empty()) return asked.how.tell(machine_info(), [] { return info_as_text(terminal_width()); });
  const Contents contents = contents_of(asked.file);
  const auto lines = asked.tensors ? ContentsLines::each : ContentsLines::grouped;
  asked.how.tell(contents, [&] { return contents_as_text(contents, terminal_width(), lines); });
}

}  // namespace

void add_info(Commands& commands) {
  Fields<InfoFlags> fields;
  fields.add(info_fields());
  fields.add(&InfoFlags::tensors,
             {.name = "tensors", .meaning = "Each tensor in a line of its own", .needs = {"file"}});
  auto all = asked(fields, {"json"});
  all.exclude({"tensors"}, {"json"}, "it has every tensor");
  commands.add({.name = "info",
                .group = "About",
                .footer = "Examples:\n  QKV_FORCE_TARGET=reference qkv info\n  qkv info model.gguf",
                .places = {"file"}},
               std::move(all), run_info);
}

}  // namespace qkv::cli
