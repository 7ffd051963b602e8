// Tokenizers of other models: pipelines with regular expressions and Unicode's tables, and sentencepiece. The box's
// small models know their own words and characters.
#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"
#include "text/sentence_piece.h"

namespace qkv {
namespace {

[[noreturn]] void refuse(const std::string& source) {
  throw Error(source + ": the engine in a page has no tokenizers of other models; `qkv view` opens this one");
}

}  // namespace

std::shared_ptr<const Tokenizer> parse_tokenizer_json(std::string_view /*json*/, const std::string& source) {
  refuse(source);
}

std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& path) { refuse(path); }

std::shared_ptr<const Tokenizer> text::sentence_piece_of(const std::map<std::string, std::string>& /*config*/) {
  refuse("the model");
}

}  // namespace qkv
