// qkv train tokenizer: a byte-level BPE out of a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command.h"

namespace qkv::cli {

struct TokenizerTraining {
  std::string data;                  // the text
  std::string out;                   // tokenizer.json where it is empty
  std::optional<std::int64_t> size;  // pieces
  bool json = false;
};

/// Refuses what is given and for models alone.
void run_tokenizer_training(const TokenizerTraining& training, const Given& given);

}  // namespace qkv::cli
