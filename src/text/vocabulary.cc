#include "qkv/text/vocabulary.h"

#include <utf8.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "qkv/error.h"
#include "text/require_piece.h"

namespace qkv {
namespace {

// Where the token ends that begins at `begin`, which is no space.
std::size_t end_of_token(std::string_view text, std::size_t begin, TextForm form) {
  if (form != TextForm::characters && text[begin] == '<') {
    const std::size_t close = text.find('>', begin);
    return close == std::string_view::npos ? text.size() : close + 1;
  }
  if (form != TextForm::words) {
    auto after = text.begin() + begin;
    utf8::unchecked::next(after);
    return static_cast<std::size_t>(after - text.begin());
  }
  std::size_t end = begin;
  while (end < text.size() && text[end] != ' ') {
    if (text[end++] == '\'') break;
  }
  return end;
}

}  // namespace

std::string_view name_of(TextForm form) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"letters", "words", "characters"};
  return kNames[static_cast<std::size_t>(form)];
}

Vocabulary::Vocabulary(std::vector<std::string> pieces, TextForm form)
    : pieces_(std::move(pieces)), by_text_(pieces_.size()), form_(form) {
  std::iota(by_text_.begin(), by_text_.end(), 0);
  const auto text_of = [this](std::int32_t id) -> const std::string& { return pieces_[static_cast<std::size_t>(id)]; };
  std::ranges::sort(by_text_, {}, text_of);
  const auto twice = std::ranges::adjacent_find(by_text_, {}, text_of);
  if (twice != by_text_.end()) {
    throw InvalidArgument("Vocabulary", "pieces", "each one once", "\"" + text_of(*twice) + "\" twice");
  }
}

const std::string& Vocabulary::piece(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    throw InvalidArgument("Vocabulary::piece", "id", "from 0 to " + std::to_string(size() - 1), std::to_string(id));
  }
  return pieces_[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> Vocabulary::find(std::string_view piece) const noexcept {
  const auto found = std::ranges::lower_bound(
      by_text_, piece, {}, [this](std::int32_t id) { return std::string_view(pieces_[static_cast<std::size_t>(id)]); });
  if (found == by_text_.end() || pieces_[static_cast<std::size_t>(*found)] != piece) return std::nullopt;
  return *found;
}

std::int32_t Vocabulary::id_in_text(std::string_view piece) const {
  const std::optional<std::int32_t> found = find(piece);
  const std::optional<std::int32_t> unknown =
      form_ == TextForm::characters ? find("<unknown>") : std::optional<std::int32_t>();
  return found || !unknown ? text::require_piece(*this, piece, "Vocabulary::encode", "text") : *unknown;
}

Encoding Vocabulary::encode_text(std::string_view text, const EncodeOptions& options) const {
  if (options.pair)
    throw InvalidArgument("Vocabulary::encode", "pair", "none, since this tokenizer reads one text at a time",
                          "a second text");
  if (!utf8::is_valid(text.begin(), text.end())) {
    throw InvalidArgument("Vocabulary::encode", "text", "UTF-8", "bytes that are none");
  }
  const auto next = [&](std::size_t from) {
    if (form_ != TextForm::characters) from = text.find_first_not_of(' ', from);
    return std::min(from, text.size());
  };
  Encoding encoding;
  for (std::size_t begin = next(0); begin < text.size();) {
    const std::size_t end = end_of_token(text, begin, form_);
    encoding.ids.push_back(id_in_text(text.substr(begin, end - begin)));
    encoding.offsets.push_back({begin, end});
    begin = next(end);
  }
  encoding.types.resize(encoding.ids.size());
  encoding.sources.resize(encoding.ids.size());
  return encoding;
}

std::string Vocabulary::decode_ids(std::span<const std::int32_t> ids, SpecialTokens /*special*/) const {
  std::string joined;
  for (const std::int32_t id : ids) {
    const std::string& next = piece(id);
    const bool spaced = form_ == TextForm::words && !joined.empty() && !joined.ends_with('\'');
    if (spaced) joined += ' ';
    joined += next;
  }
  return joined;
}

std::map<std::string, std::string> Vocabulary::config() const {
  std::string joined;
  for (const std::string& piece : pieces_) joined += std::to_string(piece.size()) + ":" + piece;
  return {{"kind", std::string(name_of(form_))}, {"pieces", joined}};
}

}  // namespace qkv
