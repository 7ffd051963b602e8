// Fields that several commands have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qkv/api/field.h"

namespace qkv::cli {

/// --threads, 1 to 65536; QKV_THREADS or all cores where it is not given.
[[nodiscard]] FieldInfo threads_field(const std::string& group = "");

/// --json and --quiet.
[[nodiscard]] FieldInfo json_field(const std::string& meaning = "Print JSON", const std::string& group = "");
[[nodiscard]] FieldInfo quiet_field(const std::string& meaning = "Print nothing", const std::string& group = "");

/// How what is drawn in the terminal looks.
struct TerminalLook {
  std::string color = "auto";
  std::optional<int> width;
};
[[nodiscard]] Fields<TerminalLook> terminal_fields(const std::string& group = "");

}  // namespace qkv::cli
