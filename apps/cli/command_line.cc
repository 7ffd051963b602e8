#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

namespace qkv::cli {
namespace {

bool is_flag(const FieldInfo& field) { return field.type == FieldType::flag || field.type == FieldType::toggle; }

// The field of "--out", "--out=x" or "-o".
const FieldInfo* field_of_word(const Command& command, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  for (const FieldInfo& field : command.infos()) {
    const bool is_letter = field.letter != 0 && word.size() == 2 && word[0] == '-' && word[1] == field.letter;
    if (is_letter || (!command.is_place(field) && command.option_of(field.name) == name)) return &field;
  }
  return nullptr;
}

bool is_value_of(const FieldInfo& field, std::string_view word) {
  try {
    static_cast<void>(field_value(field, word));
    return !field.words.empty();
  } catch (const InvalidArgument&) {
    return false;
  }
}

[[noreturn]] void refuse_empty(const Command& command, const FieldInfo& field) {
  misuse(command.option_of(field.name), is_flag(field) ? "no value" : "a value behind =, or no =", "");
}

// The words as CLI11 reads them: an option that may stand alone has its value, and an empty value behind = is a word of
// its own.
std::vector<std::string> words_for_parser(const Command& command, std::span<const std::string> words) {
  std::vector<std::string> result;
  for (std::size_t n = 0; n < words.size(); ++n) {
    const std::string& word = words[n];
    if (word == "--") {  // behind it are no options
      result.insert(result.end(), words.begin() + static_cast<std::ptrdiff_t>(n), words.end());
      break;
    }
    const FieldInfo* field = field_of_word(command, word);
    const std::size_t equals = word.find('=');
    if (field == nullptr || (is_flag(*field) && equals != word.size() - 1)) {
      result.push_back(word);
    } else if (equals == word.size() - 1) {
      if (is_flag(*field) || field->alone) refuse_empty(command, *field);
      result.push_back(word.substr(0, equals));
      result.emplace_back();
    } else if (field->alone && equals == std::string::npos) {
      const bool has_value = n + 1 < words.size() && is_value_of(*field, words[n + 1]);
      result.push_back(word + "=" + (has_value ? words[++n] : *field->alone));
    } else {
      result.push_back(word);
      if (equals != std::string::npos) continue;
      if (n + 1 == words.size()) misuse(command.option_of(field->name), "a value", "none");
      result.push_back(words[++n]);  // whatever it looks like
    }
  }
  return result;
}

std::string option_text(const Command& command, const FieldInfo& field) {
  std::string option = command.option_of(field.name);
  if (field.letter != 0) option += std::string(",-") + field.letter;
  if (field.type == FieldType::toggle) option += ",!" + option_named("no_" + field.name);
  return option;
}

CLI::Option* add_option(CLI::App& app, const Command& command, const FieldInfo& field) {
  const std::string name = option_text(command, field);
  CLI::Option* option = is_flag(field) ? app.add_flag(name) : app.add_option(name);
  if (command.is_place(field) && field.type == FieldType::texts) {
    return option->expected(CLI::detail::expected_max_vector_size);
  }
  return option->take_all()->expected(is_flag(field) ? 0 : 1)->allow_extra_args(false);
}

// Of the words that are left over, the first that looks like an option; CLI11 would list them backwards.
void refuse_option(const Command& command, const std::vector<std::string>& rest) {
  const auto unknown =
      std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with('-') && word.size() > 1; });
  if (unknown == rest.end()) return;
  std::vector<std::string> names{"--help"};
  for (const FieldInfo& field : command.infos()) {
    if (!command.is_place(field)) names.push_back(command.option_of(field.name));
  }
  const FieldInfo* const meant = field_called(command.infos(), unknown->substr(0, unknown->find('=')));
  refuse_unknown_option(command.full_name(), names, *unknown, meant == nullptr ? "" : command.option_of(meant->name));
}

