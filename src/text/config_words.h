// What tokenizer_config.json says of a tokenizer.json beside it.
#pragma once

#include "text/files_beside.h"
#include "text/json_field.h"

namespace qkv::text {

/// Changes the content of a tokenizer.json as the files beside it say, where `transformers` follows them: tokens that
/// are added; do_lower_case, strip_accents and tokenize_chinese_chars of BERT's tokenizers; add_prefix_space of
/// byte-level ones; cls_token and sep_token of BERT's and RoBERTa's; the stages of a LlamaTokenizer, which are built
/// anew; clean_up_tokenization_spaces unless the model is BPE; a blank for CLIP's ends of words. Names the words that
/// it does not follow. Returns whether it changed something. A content that is no tokenizer is left alone.
[[nodiscard]] bool follow_files_beside(Json& json, const FilesBeside& files);

/// CLIP's pieces name ends of words, for which its tokenizer has blanks. Returns whether there are such pieces.
bool show_ends_of_words_as_blanks(Json& json);

}  // namespace qkv::text
