// The pre-tokeniser that a GGUF file names in tokenizer.ggml.pre.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "files/gguf_keys.h"
#include "text/json_field.h"

namespace qkv::text {

inline constexpr std::string_view kPreKey = "tokenizer.ggml.pre";

struct GgufPreTokenizer {
  Json json;        // "pre_tokenizer" of tokenizer.json, as the models were published
  Json normalizer;  // likewise
  bool ignores_merges = false;
  bool begins = false;  // a text, with a token, where the file does not say
};

/// Adds to `cautions` where the file names none. Throws Error naming the key and the names that there are.
[[nodiscard]] GgufPreTokenizer gguf_pre_tokenizer_in(const files::GgufKeys& keys, std::vector<std::string>& cautions);

/// A text in bytes, cut by GPT-2's pattern or not.
[[nodiscard]] Json gguf_bytes_step(bool by_gpt2);

}  // namespace qkv::text
