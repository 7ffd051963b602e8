// What models had before tokenizer.json, as the tokenizer.json that says the same.
#pragma once

#include <string>
#include <string_view>

#include "text/json_field.h"
#include "text/sentence_piece.h"

namespace qkv::text {

/// Of a vocab.txt, a piece a line, and tokenizer_config.json: BERT's pipeline. `source` names the file in errors.
[[nodiscard]] Json json_of_vocab_text(std::string_view vocab, const Json& config, const std::string& source);

/// Of a vocab.json and a merges.txt: GPT-2's pipeline, with RoBERTa's template where there are its special tokens.
[[nodiscard]] Json json_of_vocab_and_merges(const Json& pieces, std::string_view merges, const Json& config,
                                            const std::string& source);

/// Which tokens a tokenizer.model puts around a text: add_bos_token and add_eos_token of tokenizer_config.json, or what
/// follows from its tokenizer_class (Llama: bos; T5: eos), or none.
[[nodiscard]] SentencePieceEnds ends_in(const Json& config, const std::string& source);

}  // namespace qkv::text
