#include "empty_values.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "commands.h"
#include "output.h"

namespace qkv::cli {
namespace {

const CLI::Option* option_of_word(const CLI::App& command, const std::string& word) {
  if (!word.starts_with("--") || word.size() == 2) return nullptr;
  return command.get_option_no_throw(word.substr(0, word.find('=')));
}

bool takes_a_word(const CLI::Option& option) { return option.get_expected_max() > 0 && option.get_expected_min() > 0; }

[[noreturn]] void refuse_empty(const CLI::App& command, const CLI::Option& option) {
  const std::string expected = option.get_expected_max() == 0 ? "no value" : "a value behind =, or no =";
  complain(full_name(command), option.get_name() + ": expected " + expected + ", got \"\"");
  throw Exit{kMisuse};
}

}  // namespace

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<std::string> with_empty_values(const CLI::App& command, std::span<char* const> words) {
  std::vector<std::string> result;
  bool is_value = false;  // of the option before it, whatever it looks like
  bool is_option = true;  // behind `--` there are none
  for (std::string word : words) {
    const CLI::Option* option = is_value || !is_option ? nullptr : option_of_word(command, word);
    if (!is_value && word == "--") is_option = false;
    is_value = option != nullptr && takes_a_word(*option) && word.find('=') == std::string::npos;
    const bool is_empty = option != nullptr && word.find('=') == word.size() - 1;
    if (!is_empty) {
      result.push_back(std::move(word));
      continue;
    }
    if (!takes_a_word(*option)) refuse_empty(command, *option);
    word.pop_back();
    result.push_back(std::move(word));
    result.emplace_back();
  }
  return result;
}

}  // namespace qkv::cli
