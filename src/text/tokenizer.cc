#include "qkv/text/tokenizer.h"

#include <array>
#include <charconv>

#include "core/nearest_word.h"
#include "core/shortened.h"
#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/vocabulary.h"
#include "text/characters.h"
#include "text/fitted_tokenizer.h"
#include "text/marian.h"
#include "text/pipeline_tokenizer.h"
#include "text/require_piece.h"
#include "text/saved_words.h"
#include "text/sentence_piece.h"

namespace qkv {
namespace {

using text::kMakeTokenizer;

constexpr std::array<TextForm, 3> kForms = {TextForm::letters, TextForm::words, TextForm::characters};

// "5:<pad>1:a": each piece behind the number of its bytes and a colon.
std::vector<std::string> pieces_in(const std::string& text) {
  std::vector<std::string> pieces;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    std::size_t length = 0;
    const auto [colon, error] = std::from_chars(at, end, length);
    if (error != std::errc() || colon == end || *colon != ':' || static_cast<std::size_t>(end - colon) <= length) {
      throw InvalidArgument(kMakeTokenizer, "pieces", "a length, a colon and as many bytes for each piece",
                            "\"" + text.substr(0, 40) + "\"");
    }
    pieces.emplace_back(colon + 1, length);
    at = colon + 1 + length;
  }
  return pieces;
}

// "<0x0A>"
std::string byte_in_brackets(char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr unsigned kLow = 0xF;
  const auto value = static_cast<unsigned char>(byte);
  return {'<', '0', 'x', kDigits[value >> 4U], kDigits[value & kLow], '>'};
}

}  // namespace

std::int32_t text::require_piece(const Tokenizer& tokenizer, std::string_view piece, std::string_view function,
                                 std::string_view argument) {
  if (const auto found = tokenizer.find(piece)) return *found;
  std::vector<std::string_view> known;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) known.emplace_back(tokenizer.piece(id));
  const auto near = core::nearest_word(piece, known);
  throw InvalidArgument(function, argument,
                        "a piece of the vocabulary" + (near ? ", such as " + core::in_quotes(*near) : ""),
                        "\"" + std::string(piece) + "\"");
}

std::int32_t Tokenizer::id(std::string_view piece) const {
  return text::require_piece(*this, piece, "Tokenizer::id", "piece");
}

std::string shown_token(const Tokenizer& tokenizer, std::int32_t id) {
  const std::string bytes = tokenizer.bytes(id);
  std::string shown;
  for (std::size_t at = 0; at < bytes.size();) {
    const text::ReadCharacter next = text::read_character(bytes, at);
    const std::string_view own = std::string_view(bytes).substr(at, next.length);
    const bool is_broken = next.value == text::kReplacement && own != text::to_utf8(text::kReplacement);
    if (next.value == ' ') {
      shown += "␣";
    } else if (next.value == '\n') {
      shown += "⏎";
    } else if (is_broken || next.value < ' ') {
      for (const char byte : own) shown += byte_in_brackets(byte);
    } else {
      shown += own;
    }
    at += next.length;
  }
  return shown;
}

bool have_same_pieces(const Tokenizer& a, const Tokenizer& b) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  for (std::int32_t id = 0; id < a.size(); ++id) {
    if (a.piece(id) != b.piece(id)) return false;
  }
  return true;
}

std::shared_ptr<const Tokenizer> make_tokenizer(const std::map<std::string, std::string>& config) {
  if (config.contains(text::kRows)) return text::fitted_tokenizer_of(config);
  const std::string& kind = text::saved_word(config, "kind");
  std::string names;
  for (const TextForm form : kForms) {
    if (kind == name_of(form)) return std::make_shared<Vocabulary>(pieces_in(text::saved_word(config, "pieces")), form);
    names += std::string(name_of(form)) + ", ";
  }
  if (kind == text::kPipelineKind) return parse_tokenizer_json(text::saved_word(config, "json"), kMakeTokenizer);
  if (kind == text::kSentencePieceKind) return text::sentence_piece_of(config);
  if (kind == text::kMarianKind) return text::marian_of(config);
  names += std::string(text::kPipelineKind) + ", " + text::kSentencePieceKind + ", " + text::kMarianKind;
  throw InvalidArgument(kMakeTokenizer, "kind", "one of " + names, "\"" + kind + "\"");
}

}  // namespace qkv
