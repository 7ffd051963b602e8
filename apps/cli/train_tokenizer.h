// qkv train tokenizer: a byte-level BPE out of a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli11_names.h"

namespace qkv::cli {

struct TokenizerTraining {
  std::string data;                  // the text
  std::string out;                   // tokenizer.json where it is empty
  std::optional<std::int64_t> size;  // pieces
  bool json = false;
};

/// Refuses options of `command` that are for models.
void run_tokenizer_training(const TokenizerTraining& training, const CLI::App& command);

}  // namespace qkv::cli
