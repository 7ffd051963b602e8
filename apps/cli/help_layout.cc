#include "help_layout.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <utility>

#include "qkv/picture/terminal.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

constexpr int kWidest = 80;
constexpr int kCommandColumn = 13;

int width_of_help() { return std::min(kWidest, terminal_width()); }

// Where what an option does begins: in a narrow terminal below its name.
int option_column() { return width_of_help() < 60 ? 6 : 28; }

std::string wrapped_text(const std::string& text) {
  std::string out;
  for (const std::string& line : wrapped(text, width_of_help())) out += (out.empty() ? "" : "\n") + line;
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

std::string names_of(const CLI::Option& option, bool is_positional) {
  if (is_positional) return option.get_name(true, false);
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  return names;
}

std::string value_of(const CLI::Option& option, bool is_positional) {
  if (is_positional) return "";
  if (!option.get_option_text().empty()) return option.get_option_text();
  if (option.get_type_size() == 0) return "";
  return " " + option.get_type_name();
}

std::string listed(const std::set<CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options) text += (text.empty() ? "" : ", ") + option->get_name();
  return text;
}

}  // namespace

// One empty line between groups; CLI11 leaves two.
std::string HelpLayout::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string out;
  for (const char c : CLI::Formatter::make_help(app, std::move(name), mode)) {
    if (!(c == '\n' && out.ends_with("\n\n"))) out += c;
  }
  return narrowed(out, width_of_help());
}

std::string HelpLayout::make_description(const CLI::App* app) const {
  return wrapped_text(app->get_description()) + "\n\n";
}

std::string HelpLayout::make_group(std::string group, bool is_positional,
                                   std::vector<const CLI::Option*> options) const {
  std::string out = "\n" + wrapped_text(group + ":") + "\n";
  for (const CLI::Option* option : options) out += make_option(option, is_positional);
  return out;
}

std::string HelpLayout::make_subcommands(const CLI::App* app, CLI::AppFormatMode /*mode*/) const {
  std::vector<std::string> groups;
  for (const CLI::App* command : app->get_subcommands({})) {
    if (std::ranges::find(groups, command->get_group()) == groups.end()) groups.push_back(command->get_group());
  }
  std::string out;
  for (const std::string& group : groups) {
    out += "\n" + group + ":\n";
    for (const CLI::App* command : app->get_subcommands({})) {
      if (command->get_group() == group) out += row(command->get_name(), command->get_description(), kCommandColumn);
    }
  }
  return out;
}

std::string HelpLayout::make_option(const CLI::Option* option, bool is_positional) const {
  std::string right = option->get_description();
  if (!option->get_default_str().empty()) right += " [" + option->get_default_str() + "]";
  if (option->get_required()) right += " (required)";
  if (!option->get_needs().empty()) right += " (with " + listed(option->get_needs()) + ")";
  if (!option->get_excludes().empty()) right += " (not with " + listed(option->get_excludes()) + ")";
  return row(names_of(*option, is_positional) + value_of(*option, is_positional), right, option_column());
}

}  // namespace qkv::cli
