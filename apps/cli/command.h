// A command: its fields, from which come its options, its help and its errors, and what it does with their values.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "asked.h"
#include "qkv/threads.h"

namespace qkv::cli {

/// Exit codes of the command.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;        // the request was sound, its execution failed (or: the two files differ)
inline constexpr int kMisuse = 2;         // the request has no meaning
inline constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells have it
inline constexpr int kTerminated = 143;   // 128 + SIGTERM

/// Thrown by a command whose answer is an exit code, behind what it has said.
struct Exit {
  int code = kSuccess;
  std::string said = {};  // a last line on standard error
};

/// What ends the command with kMisuse and its text.
class Misuse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws InvalidArgument naming an option, or a field, which is said as its option.
[[noreturn]] void misuse(const std::string& option, const std::string& expected, const std::string& got);

struct CommandHelp {
  std::string name;                      // "mask", or "bench positions"
  std::string summary = {};              // of what is no question
  std::string group = {};                // under which the list of commands has it
  std::string footer = {};               // examples, and what is to be known
  std::vector<std::string> places = {};  // fields taken by their place, in their order: "text" as TEXT
};

struct Command {
  CommandHelp help;
  std::shared_ptr<const FieldTable> fields;  // nullptr of a family such as "bench", whose commands have them
  std::function<void(const Command&, const FieldValues&)> run;

  [[nodiscard]] std::string full_name() const { return "qkv " + help.name; }
  /// The first sentence of what its question means, without a full stop.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] std::span<const FieldInfo> infos() const;
  [[nodiscard]] bool is_place(const FieldInfo& field) const;
  /// "--key-totals" for key_totals, or TEXT for one that is taken by its place; the name itself of
  /// what is no field.
  [[nodiscard]] std::string option_of(std::string_view field) const;
  /// A message that names fields in backquotes, with options. What stands in quotes was typed, and stays.
  [[nodiscard]] std::string in_options(const std::string& message) const;
};

/// Of several values; its option may be given again.
[[nodiscard]] bool is_list(const FieldInfo& field);

/// "--key-totals" for "key_totals".
[[nodiscard]] std::string option_named(std::string_view field);

class Commands {
 public:
  template <class Request>
  void add(CommandHelp help, Fields<Asked<Request>> fields,
           std::type_identity_t<std::function<void(Asked<Request>&, const Given&)>> run) {
    const auto table = std::make_shared<const Fields<Asked<Request>>>(std::move(fields));
    const auto answer = [table, run](const Command& command, const FieldValues& values) {
      Asked<Request> asked = table->from_values(values);
      asked.how.command = &command;
      if (asked.how.threads) set_threads(*asked.how.threads);
      run(asked, Given(table->infos(), values));
    };
    all_.push_back({.help = std::move(help), .fields = table, .run = answer});
  }

  /// What only has commands.
  void add_family(CommandHelp help) { all_.push_back({.help = std::move(help), .fields = nullptr, .run = nullptr}); }

  [[nodiscard]] std::span<const Command> all() const noexcept { return all_; }
  /// The command that the first words name, and how many they are. Throws Misuse for a name that none has, with the
  /// nearest; none for no word.
  [[nodiscard]] std::pair<const Command*, std::size_t> find(std::span<const std::string> words) const;
  /// The command that all of the words name, likewise.
  [[nodiscard]] const Command* find_whole(std::span<const std::string> words) const;
  /// Those of a family, or of qkv itself.
  [[nodiscard]] std::vector<const Command*> of_family(std::string_view family) const;

 private:
  [[nodiscard]] const Command& named(std::string_view family, const std::string& word) const;

  std::vector<Command> all_;
};

}  // namespace qkv::cli
