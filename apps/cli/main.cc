// qkv: reads the command line, hands over to one subcommand, and turns what it throws into a line and an exit code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.h"
#include "empty_values.h"
#include "find_command.h"
#include "help_layout.h"
#include "misuse.h"
#include "output.h"
#include "qkv/bias.h"
#include "qkv/cancel.h"
#include "qkv/error.h"
#include "qkv/info.h"
#include "qkv/mask.h"
#include "qkv/nearest_word.h"
#include "qkv/threads.h"
#include "text_or_none.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

// An empty value is a slip of the shell, such as a variable that is not set; an option that may stand alone has one
// too.
void require_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const auto& values = option->results();
    const bool may_be_empty = option->get_type_name() == kTextOrNone;
    const bool wants_value = option->nonpositional() && option->get_expected_min() > 0 && !may_be_empty;
    const bool empty = wants_value && std::find(values.begin(), values.end(), "") != values.end();
    if (empty) misuse(option->get_name(), "a value", "\"\"");
  }
}

// `--causal=yes`: CLI11 would say that it could not convert, or what a function of the standard library throws. A flag
// that may be given once alone, --all, reads its value itself.
void require_no_values(CLI::App& command) {
  const auto complaint = [](const std::string& value) -> std::string {
    return value == "true" || value == "false" ? "" : "expected no value, got \"" + value + "\"";
  };
  for (CLI::Option* option : command.get_options()) {
    const bool is_flag = option->get_expected_max() == 0;
    if (is_flag && option->get_multi_option_policy() != CLI::MultiOptionPolicy::Throw) {
      option->check(CLI::Validator(complaint, ""));
    }
  }
}

// CLI11 lets an option of several values take every word that follows, also what stands for itself.
void take_one_word_each(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) option->allow_extra_args(false);
  }
}

// The models are then looked for elsewhere.
void say_box_that_is_missing(const CLI::App& command) {
  const char* const box = std::getenv("QKV_MODELS");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  const bool takes_model =
      command.get_option_no_throw("MODEL") != nullptr || command.get_option_no_throw("--model") != nullptr;
  std::error_code none;
  if (box == nullptr || *box == 0 || !takes_model || std::filesystem::is_directory(box, none)) return;
  complain(full_name(command), "careful: QKV_MODELS: expected a folder of models, got \"" + std::string(box) + "\"");
}

void add_commands(CLI::App& app) {
  add_attend(app);
  add_bench(app);
  add_check(app);
  add_cost(app);
  add_embed(app);
  add_explain(app);
  add_fetch(app);
  add_fill(app);
  add_generate(app);
  add_mask(app);
  add_match(app);
  add_probe(app);
  add_task(app);
  add_tokens(app);
  add_train(app);
  add_view(app);
  add_analyze(app);
  add_change(app);
  add_lens(app);
  add_info(app);
  add_help(app);
  for (CLI::App* command : app.get_subcommands({})) {
    take_one_word_each(*command);
    require_no_values(*command);
    command->parse_complete_callback([command] {
      require_values(*command);
      const bool explains = command->get_name() == "help" || command->get_help_ptr()->count() > 0;
      if (explains) return;
      static_cast<void>(threads());  // a QKV_THREADS without meaning is an error of every command
      say_box_that_is_missing(*command);
    });
    for (CLI::App* nested : command->get_subcommands({})) {
      take_one_word_each(*nested);
      require_no_values(*nested);
      nested->parse_complete_callback([nested] { require_values(*nested); });
    }
  }
}

void describe(CLI::App& app) {
  app.name("qkv");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "qkv " + std::string(build_info().version), "Print the version");
  app.formatter(std::make_shared<HelpLayout>());
  app.set_help_flag("-h,--help", "Print this");
  app.footer(
      "`qkv COMMAND --help` explains a command and shows an example.\n"
      "Exit codes: 0 done, 1 it failed (or: the files differ), 2 the request has no\n"
      "meaning, 130 stopped by Ctrl-C.");
}

// The innermost command that was called.
const CLI::App& running_of(const CLI::App& app) {
  const CLI::App* running = &app;
  while (!running->get_subcommands().empty()) running = running->get_subcommands().front();
  return *running;
}

bool is_word(std::span<const Word> words, std::string_view name) {
  return std::ranges::find(words, name, &Word::word) != words.end();
}

// The word of the mask or bias language that the user wrote for a function of the library; none for another's name.
std::string_view word_of(std::string_view function) {
  constexpr std::pair<std::string_view, std::string_view> kOtherwiseNamed[] = {
      {"key_lengths", "keys"}, {"block_sparse", "blocks"}, {"global_tokens", "global"}, {"global_tokens_at", "global"},
      {"t5_bias", "t5"},       {"dense_bias", "dense"},    {"causal_offsets", "causal"}};
  for (const auto& [name, word] : kOtherwiseNamed) {
    if (name == function) return word;
  }
  return is_word(mask_words(), function) || is_word(bias_words(), function) ? function : "";
}

// The option, or what stands alone, that has the name of this field or argument; else the name itself.
std::string option_named(const CLI::App& command, const std::string& name) {
  std::string option = "--" + name;
  std::ranges::replace(option, '_', '-');
  if (command.get_option_no_throw(option) != nullptr) return option;
  std::string place = name;
  for (char& letter : place) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return command.get_option_no_throw(place) != nullptr ? place : name;
}

