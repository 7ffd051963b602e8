#include "help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "qkv/api/questions.h"
#include "qkv/picture/terminal.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

constexpr int kWidest = 80;
constexpr int kCommandColumn = 13;
constexpr const char* kOptions = "Options";

int width_of_help() { return std::min(kWidest, terminal_width()); }

// Where what an option does begins: in a narrow terminal below its name.
int option_column() { return width_of_help() < 60 ? 6 : 28; }

std::string wrapped_text(const std::string& text) {
  std::string out;
  for (const std::string& line : wrapped(text, width_of_help())) out += line + "\n";
  return out;
}

// "  left   right", the right side from `column` on; below, where the left side reaches into it.
std::string row(const std::string& left, const std::string& right, int column) {
  const auto blanks = [](int count) { return std::string(static_cast<std::size_t>(count), ' '); };
  const int width = 2 + display_width(left);
  std::string out = "  " + left + (width + 2 > column ? "\n" + blanks(column) : blanks(column - width));
  bool is_first = true;
  for (const std::string& line : wrapped(right, width_of_help() - column)) {
    out += (is_first ? "" : blanks(column)) + line + "\n";
    is_first = false;
  }
  return out;
}

// "--no-x" beside "--x", "[=KIND]" of what may stand alone.
std::string names_of(const Command& command, const FieldInfo& field) {
  std::string names = command.option_of(field.name);
  if (command.is_place(field)) return names;
  if (field.letter != 0) names = fmt::format("-{}, {}", field.letter, names);
  if (field.type == FieldType::toggle) return names + ", " + option_named("no_" + field.name);
  if (field.type == FieldType::flag) return names;
  return names + (field.alone ? "[=" + field.form + "]" : " " + field.form);
}

// What none of the options of a group stands beside, where there are enough of them to say it once.
std::vector<std::string> said_of_group(const Command& command, std::span<const FieldInfo* const> group) {
  constexpr std::size_t kFew = 3;
  return group.size() < kFew ? std::vector<std::string>() : excluded_by_all(command.infos(), group);
}

ShownName shown_in(const Command& command) {
  return [&command](std::string_view name) { return command.option_of(name); };
}

// Without what the heading of its group says.
std::string option_row(const Command& command, const FieldInfo& field, std::span<const std::string> said = {}) {
  constexpr std::size_t kMostNamed = 6;
  std::string right = command.in_options(field.meaning) + bounds_in_help(field);
  if (field.is_text) right += "; - is standard input";
  if (is_list(field) && !command.is_place(field)) right += "; may be given again";
  const std::string value = field.fallback.empty() ? command.in_options(field.otherwise) : field.fallback;
  if (!value.empty()) right += " [" + value + "]";
  const std::string company = company_of(command.infos(), field, shown_in(command), kMostNamed, said);
  if (!company.empty()) right += " (" + company + ")";
  return row(names_of(command, field), right, option_column());
}

std::string usage(const Command& command) {
  std::string text = "\nUsage: " + command.full_name() + " [OPTIONS]";
  for (const FieldInfo& field : command.infos()) {
    if (!command.is_place(field)) continue;
    const std::string place = command.option_of(field.name) + (field.type == FieldType::texts ? "..." : "");
    text += field.required ? " " + place : " [" + place + "]";
  }
  return text + (command.fields == nullptr ? " SUBCOMMAND\n" : "\n");
}

std::string places(const Command& command) {
  std::string text;
  for (const FieldInfo& field : command.infos()) {
    if (command.is_place(field)) text += option_row(command, field);
  }
  return text.empty() ? "" : "\nPositionals:\n" + text;
}

// The options by their groups, in the order in which the first of each stands.
std::string options(const Command& command) {
  std::vector<std::pair<std::string, std::vector<const FieldInfo*>>> groups = {{kOptions, {}}};
  for (const FieldInfo& field : command.infos()) {
    if (command.is_place(field)) continue;
    const std::string& group = field.group.empty() ? kOptions : field.group;
    auto found = std::ranges::find(groups, group, [](const auto& one) { return one.first; });
    if (found == groups.end()) found = groups.insert(groups.end(), {group, {}});
    found->second.push_back(&field);
  }
  std::string text;
  for (const auto& [group, fields] : groups) {
    const std::vector<std::string> said = said_of_group(command, fields);
    const std::string excluded = said.empty() ? "" : " (" + not_beside(said, shown_in(command)) + ")";
    text += "\n" + wrapped_text(group + excluded + ":");
    if (group == kOptions) text += row("-h, --help", "Print this", option_column());
    for (const FieldInfo* field : fields) text += option_row(command, *field, said);
  }
  return text;
}

std::string grouped(std::span<const Command* const> commands) {
  std::vector<std::string> groups;
  for (const Command* command : commands) {
    if (std::ranges::find(groups, command->help.group) == groups.end()) groups.push_back(command->help.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const Command* command : commands) {
      if (command->help.group != group) continue;
      const std::string& name = command->help.name;
      text += row(name.substr(name.find(' ') + 1), command->summary(), kCommandColumn);
    }
  }
  return text;
}

}  // namespace

std::string help_text(const Commands& commands, const Command& command) {
  std::string text = wrapped_text(command.summary()) + usage(command) + places(command) + options(command);
  if (command.fields == nullptr) text += grouped(commands.of_family(command.help.name));
  return narrowed(text + "\n" + command.help.footer + "\n", width_of_help());
}

std::string help_text(const Commands& commands) {
  const int column = option_column();
  std::string text = wrapped_text("qkv: exact attention that shows its work");
  text += "\nUsage: qkv [OPTIONS] [SUBCOMMAND]\n\nOptions:\n";
  text += row("--version", "Print the version", column) + row("-h, --help", "Print this", column);
  text += grouped(commands.of_family(""));
  text +=
      "\n`qkv COMMAND --help` explains a command and shows an example.\n"
      "Exit codes: 0 done, 1 it failed (or: the files differ), 2 the request has no\n"
      "meaning, 130 stopped by Ctrl-C.\n";
  return narrowed(text, width_of_help());
}

namespace {

std::string fields_in_markdown(const Command& command, OptionsTold told) {
  const auto shown = [&](std::string_view name) { return command.option_of(name); };
  const auto asks = [&](const Question& one) { return one.command == command.help.name; };
  const auto question = std::ranges::find_if(questions(), asks);
  if (question == questions().end() || told == OptionsTold::all) return fields_as_markdown(command.infos(), shown);
  return fields_as_markdown({.heading = question->name, .fields = question->fields}, command.infos(), shown);
}

}  // namespace

std::string commands_as_markdown(const Commands& commands, OptionsTold told) {
  std::string text;
  for (const Command& command : commands.all()) {
    if (command.fields == nullptr) continue;
    text += fmt::format("### `{}`\n\n{}.\n\n{}\n", command.full_name(), command.summary(),
                        fields_in_markdown(command, told));
  }
  return text;
}

}  // namespace qkv::cli
