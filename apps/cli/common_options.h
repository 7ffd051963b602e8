// Fields that several commands have.
#pragma once

#include <optional>
#include <string>

#include "qkv/api/field.h"

namespace qkv::cli {

/// --threads of a command whose request is made from it: Commands::add() heeds it.
struct ThreadsFlag {
  std::optional<int> threads;  // QKV_THREADS or all cores where it is not given
};
[[nodiscard]] Fields<ThreadsFlag> threads_flag(const std::string& group = "");

/// Why --json stands alone.
inline constexpr const char* kOneThing = "standard output holds one of them";

/// --json and --quiet.
[[nodiscard]] FieldInfo json_field(const std::string& meaning = "Print JSON", const std::string& group = "");
[[nodiscard]] FieldInfo quiet_field(const std::string& meaning = "Print nothing", const std::string& group = "");
/// --quiet of a command that prints its result all the same.
[[nodiscard]] FieldInfo no_progress_field();

/// How what is drawn in the terminal looks; nothing is drawn beside --json.
struct TerminalLook {
  std::string color = "auto";
  std::optional<int> width;
};
[[nodiscard]] Fields<TerminalLook> terminal_fields(const std::string& group = "");

}  // namespace qkv::cli