// A word behind an option that may stand alone is its value if it may be: whoever wrote "--why wibble" meant it to be.
void refuse_value(const Command& command, std::span<const std::string> words, const std::string& left_over) {
  for (std::size_t n = 1; n < words.size(); ++n) {
    const FieldInfo* const field = field_of_word(command, words[n - 1]);
    const bool may_stand_alone = field != nullptr && field->alone && !field->words.empty();
    if (may_stand_alone && words[n] == left_over) static_cast<void>(field_value(*field, left_over));
  }
}

[[noreturn]] void refuse_rest(const Command& command, std::span<const std::string> words, const CLI::App& app,
                              const std::vector<std::string>& rest) {
  refuse_option(command, rest);
  refuse_value(command, words, rest.front());
  const CLI::Option* text = app.get_option_no_throw("TEXT");
  if (text != nullptr && !text->empty()) {  // words that the shell parted, where the command takes one text
    std::string whole = text->results().front();
    for (const std::string& word : rest) whole += " " + word;
    throw Misuse("TEXT: put a text of several words in quotes: " + command.full_name() + " \"" + whole + "\"");
  }
  throw Misuse("there is no place for " + rest.front());
}

FieldValue value_of(const Command& command, const FieldInfo& field, const std::string& text) {
  const bool is_place = command.is_place(field);
  if (is_flag(field)) {
    if (text != "true" && text != "false") misuse(command.option_of(field.name), "no value", "\"" + text + "\"");
    return text == "true";
  }
  const bool is_path = field.form == "FILE" || field.form == "FILE.html" || field.form == "DIR";
  if (is_path && !is_place && text.size() > 1 && text.starts_with('-')) {
    misuse(command.option_of(field.name), "a name, with ./ before one that begins with -", "\"" + text + "\"");
  }
  return field_value(field, text);
}

FieldValue list_of(const Command& command, const FieldInfo& field, std::span<const std::string> texts) {
  std::vector<FieldValue> parts;
  for (const std::string& text : texts) parts.push_back(value_of(command, field, text));
  return one_list(field, parts);
}

}  // namespace

void refuse_unknown_option(const std::string& command, std::span<const std::string> names, const std::string& word,
                           const std::string& meant) {
  if (!word.starts_with("--")) {
    throw Misuse("there is no option " + word + "; before a name that begins with - put ./ or, before all of them, --");
  }
  const std::string message = there_is_no("option", word.substr(0, word.find('=')), names, meant);
  throw Misuse(message + (message.ends_with('?') ? "" : "; `" + command + " --help` lists them"));
}

CommandLine read_command_line(const Command& command, std::span<const std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const CLI::Option* help = app.add_flag("-h,--help");
  std::vector<std::pair<std::size_t, const CLI::Option*>> options;
  for (std::size_t n = 0; n < command.infos().size(); ++n) {
    options.emplace_back(n, add_option(app, command, command.infos()[n]));
  }
  std::vector<std::string> reversed = words_for_parser(command, words);
  std::ranges::reverse(reversed);  // as CLI11 takes them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    throw Misuse(error.what());
  }
  if (help->count() > 0) return {.asks_for_help = true};
  std::vector<std::string> rest = app.remaining();
  if (const auto end = std::ranges::find(rest, "--"); end != rest.end()) rest.erase(end);
  if (!rest.empty()) refuse_rest(command, words, app, rest);
  CommandLine line;
  for (const auto& [n, option] : options) {
    const FieldInfo& field = command.infos()[n];
    const auto given = option->count();
    if (given > 1 && !is_flag(field) && !is_list(field)) {
      misuse(option->get_name(), "it once", given == 2 ? "it twice" : "it " + std::to_string(given) + " times");
    }
    const std::vector<std::string>& texts = option->results();
    if (std::ranges::adjacent_find(texts, std::ranges::not_equal_to()) != texts.end() && is_flag(field)) {
      const std::string name = command.option_of(field.name);
      misuse(name, "one of " + name + " and " + option_named("no_" + field.name), "both");
    }
    if (is_list(field) && !texts.empty()) {
      line.values.emplace_back(n, list_of(command, field, texts));
      continue;
    }
    for (const std::string& text : texts) line.values.emplace_back(n, value_of(command, field, text));
  }
  require_company(command.infos(), line.values);
  return line;
}

}  // namespace qkv::cli
