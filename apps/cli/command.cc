#include "command.h"

#include <algorithm>

#include "qkv/api/field.h"
#include "qkv/api/questions.h"

namespace qkv::cli {
namespace {

std::string_view family_of(std::string_view name) {
  const std::size_t blank = name.find(' ');
  return blank == std::string_view::npos ? std::string_view{} : name.substr(0, blank);
}

}  // namespace

void misuse(const std::string& option, const std::string& expected, const std::string& got) {
  throw InvalidArgument("request", option, expected, got.empty() ? "\"\"" : got);
}

bool is_list(const FieldInfo& field) { return field.type == FieldType::texts || field.type == FieldType::wholes; }

std::string option_named(std::string_view field) {
  std::string option = "--" + std::string(field);
  std::ranges::replace(option, '_', '-');
  return option;
}

std::span<const FieldInfo> Command::infos() const {
  return fields == nullptr ? std::span<const FieldInfo>{} : fields->infos();
}

std::string Command::summary() const {
  const auto asked = std::ranges::find(questions(), help.name, &Question::command);
  if (asked == questions().end()) return help.summary;
  const std::string& meaning = asked->meaning;
  return meaning.substr(0, std::min(meaning.find(". "), meaning.size() - 1));
}

bool Command::is_place(const FieldInfo& field) const {
  return std::ranges::find(help.places, field.name) != help.places.end();
}

std::string Command::option_of(std::string_view field) const {
  if (const std::size_t bracket = field.find('['); bracket != std::string_view::npos && field.ends_with(']')) {
    return option_of(field.substr(0, bracket)) + std::string(field.substr(bracket));
  }
  const auto infos_of = infos();
  const auto found = std::ranges::find(infos_of, field, &FieldInfo::name);
  if (found == infos_of.end()) return std::string(field);
  const std::string& word = found->option.empty() ? found->name : found->option;
  if (!is_place(*found)) return option_named(word);
  std::string place = word;
  for (char& letter : place) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return place;
}

std::string Command::in_options(const std::string& message) const {
  const std::size_t begin = message.find_first_of("`\"");
  std::size_t end = begin == std::string::npos ? begin : message.find(message[begin], begin + 1);
  while (end != std::string::npos && message[end - 1] == '\\') end = message.find(message[begin], end + 1);
  if (end == std::string::npos) return message;
  std::string part = message.substr(begin, end + 1 - begin);
  if (message[begin] == '`') {
    const std::string name = message.substr(begin + 1, end - begin - 1);
    if (const std::string option = option_of(name); option != name) part = option;
  }
  return message.substr(0, begin) + part + in_options(message.substr(end + 1));
}

std::vector<const Command*> Commands::of_family(std::string_view family) const {
  std::vector<const Command*> found;
  for (const Command& command : all_) {
    if (family_of(command.help.name) == family) found.push_back(&command);
  }
  return found;
}

const Command& Commands::named(std::string_view family, const std::string& word) const {
  const std::string begin = family.empty() ? "" : std::string(family) + " ";
  std::vector<std::string> names;
  for (const Command* command : of_family(family)) {
    if (command->help.name == begin + word) return *command;
    names.push_back(command->help.name.substr(begin.size()));
  }
  const auto nearest = nearest_name(word, names);
  const std::string list = family.empty() ? "`qkv help`" : "`qkv help " + std::string(family) + "`";
  const std::string hint = nearest ? "; did you mean `" + begin + *nearest + "`?" : "; " + list + " lists them";
  throw Misuse("there is no command `" + begin + word + "`" + hint);
}

std::pair<const Command*, std::size_t> Commands::find(std::span<const std::string> words) const {
  const Command* command = nullptr;
  std::size_t taken = 0;
  for (; taken < words.size() && !words[taken].starts_with('-'); ++taken) {
    if (command != nullptr && command->fields != nullptr) break;
    command = &named(command == nullptr ? "" : command->help.name, words[taken]);
  }
  return {command, taken};
}

const Command* Commands::find_whole(std::span<const std::string> words) const {
  const auto [command, taken] = find(words);
  return taken == words.size() ? command : &named(command == nullptr ? "" : command->help.name, words[taken]);
}

}  // namespace qkv::cli
