// Tokenizers of other models: folders, sentencepiece, normal forms of Unicode. The box's models know their own words
// and characters, or carry a byte-level BPE.
#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"
#include "text/normalizer.h"
#include "text/sentence_piece.h"

namespace qkv {
namespace {

[[noreturn]] void refuse(const std::string& source) {
  throw FileError(source, "the engine in a page has no such tokenizers; `qkv view` opens this one");
}

}  // namespace

bool has_tokenizer(const std::string& /*folder*/) { return false; }

std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& path, std::vector<std::string>* /*cautions*/) {
  refuse(path);
}

std::shared_ptr<const Tokenizer> text::sentence_piece_of(const std::map<std::string, std::string>& /*config*/) {
  refuse("the model");
}

std::shared_ptr<const Tokenizer> text::read_sentence_piece(std::string /*model*/,
                                                           const SentencePieceOptions& /*options*/,
                                                           const std::string& source) {
  refuse(source);
}

text::NormalizerPtr text::unicode_normalizer(UnicodeForm /*form*/) { refuse("normalizer"); }
void text::normalize(AlignedText& /*text*/, UnicodeForm /*form*/) { refuse("normalizer"); }
text::NormalizerPtr text::read_precompiled(const JsonField& field) { refuse(field.place()); }

}  // namespace qkv
