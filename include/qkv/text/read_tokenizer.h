// Tokenizers of real models: tokenizer.json, vocab.txt, vocab.json with merges.txt, SentencePiece models.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/text/tokenizer.h"

namespace qkv {

/// The tokenizer of a folder, or of one of these files; of a folder, the first of them that is there:
///   tokenizer.json            as the `tokenizers` library writes it: normaliser, added tokens, pre-tokeniser,
///                             model (WordPiece, BPE, Unigram, WordLevel), post-processor, decoder
///   vocab.txt                 WordPiece as BERT has it
///   source.spm, vocab.json    pieces of one language, numbered for two: Marian; target.spm by its own name
///   vocab.json, merges.txt    byte-level BPE as GPT-2, RoBERTa, Qwen2 or CLIP have it
///   tokenizer.model           SentencePiece of any kind
///   spiece.model              likewise: T5, SigLIP
///   sentencepiece.bpe.model   likewise, numbered as XLM-RoBERTa or CamemBERT have it
/// or that in the metadata of a .gguf file, with as many pieces as its table of tokens has rows.
/// Beside them count tokenizer_config.json, special_tokens_map.json and added_tokens.json, and of config.json the
/// model_type: tokens that are added to the file's, and words as docs/tokenizers.md lists them. What is read otherwise
/// than they say is told to `cautions`, a sentence each, if it is given.
/// Bytes that are no UTF-8 are read as U+FFFD, one for each maximal part of a sequence, and offsets are those of the
/// bytes as they came. A text has less than 4 GiB. Padding and truncation of tokenizer.json are read and left to
/// whoever makes batches. Throws Error naming the file, the place in it, what was expected and what came: for a stage
/// or an option that is not known, too.
[[nodiscard]] std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& path,
                                                              std::vector<std::string>* cautions = nullptr);

/// True if the folder has one of these files.
[[nodiscard]] bool has_tokenizer(const std::string& folder);

/// The tokenizer of the content of a tokenizer.json. `source` names it in errors.
[[nodiscard]] std::shared_ptr<const Tokenizer> parse_tokenizer_json(std::string_view json, const std::string& source);

}  // namespace qkv
