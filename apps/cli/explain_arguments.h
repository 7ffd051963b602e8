// What `qkv explain` was given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common_options.h"
#include "explain_files.h"
#include "qkv/api/explain.h"

namespace qkv::cli {

struct ExplainFlags : ExplainRequest {
  std::string head_name;          // "1.5": layer 1, head 5
  std::vector<std::string> whys;  // empty without --why
  std::string steps;
  std::string all;  // "", "known" or "full"
  bool json = false;
  bool prints = false;
  bool quiet = false;
  TerminalLook look;
  ExplainFiles files;
};

[[nodiscard]] Fields<ExplainFlags> fields_of_explain();

}  // namespace qkv::cli
