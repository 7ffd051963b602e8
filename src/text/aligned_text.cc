#include "text/aligned_text.h"

#include <algorithm>

#include "qkv/error.h"
#include "text/growth.h"

namespace qkv::text {

void require_short(std::string_view text) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 32U;
  if (std::uint64_t{text.size()} < kLongest) return;
  throw InvalidArgument("Tokenizer::encode", "text", "less than 4 GiB", std::to_string(text.size()) + " bytes");
}

AlignedText::AlignedText(std::string_view original, std::size_t begin, std::size_t end) {
  reserve(end - begin);
  const std::string_view part = original.substr(0, end);
  for (std::size_t at = begin; at < end;) {
    const ReadCharacter read = read_character(part, at);
    const OriginalRange origin{.begin = static_cast<std::uint32_t>(at),
                               .end = static_cast<std::uint32_t>(at + read.length)};
    append(read.value, origin);
    at += read.length;
  }
}

bool AlignedText::is_ascii() const noexcept {
  constexpr unsigned char kAsciiEnd = 0x80;
  return std::ranges::all_of(text_, [](char byte) { return static_cast<unsigned char>(byte) < kAsciiEnd; });
}

void AlignedText::append(std::string_view bytes, OriginalRange origin) {
  if (text_.capacity() - text_.size() < bytes.size()) require_growth(text_.size() + bytes.size());
  text_ += bytes;
  origins_.resize(text_.size(), origin);
}

void AlignedText::append_long(char32_t character, OriginalRange origin) {
  append_character(text_, character);
  origins_.resize(text_.size(), origin);
}

void AlignedText::append(const AlignedText& other, std::size_t begin, std::size_t end) {
  text_.append(other.text_, begin, end - begin);
  origins_.insert(origins_.end(), other.origins_.begin() + static_cast<std::ptrdiff_t>(begin),
                  other.origins_.begin() + static_cast<std::ptrdiff_t>(end));
}

void AlignedText::reserve(std::size_t bytes) {
  text_.reserve(bytes);
  origins_.reserve(bytes);
}

void AlignedText::clear() noexcept {
  text_.clear();
  origins_.clear();
}

void AlignedText::rewrite(std::span<const Rewritten> characters, std::size_t removed) {
  AlignedText changed;
  changed.reserve(text_.size());
  std::size_t at = 0;  // behind what is replaced or removed so far
  const auto skip = [&](std::size_t count) {
    for (; count > 0 && at < text_.size(); --count) at += character_length(text_[at]);
  };
  skip(removed);
  for (const Rewritten& next : characters) {
    const bool replaces = next.change <= 0 && at < text_.size();
    const OriginalRange origin = replaces ? origins_[at] : at > 0 ? origins_[at - 1] : OriginalRange{};
    changed.append(next.character, origin);
    if (replaces) skip(1 + static_cast<std::size_t>(-next.change));
  }
  *this = std::move(changed);
}

void AlignedText::prepend(std::string_view front) {
  if (text_.empty()) return;
  require_growth(text_.size() + front.size());
  text_.insert(0, front);
  origins_.insert(origins_.begin(), front.size(), origins_.front());
}

void AlignedText::lower_ascii() noexcept {
  for (char& byte : text_) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + ('a' - 'A'));
  }
}

}  // namespace qkv::text
