#include "text/sentence_piece_normalizer.h"

#include <array>
#include <numeric>

#include "text/aligned_text.h"
#include "text/characters.h"

namespace qkv::text {
namespace {

constexpr std::string_view kReplacementText = "\uFFFD";

bool is_ascii_byte(char byte) noexcept { return static_cast<unsigned char>(byte) < 0x80; }

}  // namespace

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceRules& rules, Space space, PieceTree user_defined,
                                                 const std::string& place)
    : rules_(rules), space_(space), user_defined_(std::move(user_defined)), map_(rules.charsmap, place) {
  rules_.charsmap.clear();  // is in map_
  for (std::size_t byte = 0; byte < plain_.size(); ++byte) plain_[byte] = is_plain(static_cast<unsigned char>(byte));
}

bool SentencePieceNormalizer::is_plain(unsigned char byte) const noexcept {
  const std::array<char, 1> one = {static_cast<char>(byte)};
  const std::string_view key(one.data(), one.size());
  if (byte == ' ' || user_defined_.begins(one[0]) || map_.longest(key)) return false;
  for (std::size_t next = 0; next < plain_.size(); ++next) {
    const std::array<char, 2> two = {one[0], static_cast<char>(next)};
    if (map_.knows({two.data(), two.size()})) return false;
  }
  return true;
}

std::size_t SentencePieceNormalizer::end_of_plain(std::string_view text, std::size_t at) const noexcept {
  while (at < text.size() && is_ascii_byte(text[at]) && plain_[static_cast<unsigned char>(text[at])]) {
    if (at + 1 < text.size() && !is_ascii_byte(text[at + 1])) break;
    ++at;
  }
  return at;
}

SentencePieceNormalizer::Chunk SentencePieceNormalizer::chunk_at(std::string_view text, std::size_t at) const noexcept {
  if (const auto kept = user_defined_.longest_at(text, at)) {
    return {.shown = text.substr(at, kept->end - at), .length = kept->end - at};
  }
  if (const auto match = map_.longest(text.substr(at))) return {.shown = match->replacement, .length = match->length};
  const ReadCharacter read = read_or_one_byte(text, at);
  // A table may have replaced the begin of a character, and left the rest.
  if (read.value == kReplacement) return {.shown = kReplacementText, .length = read.length};
  return {.shown = text.substr(at, read.length), .length = read.length};
}

void SentencePieceNormalizer::add_plain(SentencePieceText& made, std::string_view shown, std::size_t from) const {
  const std::size_t before = made.text.size();
  made.text += shown;
  made.origins.resize(made.text.size());
  std::iota(made.origins.begin() + static_cast<std::ptrdiff_t>(before), made.origins.end(),
            static_cast<std::uint32_t>(from));
}

void SentencePieceNormalizer::add_space(SentencePieceText& made, std::size_t from) const {
  made.text += rules_.escape_whitespaces ? kBlankMark : " ";
  made.origins.resize(made.text.size(), static_cast<std::uint32_t>(from));
}

void SentencePieceNormalizer::add_rest(SentencePieceText& made, std::string_view text, std::size_t at) const {
  bool after_space = rules_.remove_extra_whitespaces;
  while (at < text.size()) {
    const std::size_t end = end_of_plain(text, at);
    if (end > at) {
      add_plain(made, text.substr(at, end - at), at);
      after_space = false;
      at = end;
      continue;
    }
    const Chunk chunk = chunk_at(text, at);
    std::string_view shown = chunk.shown;
    while (after_space && shown.starts_with(' ')) shown.remove_prefix(1);
    for (const char byte : shown) {
      if (byte == ' ') {
        add_space(made, at);
      } else {
        made.text += byte;
        made.origins.push_back(static_cast<std::uint32_t>(at));
      }
    }
    if (!shown.empty()) after_space = rules_.remove_extra_whitespaces && shown.ends_with(' ');
    at += chunk.length;
  }
}

std::size_t SentencePieceNormalizer::drop_last_spaces(SentencePieceText& made, std::size_t end) const {
  const std::string_view space = rules_.escape_whitespaces ? kBlankMark : " ";
  while (made.text.ends_with(space)) {
    made.text.resize(made.text.size() - space.size());
    end = made.origins[made.text.size()];
    made.origins.resize(made.text.size());
  }
  return end;
}

SentencePieceText SentencePieceNormalizer::apply(std::string_view text) const {
  SentencePieceText made;
  std::size_t begin = 0;
  while (rules_.remove_extra_whitespaces && begin < text.size()) {
    const Chunk chunk = chunk_at(text, begin);
    if (chunk.shown != " ") break;
    begin += chunk.length;
  }
  if (begin == text.size()) return made;
  made.text.reserve(text.size() + text.size() / 2);
  made.origins.reserve(text.size() + text.size() / 2);
  if (rules_.add_dummy_prefix && space_ == Space::prefix) add_space(made, begin);
  add_rest(made, text, begin);
  std::size_t end = text.size();
  if (rules_.remove_extra_whitespaces) end = drop_last_spaces(made, end);
  if (rules_.add_dummy_prefix && space_ == Space::suffix) add_space(made, end);
  made.origins.push_back(static_cast<std::uint32_t>(end));
  require_short(made.text);
  return made;
}

}  // namespace qkv::text
