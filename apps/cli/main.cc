// qkv: reads the command line, hands over to one command, and turns what it throws into a line and an exit code.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "command_line.h"
#include "commands.h"
#include "file_places.h"
#include "help_text.h"
#include "interrupts.h"
#include "lines.h"
#include "output.h"
#include "qkv/api/refusal.h"
#include "qkv/cancel.h"
#include "qkv/error.h"
#include "qkv/info.h"
#include "qkv/threads.h"

namespace qkv::cli {
namespace {

using namespace std::string_literals;

// The models are then looked for elsewhere.
void say_box_that_is_missing(const Command& command) {
  const char* const box = std::getenv("QKV_MODELS");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  const bool takes_model = command.option_of("model") != "model";
  std::error_code none;
  if (box == nullptr || *box == 0 || !takes_model || std::filesystem::is_directory(box, none)) return;
  complain(command.full_name(), "careful: QKV_MODELS: expected a folder of models, got \"" + std::string(box) + "\"");
}

Commands all_commands() {
  Commands commands;
  for (const auto add :
       {add_explain, add_attend, add_check,    add_probe, add_cost,  add_mask,  add_analyze, add_change,
        add_lens,    add_view,   add_generate, add_fill,  add_embed, add_match, add_tokens,  add_fetch,
        add_convert, add_train,  add_task,     add_bench, add_info,  add_help}) {
    add(commands);
  }
  return commands;
}

// "q, k" as "--q, --k".
std::string options_of(const Command& command, const std::string& names) {
  const std::size_t comma = names.find(", ");
  if (comma == std::string::npos) return command.option_of(names);
  return command.option_of(names.substr(0, comma)) + ", " + options_of(command, names.substr(comma + 2));
}

// Where qkv's own words of a message end, in which fields stand in backquotes: what came is said as it was typed, and
// so are paths. A mask's words stand in backquotes, too.
std::size_t end_of_own_words(const std::exception& error, const Refusal& refusal) {
  if (refusal.column > 0) return 0;
  if (const auto* invalid = dynamic_cast<const InvalidArgument*>(&error)) {
    return refusal.message.size() - invalid->got().size();
  }
  const bool is_of_path =
      dynamic_cast<const FileError*>(&error) != nullptr || dynamic_cast<const NotThere*>(&error) != nullptr;
  return is_of_path ? 0 : refusal.message.size();
}

// "--no-causal" for causal, where that is what was typed.
std::string typed_option(const Command& command, const std::string& field, std::span<const std::string> words) {
  const std::string off = option_named("no_" + field);
  return std::ranges::find(words, off) != words.end() ? off : options_of(command, field);
}

// The user is told of options, and of the one at fault as it was typed.
std::string in_options(const Command* command, std::span<const std::string> words, const std::exception& error) {
  if (command == nullptr) return error.what();
  const Refusal refusal = refusal_of(error);
  const std::size_t end = end_of_own_words(error, refusal);
  const std::string own = command->in_options(refusal.message.substr(0, end)) + refusal.message.substr(end);
  if (refusal.field.empty()) return own;
  return typed_option(*command, refusal.field, words) + ": " + own;
}

// What qkv itself was asked for; nothing is an asking for help.
void run_without_command(const Commands& commands, std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (word == "--version") return print("qkv " + std::string(build_info().full) + "\n");
    if (word != "--help" && word != "-h") refuse_unknown_option("qkv", std::array{"--help"s, "--version"s}, word);
  }
  print(help_text(commands));
}

// "variants, positions or bottleneck" of "bench".
std::string names_of(const Commands& commands, const Command& family) {
  std::string names;
  for (const Command* command : commands.of_family(family.help.name)) {
    names += (names.empty() ? "" : ", ") + command->help.name.substr(family.help.name.size() + 1);
  }
  return names;
}

void run_command(const Commands& commands, const Command& command, std::span<const std::string> words) {
  if (command.fields == nullptr && !words.empty() && words.front() != "--help" && words.front() != "-h") {
    refuse_unknown_option(command.full_name(), std::array{"--help"s}, words.front());
  }
  if (command.fields == nullptr && words.empty()) {
    throw Misuse("expected one of " + names_of(commands, command) + ", got none");
  }
  const CommandLine line =
      command.fields == nullptr ? CommandLine{.asks_for_help = true} : read_command_line(command, words);
  if (line.asks_for_help) return print(help_text(commands, command));
  if (command.help.name != "help") {
    static_cast<void>(threads());  // a QKV_THREADS without meaning is an error of every command
    say_box_that_is_missing(command);
  }
  FieldValues values = line.values;
  answered_for(command.infos(), values, [&] {
    check_files(command, values);
    read_input(command.infos(), values);
    command.run(command, values);
  });
}

int report(const Command* command, std::string_view message, int code) {
  complain(command == nullptr ? "qkv" : command->full_name(), message);
  return code;
}

int run(std::span<const std::string> words) {
  const Commands commands = all_commands();
  const Command* command = nullptr;
  try {
    const auto [found, taken] = commands.find(words);
    command = found;
    const auto rest = words.subspan(taken);
    command == nullptr ? run_without_command(commands, rest) : run_command(commands, *command, rest);
    flush_output();
    return kSuccess;
  } catch (const Exit& exit) {
    flush_output();
    return exit.said.empty() ? exit.code : report(command, exit.said, exit.code);
  } catch (const Misuse& error) {
    return report(command, error.what(), kMisuse);
  } catch (const Cancelled&) {
    return report(command, "stopped; nothing was written", kInterrupted);
  } catch (const InvalidArgument& error) {
    return report(command, in_options(command, words, error), kMisuse);
  } catch (const std::bad_alloc&) {
    return report(command, "there is not enough memory for this", kFailure);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(command, "cannot read " + error.path1().string() + ": " + error.code().message(), kFailure);
  } catch (const std::exception& error) {
    return report(command, in_options(command, words, error), kFailure);
  }
}

}  // namespace
}  // namespace qkv::cli

int main(int argc, char** argv) {
  qkv::cli::hold_standard_streams();
  // A reader that closes its end (`qkv … | head`) shall not end the command before its files are written.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  // Nor shall a limit on the size of files: what it cuts is an error that names the file.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  qkv::cli::remove_unfinished_files_on_signals();
  try {
    return qkv::cli::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& error) {  // standard output failed while a command was leaving
    qkv::cli::complain("qkv", error.what());
    return qkv::cli::kFailure;
  }
}
