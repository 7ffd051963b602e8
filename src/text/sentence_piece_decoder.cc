#include "text/sentence_piece_decoder.h"

#include <algorithm>
#include <string_view>

#include "text/characters.h"

namespace qkv::text {
namespace {

void append_bytes(std::string& text, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ReadCharacter read = read_or_one_byte(bytes, at);
    append_character(text, read.value);
    at += read.length;
  }
}

}  // namespace

void append_with_spaces(std::string& text, std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = std::min(piece.find(kBlankMark), piece.size());
    text += piece.substr(0, end);
    if (end < piece.size()) text += ' ';
    piece.remove_prefix(std::min(end + kBlankMark.size(), piece.size()));
  }
}

SentencePieceDecoder::SentencePieceDecoder(const SentencePieceFile& file, const std::string& source) : file_(file) {
  if (file.denormalizer.charsmap.empty()) return;
  denormalizer_.emplace(file.denormalizer, SentencePieceNormalizer::Space::prefix, PieceTree(),
                        source + ": denormalizer_spec");
}

std::string SentencePieceDecoder::text_of(std::span<const std::int32_t> ids, bool begins) const {
  std::string text;
  std::string bytes;
  bool is_first = begins;  // no space was dropped, and nothing shown
  const auto flush = [&] {
    append_bytes(text, bytes);
    bytes.clear();
    is_first = is_first && text.empty();
  };
  for (const std::int32_t id : ids) {
    const SentencePieceType type = file_.pieces[static_cast<std::size_t>(id)].type;
    if (type == SentencePieceType::byte) {
      bytes += static_cast<char>(std::ranges::find(file_.bytes, id) - file_.bytes.begin());
      continue;
    }
    flush();  // bytes on the two sides of a control piece make no character
    if (type != SentencePieceType::control && show(id, is_first, text)) is_first = false;
  }
  flush();
  return denormalizer_ ? denormalizer_->apply(text).text : text;
}

// Appends the text of a piece. Returns whether what follows is no longer the first.
bool SentencePieceDecoder::show(std::int32_t id, bool is_first, std::string& text) const {
  const SentencePieceRules& rules = file_.normalizer;
  const bool drops = is_first && (rules.add_dummy_prefix || rules.remove_extra_whitespaces);
  std::string_view shown = file_.pieces[static_cast<std::size_t>(id)].text;
  const bool dropped = drops && shown.starts_with(kBlankMark);
  if (dropped) shown.remove_prefix(kBlankMark.size());
  if (id == file_.unknown) {
    text += file_.unknown_surface;
  } else {
    append_with_spaces(text, shown);
  }
  // Where extra spaces are removed, those that follow at the begin go, too.
  return !text.empty() || (dropped && !rules.remove_extra_whitespaces);
}

}  // namespace qkv::text
