#include "common_options.h"

namespace qkv::cli {

Fields<ThreadsFlag> threads_flag(const std::string& group) {
  Fields<ThreadsFlag> fields;
  fields.add(&ThreadsFlag::threads, threads_field(group));
  return fields;
}

FieldInfo json_field(const std::string& meaning, const std::string& group) {
  return {.name = "json", .meaning = meaning, .group = group};
}

FieldInfo quiet_field(const std::string& meaning, const std::string& group) {
  return {.name = "quiet", .meaning = meaning, .group = group, .excludes = {"json"}, .reasons = {{"json", kOneThing}}};
}

FieldInfo no_progress_field() { return {.name = "quiet", .meaning = "Without progress on standard error"}; }

Fields<TerminalLook> terminal_fields(const std::string& group) {
  Fields<TerminalLook> fields;
  fields.add(&TerminalLook::color, {.name = "color",
                                    .form = "WHEN",
                                    .meaning = "In the terminal: auto, true, 256 or never",
                                    .group = group,
                                    .words = {"auto", "true", "256", "never"},
                                    .excludes = {"json"}});
  fields.add(&TerminalLook::width, {.name = "width",
                                    .form = "N",
                                    .meaning = "Columns to use",
                                    .group = group,
                                    .least = 20,
                                    .most = 1000,
                                    .excludes = {"json"},
                                    .otherwise = "the terminal's, or 80"});
  return fields;
}

}  // namespace qkv::cli
