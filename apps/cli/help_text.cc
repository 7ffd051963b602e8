#include "help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

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

std::string listed(const Command& command, std::span<const std::string> fields) {
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : ", ") + command.option_of(field);
  return text;
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

// One of two fields that exclude each other says so.
std::vector<std::string> excluded_by(const Command& command, const FieldInfo& field) {
  std::vector<std::string> others = field.excludes;
  for (const FieldInfo& other : command.infos()) {
    const bool names_it = std::ranges::find(other.excludes, field.name) != other.excludes.end();
    if (names_it && std::ranges::find(others, other.name) == others.end()) others.push_back(other.name);
  }
  return others;
}

std::string option_row(const Command& command, const FieldInfo& field) {
  std::string right = field.meaning;
  if (!field.fallback.empty()) right += " [" + field.fallback + "]";
  if (field.required) right += " (required)";
  if (!field.needs.empty()) right += " (with " + listed(command, field.needs) + ")";
  const std::vector<std::string> others = excluded_by(command, field);
  if (!others.empty()) right += " (not with " + listed(command, others) + ")";
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
  std::vector<std::pair<std::string, std::string>> groups = {
      {kOptions, row("-h, --help", "Print this", option_column())}};
  for (const FieldInfo& field : command.infos()) {
    if (command.is_place(field)) continue;
    const std::string& group = field.group.empty() ? kOptions : field.group;
    auto found = std::ranges::find(groups, group, [](const auto& one) { return one.first; });
    if (found == groups.end()) found = groups.insert(groups.end(), {group, ""});
    found->second += option_row(command, field);
  }
  std::string text;
  for (const auto& [group, rows] : groups) text += "\n" + wrapped_text(group + ":") + rows;
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
      text += row(name.substr(name.find(' ') + 1), command->help.summary, kCommandColumn);
    }
  }
  return text;
}

}  // namespace

std::string help_text(const Commands& commands, const Command& command) {
  std::string text = wrapped_text(command.help.summary) + usage(command) + places(command) + options(command);
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

std::string commands_as_markdown(const Commands& commands) {
  std::string text;
  for (const Command& command : commands.all()) {
    if (command.fields == nullptr) continue;
    std::vector<FieldInfo> options(command.infos().begin(), command.infos().end());
    for (FieldInfo& option : options) option.name = command.option_of(option.name);
    text +=
        fmt::format("### `{}`\n\n{}.\n\n{}\n", command.full_name(), command.help.summary, fields_as_markdown(options));
  }
  return text;
}

}  // namespace qkv::cli
