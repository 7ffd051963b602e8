// A tokenizer as the metadata of a GGUF file: the counterpart of gguf_tokenizer().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/gguf.h"
#include "qkv/text/tokenizer.h"

namespace qkv::text {

/// tokenizer.ggml.model and what it needs: byte-level BPE ("gpt2"), WordPiece of lower case ("bert"), SentencePiece of
/// BPE ("llama"; also as merges that make each piece in all ways) or of unigrams ("t5"). A token for each of `rows`,
/// those without a piece being unused. Throws Error naming `source` and the part of the tokenizer that GGUF cannot
/// hold. Adds to `cautions` what the file will not say.
[[nodiscard]] GgufMetadata gguf_tokenizer_words(const Tokenizer& tokenizer, std::int64_t rows,
                                                const std::string& source, std::vector<std::string>& cautions);

/// Throws Error naming `source` and the text for one of a page in many scripts, and of the tokenizer's own pieces, that
/// the two cut otherwise. Adds to `cautions` if they do so at the begin of a text and behind special
/// tokens alone.
void require_same_cuts(const Tokenizer& before, const Tokenizer& after, const std::string& source,
                       std::vector<std::string>& cautions);

}  // namespace qkv::text
