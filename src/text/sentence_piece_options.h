// What a SentencePiece model's folder says beyond its file: which tokens stand around a text, tokens that were added,
// another numbering of the pieces, and how a text is cleaned first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/added_tokens.h"
#include "text/files_beside.h"
#include "text/sentence_piece_file.h"

namespace qkv::text {

/// Which special tokens stand around a text.
struct SentencePieceEnds {
  bool bos = false;
  bool eos = false;
};

/// How pieces are numbered: as in the file, or with fairseq's special tokens in front and <mask> behind.
enum class PieceOrder : std::uint8_t { of_file, xlm_roberta, camembert };
/// What is done to a text before anything else: SigLIP's tokenizer drops ASCII punctuation and extra blanks, and sets
/// the rest in lower case unless it is told not to.
enum class TextCleaning : std::uint8_t { none, siglip, siglip_cased };

struct SentencePieceOptions {
  SentencePieceEnds ends = {};
  PieceOrder order = PieceOrder::of_file;
  TextCleaning cleaning = TextCleaning::none;
  bool eos_before_pair = false;  // in place of bos
  bool blank_once = false;       // add_dummy_prefix is for the begin of a text, not for what follows an added token
  bool blank_if_none = false;    // … nor for what begins with one
  bool cleans_up = false;        // blanks before English punctuation go from a decoded text
  std::vector<AddedToken> added = {};
};

/// Of the files beside a model: tokenizer_class or model_type (Llama, T5, XLM-RoBERTa, CamemBERT, SigLIP; others do as
/// SentencePiece), add_bos_token, add_eos_token, extra_ids, legacy, do_lower_case, clean_up_tokenization_spaces, and
/// tokens as with_tokens_beside(). Where such files are there, control pieces in a text are read whole.
[[nodiscard]] SentencePieceOptions options_beside(const SentencePieceFile& file, const FilesBeside& files);

/// The pieces in another order. Throws Error naming `source` if the file has no such pieces.
[[nodiscard]] SentencePieceFile with_order(SentencePieceFile file, PieceOrder order, const std::string& source);

/// For config(), and back. Throws Error naming `source` and a word of another type.
[[nodiscard]] std::string text_of(const SentencePieceOptions& options);
[[nodiscard]] SentencePieceOptions options_from(const std::string& text, const std::string& source);

}  // namespace qkv::text
