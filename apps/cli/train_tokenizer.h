// qkv train tokenizer: a byte-level BPE out of a text.
#pragma once

#include "qkv/api/train.h"

namespace qkv::cli {

void run_tokenizer_training(TokenizerRun run, bool as_json);

}  // namespace qkv::cli