// "q, k" as "--q, --k".
std::string options_named(const CLI::App& command, const std::string& names) {
  const std::size_t comma = names.find(", ");
  if (comma == std::string::npos) return option_named(command, names);
  return option_named(command, names.substr(0, comma)) + ", " + options_named(command, names.substr(comma + 2));
}

// A request names its other fields in backquotes.
std::string with_options(const CLI::App& command, const std::string& message) {
  const std::size_t begin = message.find('`');
  const std::size_t end = begin == std::string::npos ? begin : message.find('`', begin + 1);
  if (end == std::string::npos) return message;
  const std::string name = message.substr(begin + 1, end - begin - 1);
  const std::string option = option_named(command, name);
  return message.substr(0, begin) + (option == name ? "`" + name + "`" : option) +
         with_options(command, message.substr(end + 1));
}

// The library names its function's argument: the user is told of the option of that name, or of the word of the mask or
// bias language.
std::string in_options(const CLI::App& command, const InvalidArgument& error) {
  if (dynamic_cast<const MaskSyntaxError*>(&error) != nullptr) {
    const std::string option = error.function() == "parse_bias" ? "--bias" : "--mask";
    const bool is_option = command.get_option_no_throw(option) != nullptr;
    return (is_option ? option + ": " : "") + error.argument() + ": " + error.fault();
  }
  const std::string_view word = word_of(error.function());
  if (!word.empty()) return std::string(word) + ": " + error.argument() + ": " + error.fault();
  return options_named(command, error.argument()) + ": " + with_options(command, error.fault());
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

void parse_and_run(CLI::App& app, int argc, char** argv) {
  // CLI11 would call an unknown command an unexpected argument.
  const CLI::App* command = &app;
  for (int n = 1; n < argc && argv[n][0] != '-' && has_commands(*command); ++n) {
    command = &find_command(*command, argv[n]);
  }
  const std::span<char* const> given(argv, static_cast<std::size_t>(argc));
  std::vector<std::string> words = with_empty_values(*command, given.subspan(argc > 0 ? 1 : 0));
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    app.parse(std::move(words));
    if (argc < 2) print(app.help());
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  }
}

// Of the words that are left over, the first that looks like an option; CLI11 would list them backwards, or ask for
// what is required first.
std::optional<std::string> unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word == "--") return std::nullopt;  // behind it are no options
    if (word.starts_with('-') && !word.starts_with("--") && word.size() > 1) {
      return "there is no option " + word + "; before a name that begins with - put ./ or, before all of them, --";
    }
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
      if (option->nonpositional()) names.push_back(option->get_name());
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto nearest = nearest_word(name, views);
    const std::string hint =
        nearest ? "; did you mean " + std::string(*nearest) + "?" : "; `" + full_name(command) + " --help` lists them";
    return "there is no option " + name + hint;
  }
  return std::nullopt;
}

// Words that the shell parted, where the command takes one text.
std::optional<std::string> unquoted_text(const CLI::App& command) {
  const CLI::Option* text = command.get_option_no_throw("TEXT");
  if (text == nullptr || text->empty() || command.remaining().empty()) return std::nullopt;
  auto words = text->as<std::string>();
  for (const std::string& word : command.remaining()) words += " " + word;
  return "TEXT: put a text of several words in quotes: " + full_name(command) + " \"" + words + "\"";
}

// An option that was given several times, in words; CLI11 counts "required" values.
std::optional<std::string> repeated_option(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const auto given = static_cast<int>(option->count());
    if (option->get_expected_max() != 1 || given < 2) continue;
    return option->get_name() + ": expected it once, got it " + std::to_string(given) + " times";
  }
  return std::nullopt;
}

int report(const CLI::App& app, std::string_view message, int code) {
  complain(full_name(running_of(app)), message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("qkv: exact attention that shows its work");
  try {
    describe(app);
    add_commands(app);
    parse_and_run(app, argc, argv);
    flush_output();
    return kSuccess;
  } catch (const Exit& exit) {
    flush_output();
    return exit.code;
  } catch (const CLI::ArgumentMismatch& error) {
    return report(app, repeated_option(running_of(app)).value_or(error.what()), kMisuse);
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = running_of(app);
    const auto known = unknown_option(command);
    return report(app, known ? *known : unquoted_text(command).value_or(error.what()), kMisuse);
  } catch (const Cancelled&) {
    return report(app, "stopped", kInterrupted);
  } catch (const InvalidArgument& error) {
    return report(app, in_options(running_of(app), error), kMisuse);
  } catch (const std::bad_alloc&) {
    return report(app, "there is not enough memory for this", kFailure);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(app, "cannot read " + error.path1().string() + ": " + error.code().message(), kFailure);
  } catch (const std::exception& error) {
    return report(app, error.what(), kFailure);
  }
}

}  // namespace
}  // namespace qkv::cli

int main(int argc, char** argv) {
  qkv::cli::hold_standard_streams();
  // A reader that closes its end (`qkv … | head`) shall not end the command before its files are written.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  qkv::cli::remove_unfinished_files_on_signals();
  try {
    return qkv::cli::run(argc, argv);
  } catch (const std::exception& error) {  // standard output failed while a command was leaving
    qkv::cli::complain("qkv", error.what());
    return qkv::cli::kFailure;
  }
}
