#include <string>
#include <vector>

#include "commands.h"
#include "help_text.h"

namespace qkv::cli {
namespace {

struct HelpFlags {
  std::vector<std::string> command;
  bool describes = false, own = false;
};

}  // namespace

void add_help(Commands& commands) {
  Fields<HelpFlags> fields;
  fields.add(&HelpFlags::command,
             {.name = "command", .form = "NAME", .meaning = "The command to explain", .example = "attend"});
  fields.add(&HelpFlags::describes,
             {.name = "describe", .meaning = "Print all commands with their options, as Markdown"});
  fields.add(&HelpFlags::own, {.name = "own",
                               .meaning = "Leave out the options that are fields of the command's question",
                               .needs = {"describe"}});
  commands.add({.name = "help",
                .summary = "How to use qkv, or one of its commands",
                .group = "About",
                .footer = "Examples:\n  qkv help attend\n  qkv help bench positions",
                .places = {"command"}},
               asked(fields, {}), [&commands](const Asked<HelpFlags>& asked, const Given& /*all*/) {
                 if (asked.describes)
                   return print(commands_as_markdown(commands, asked.own ? OptionsTold::own : OptionsTold::all));
                 const Command* const subject = commands.find_whole(asked.command);
                 print(subject == nullptr ? help_text(commands) : help_text(commands, *subject));
               });
}

}  // namespace qkv::cli
